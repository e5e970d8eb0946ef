import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
features = np.arange(40, dtype=np.float32).reshape(20, 2)
labels = (features.sum(1) > 30).astype(np.int64)


def augment(x, y):
    x = tf.image.random_flip_left_right(tf.reshape(x, (1, 2, 1)))
    return tf.squeeze(x), tf.one_hot(y, 2)


def preprocess(ds, training=True):
    if training:
        ds = ds.shuffle(buffer_size=20, seed=1).map(augment, num_parallel_calls=AUTOTUNE)
    else:
        ds = ds.map(lambda x, y: (x, tf.one_hot(y, 2)))
    return ds.batch(4, drop_remainder=True).prefetch(AUTOTUNE)


raw = tf.data.Dataset.from_tensor_slices((features, labels))
train = preprocess(raw.take(16))
val = preprocess(raw.skip(16), training=False)
for x, y in train:
    print(x.shape, y.numpy())
for step, (x_batch, y_batch) in enumerate(val.take(1)):
    print(step, tf.reduce_mean(x_batch).numpy(), y_batch.get_shape().as_list())
evens = tf.data.Dataset.range(10).filter(lambda n: tf.equal(n % 2, 0))
print(list(evens.as_numpy_iterator()), [int(n.numpy()) for n in evens])
pairs = tf.data.Dataset.zip((evens, evens.map(tf.square))).repeat(2).enumerate()
print(pairs.element_spec, pairs.cardinality().numpy())
nested = tf.data.Dataset.from_tensors([1, 2, 3]).interleave(
    lambda v: tf.data.Dataset.from_tensor_slices(v).map(lambda e: e * 2), cycle_length=2
)
total = nested.reduce(np.int32(0), lambda acc, v: acc + v)
print(total.numpy(), nested.unbatch if hasattr(nested, "unknown") else "")
windows = tf.data.Dataset.range(6).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
print(next(iter(windows)).numpy())
cached = windows.cache().concatenate(windows).padded_batch(2, padded_shapes=[None])
iterator = iter(cached)
print(next(iterator), iterator.get_next())
options = tf.data.Options()
options.deterministic = True
print(raw.with_options(options).options().deterministic)
