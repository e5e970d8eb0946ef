"""An eager training loop at module level."""

import tensorflow as tf

weights = tf.Variable(tf.random.normal([256, 256], seed=1))
x = tf.random.normal([512, 256], seed=2)
target = tf.random.normal([512, 256], seed=3)
for step in range(120):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - target))
    gradient = tape.gradient(loss, weights)
    weights.assign_sub(0.1 * gradient)
print("loss", float(loss))
