import tensorflow as tf

a, b = tf.ones(2), tf.zeros(2)
(c, d), e = (tf.fill([2], 3.0), tf.range(2)), tf.eye(2)
first, *middle, last = tf.constant(1.0), tf.constant(2.0), tf.constant(3.0)
total: tf.Tensor = tf.add(a, b)
x = y = tf.linspace(0.0, 1.0, 3)
if (norm := tf.norm(x)) > 0:
    print(norm.numpy())
while (count := tf.size(x)).numpy() < 3:
    break
print([s.numpy() for t in (a, b) if (s := tf.reduce_sum(t)) >= 0])
print(a.numpy(), c.numpy(), d.numpy(), e.numpy(), middle[0].numpy(), last.numpy(), total.numpy(), y.numpy())
layer: tf.keras.layers.Layer = tf.keras.layers.Dense(2)
print(layer(tf.ones((1, 2))))
values, indices = tf.math.top_k(tf.constant([3.0, 1.0, 2.0]), k=2)
print(values.numpy(), indices.numpy())
left, right = tf.split(tf.constant([[1.0, 2.0]]), 2, axis=1)
print(left.numpy(), right.numpy())
s, u, v = tf.linalg.svd(tf.eye(2))
print(s.numpy(), u.shape, v.numpy())
mean, variance = tf.nn.moments(x, axes=[0])
print(mean.numpy(), variance.numpy())
for i, (row, value) in enumerate(zip(tf.eye(2), [tf.ones(1), tf.zeros(1)])):
    print(i, row.numpy(), value.numpy())
data = {"k": tf.constant(5)}
data["n"] = tf.constant(6)
print(data["k"].numpy(), data["n"].numpy())
(matrix := tf.Variable([[1.0]])).assign([[2.0]])
print(matrix.numpy())
x += tf.ones(3)
print(x.numpy())
del a
