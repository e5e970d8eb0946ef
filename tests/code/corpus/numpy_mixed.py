"""Arrays, lists and look-alikes between tensors: none of their methods is an API call."""
import numpy as np
import tensorflow as tf


class StandardScaler:
    def fit(self, x):
        self.mean_, self.std_ = x.mean(axis=0), x.std(axis=0)
        return self

    def transform(self, x):
        return (x - self.mean_) / self.std_

    def fit_transform(self, x):
        return self.fit(x).transform(x)

    def predict(self, x):
        return x


rng = np.random.default_rng(1)
data = rng.normal(size=(20, 3))
scaler = StandardScaler()
scaled = scaler.fit_transform(data)
scaler.predict(scaled)
model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
out = model.predict(scaled, verbose=0)
print(out.reshape(-1).mean(), out.sum(axis=0), out.astype("int32").tolist()[:1])
tensor = tf.convert_to_tensor(scaled, dtype=tf.float32)
array = tensor.numpy()
print(array.argmax(), array.T.dot(array).shape, np.add(array, 1).max())
mixed = np.stack([tf.ones(2), tf.zeros(2)])
print(mixed.sum(), np.asarray(tensor).mean(), float(tf.reduce_mean(tensor)))
names = "a,b".split(",")
counts = dict.fromkeys(names, 0)
counts.update(c=1)
print(counts.get("a"), names.index("b"), "x".join(names).upper())
history = model.weights
print(len(history), [w.numpy().shape for w in history], history[0].shape)
rows = [row.numpy() for row in tensor[:2]]
rows.extend([array[0]])
rows.sort(key=lambda r: r.sum())
print(np.concatenate(rows).shape, tensor.shape.as_list(), tensor.dtype.name, tensor.shape[0])
shape = tf.shape(tensor)
print(shape[0].numpy(), tuple(shape.numpy()), tf.constant(rows).numpy().copy().fill(0))
