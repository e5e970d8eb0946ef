"""compiled step: a small program of ordinary make for benchmarks/tune_table.py."""

import tensorflow as tf

tf.random.set_seed(1)
w = tf.Variable(tf.random.normal((300, 300)))


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ w))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for i in range(400):
    loss = step(tf.random.normal((300, 300)))
print("loss", float(loss))
