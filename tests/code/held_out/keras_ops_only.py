import keras
from keras import KerasTensor, Model, Sequential, layers, losses, metrics, ops, optimizers, random
from keras.layers import Dense as D
from keras.src.layers import Layer as InternalLayer


class Antirectifier(layers.Layer):
    def __init__(self, initializer="he_normal", **kwargs):
        super().__init__(**kwargs)
        self.initializer = keras.initializers.get(initializer)

    def build(self, input_shape):
        output_dim = input_shape[-1]
        self.kernel = self.add_weight(shape=(output_dim * 2, output_dim), initializer=self.initializer, name="kernel")

    def call(self, inputs):
        inputs -= ops.mean(inputs, axis=-1, keepdims=True)
        pos = ops.relu(inputs)
        neg = ops.relu(-inputs)
        concatenated = ops.concatenate([pos, neg], axis=-1)
        return ops.matmul(concatenated, self.kernel)


class Passthrough(InternalLayer):
    def call(self, x):
        return x


seed_gen = random.SeedGenerator(42)
x = random.uniform((8, 6), seed=seed_gen)
model = Sequential([Antirectifier(), Passthrough(), D(1)])
model.compile(optimizer=optimizers.Lion(1e-3), loss=losses.LogCosh(), metrics=[metrics.R2Score()])
model.fit(x, ops.sum(x, axis=1, keepdims=True), epochs=1, verbose=0)
logits = model(x)
top = ops.top_k(ops.squeeze(logits, axis=-1), 2)
print(ops.shape(logits), top[0], keras.ops.convert_to_numpy(top[1]).tolist())
sym: KerasTensor = keras.Input((6,))
wrapped = Model(sym, ops.softmax(D(3)(sym)))
print(wrapped.predict(x, verbose=0).sum(), ops.vectorized_map(lambda v: v * 2, x).shape)
v = keras.Variable(ops.zeros((2,)))
v.assign(ops.ones((2,)))
v.assign_add([1.0, 1.0])
print(v.numpy(), ops.cond(ops.any(v > 1), lambda: ops.max(v), lambda: ops.min(v)))
print(ops.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,)))
