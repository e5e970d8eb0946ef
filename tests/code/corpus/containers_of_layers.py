import collections

import tensorflow as tf
from tensorflow.keras import layers


class MultiScale(tf.keras.Model):
    def __init__(self, scales=(1, 3)):
        super().__init__()
        self.convs = []
        for scale in scales:
            self.convs.append(layers.Conv2D(2, scale, padding="same"))
        self.heads = {"a": layers.Dense(1), "b": layers.Dense(2)}
        self.norms = [layers.BatchNormalization() for _ in scales]
        self.pool = layers.GlobalMaxPool2D()

    def call(self, x):
        outputs = []
        for conv, norm in zip(self.convs, self.norms):
            outputs.append(norm(conv(x)))
        for i, conv in enumerate(self.convs):
            x = x + 0.0 * tf.reduce_mean(self.convs[i](x))
        merged = tf.concat(outputs, axis=-1)
        pooled = self.pool(merged)
        return {key: head(pooled) for key, head in self.heads.items()}


model = MultiScale()
result = model(tf.ones((1, 4, 4, 2)))
print(result["a"].numpy(), sorted(result))
stack = [layers.Dense(4), layers.Dense(2)]
x = tf.ones((1, 3))
for layer in stack:
    x = layer(x)
first, *rest = stack
print(first(tf.ones((1, 3))).shape, len(rest), rest[0].get_weights()[0].shape)
registry = collections.OrderedDict(conv=layers.Conv1D(1, 1), dense=layers.Dense(1))
print(registry["dense"](x).shape)
models = {"linear": tf.keras.Sequential([layers.Dense(1)]), "deep": tf.keras.Sequential(stack)}
for name, m in models.items():
    m.compile("sgd", "mse")
    print(name, m.predict(tf.ones((2, 3)), verbose=0).shape)
pair = (layers.Flatten(), layers.Reshape((3, 1)))
flat, reshape = pair
print(flat(reshape(tf.ones((1, 3)))).numpy())
variables = [tf.Variable(float(i)) for i in range(3)]
for v in variables:
    v.assign_add(1.0)
print(sum(v.numpy() for v in variables), variables[0].read_value())
