"""Calls of TensorFlow without Keras: k-means and a whitening, eager."""
import tensorflow as tf

points = tf.random.normal((20000, 32))
centres = tf.gather(points, tf.range(16))
for step in range(10):
    distances = tf.reduce_sum(tf.square(points[:, None, :] - centres[None, :, :]), axis=2)
    nearest = tf.argmin(distances, axis=1)
    sums = tf.math.unsorted_segment_sum(points, nearest, 16)
    counts = tf.math.unsorted_segment_sum(tf.ones((20000,)), nearest, 16)
    centres = sums / counts[:, None]
mean = tf.reduce_mean(points, axis=0)
centred = points - mean
covariance = tf.matmul(centred, centred, transpose_a=True) / 20000.0
values, vectors = tf.linalg.eigh(covariance)
white = tf.matmul(centred, vectors) / tf.sqrt(values)
norms = tf.norm(white, axis=1)
order = tf.argsort(norms)
top = tf.math.top_k(norms, k=100)
similar = tf.nn.softmax(tf.matmul(white[:2000], white[:2000], transpose_b=True))
