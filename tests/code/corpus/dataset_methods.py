import tensorflow as tf
import numpy as np


class Pipeline:
    def __init__(self, n, batch):
        self.batch = batch
        self._ds = tf.data.Dataset.range(n)

    def __iter__(self):
        return iter(self.dataset)

    @property
    def dataset(self):
        return self._apply(self._ds).batch(self.batch)

    def _apply(self, ds):
        for step in (self._scale, self._shift):
            ds = ds.map(step)
        return ds

    @staticmethod
    def _scale(x):
        return tf.cast(x, tf.float32) * 2.0

    def _shift(self, x):
        return tf.add(x, 1.0)


for batch in Pipeline(4, 2):
    print(batch)
pipe = Pipeline(4, 2)
for i, b in enumerate(pipe.dataset):
    print(i, b.numpy())
ds = tf.data.Dataset.from_tensor_slices({"x": np.arange(4.0), "y": np.arange(4)})
for item in ds:
    print(item["x"].numpy(), item["y"].numpy())
for features in ds.map(lambda d: (d["x"], tf.cast(d["y"], tf.float64))).batch(2):
    first, second = features
    print(tf.reduce_sum(first).numpy(), second.numpy())
train, test = ds.take(3), ds.skip(3)
splits = {"train": train, "test": test}
for name, split in splits.items():
    print(name, sum(1 for _ in split), split.cardinality().numpy(), len(split))
merged = train.concatenate(test)
merged = merged.apply(lambda d: d.shuffle(4))
chosen = tf.data.Dataset.sample_from_datasets([train, test], [0.5, 0.5])
print(next(iter(chosen))["x"].numpy(), merged.element_spec["x"])


def balanced(*datasets):
    return tf.data.Dataset.zip(tuple(d.repeat() for d in datasets)).take(2)


for left, right in balanced(train, test):
    print(left["x"].numpy(), right["y"].numpy())
np_iter = merged.as_numpy_iterator()
print(next(np_iter)["x"].sum())
keys = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(tf.strings.upper).map(lambda s: tf.strings.join([s, "!"]))
print([k.numpy().decode() for k in keys], [k.decode() for k in keys.as_numpy_iterator()])
first_batch = next(iter(ds.batch(2)))
images, labels = first_batch["x"], first_batch["y"]
print(images.numpy(), labels.numpy())
bucketed = tf.data.Dataset.from_generator(lambda: ([1] * n for n in (1, 2, 3)), output_signature=tf.TensorSpec([None], tf.int32))
print([b.numpy().shape for b in bucketed.padded_batch(3)], bucketed.ragged_batch(3).get_single_element().to_list())
lookup = {int(k): v.numpy() for k, v in tf.data.Dataset.range(2).enumerate()}
print(lookup, *(t.numpy() for t in tf.data.Dataset.range(2)), sep=" ")
