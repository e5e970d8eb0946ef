from functools import partial, reduce

import tensorflow as tf

Conv3 = partial(tf.keras.layers.Conv2D, kernel_size=3, padding="same", activation="relu")
scaled = partial(tf.multiply, 2.0)
square = lambda t: tf.square(t)
compose = lambda *fs: reduce(lambda f, g: lambda x: g(f(x)), fs)
normalise = lambda x, eps=1e-6: (x - tf.reduce_mean(x)) / (tf.math.reduce_std(x) + eps)

x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(scaled(x).numpy(), square(x).numpy())
pipeline = compose(square, normalise, tf.nn.relu)
print(pipeline(x))
image = tf.zeros((1, 4, 4, 1))
h = Conv3(2)(image)
h = Conv3(4, strides=2)(h)
print(h.shape)
ones = tf.ones
fn = ones
print(fn((2, 2)) + fn([2, 2]))
print(list(map(lambda t: t.numpy().sum(), tf.unstack(x))))
print(sorted([x, x * 2], key=lambda t: tf.reduce_max(t).numpy())[0].shape)
apply_twice = lambda f, v: f(f(v))
print(apply_twice(tf.sqrt, x))
ops = {"sum": tf.reduce_sum, "mean": tf.reduce_mean, "max": lambda t: tf.reduce_max(t, axis=0)}
print(ops["sum"](x).numpy(), ops["max"](x))
for name, op in ops.items():
    print(name, op(x))
(lambda t: tf.print(t))(x)
dense = partial(tf.keras.layers.Dense, activation="relu")
net = tf.keras.Sequential([dense(4), dense(units=2)])
print(net(x).shape)
