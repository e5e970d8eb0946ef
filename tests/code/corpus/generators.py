import numpy as np
import tensorflow as tf
from tensorflow import keras


def count(stop):
    i = 0
    while i < stop:
        yield i, [1.0] * 3
        i += 1


class Batches(keras.utils.PyDataset):
    def __init__(self, x, y, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y = x, y

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.x[i * 2 : i * 2 + 2], self.y[i * 2 : i * 2 + 2]

    def on_epoch_end(self):
        pass


def endless(batch):
    while True:
        yield tf.random.normal((batch, 3)), tf.zeros((batch, 1))


def tensors(n):
    for i in range(n):
        yield tf.fill([2], i)


ds = tf.data.Dataset.from_generator(
    count, args=[3], output_signature=(tf.TensorSpec((), tf.int32), tf.TensorSpec((3,), tf.float32))
)
for number, ones in ds:
    print(number.numpy(), ones.shape)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(Batches(np.ones((4, 3)), np.ones((4, 1))), epochs=1, verbose=0)
model.fit(endless(2), steps_per_epoch=2, epochs=1, verbose=0)
print([t.numpy() for t in tensors(2)], sum(t.numpy().sum() for t in tensors(2)))
counter = tf.data.experimental.Counter()
print([c.numpy() for c in counter.take(2)])
x, y = next(endless(1))
print(x.numpy().shape, model.evaluate(x, y, verbose=0))
stream = iter(tensors(1))
print(next(stream).numpy())
