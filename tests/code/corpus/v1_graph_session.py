import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def model_fn(x, units):
    with tf1.variable_scope("layer", reuse=tf1.AUTO_REUSE):
        w = tf1.get_variable("w", shape=[3, units], initializer=tf1.truncated_normal_initializer(stddev=0.1))
        b = tf1.get_variable("b", shape=[units], initializer=tf1.zeros_initializer())
        return tf.nn.relu(tf.matmul(x, w) + b)


graph = tf.Graph()
with graph.as_default():
    x = tf1.placeholder(tf.float32, shape=[None, 3], name="x")
    y_ = tf1.placeholder(tf.float32, [None, 2])
    logits = model_fn(x, 2)
    loss = tf1.losses.mean_squared_error(y_, logits)
    loss_mean = tf1.reduce_mean(loss)
    optimizer = tf1.train.GradientDescentOptimizer(0.1)
    grads_and_vars = optimizer.compute_gradients(loss_mean)
    train_op = optimizer.apply_gradients(grads_and_vars)
    correct = tf.equal(tf1.argmax(logits, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    init = tf1.global_variables_initializer()
    saver = tf1.train.Saver()

with tf1.Session(graph=graph) as sess:
    sess.run(init)
    feed = {x: np.ones((4, 3)), y_: np.eye(2)[[0, 1, 0, 1]]}
    for step in range(2):
        _, value = sess.run([train_op, loss_mean], feed_dict=feed)
        print(step, value)
    print(sess.run(accuracy, feed_dict=feed), accuracy.eval(feed_dict=feed, session=sess))
    tensor = sess.graph.get_tensor_by_name("x:0")
    print(tensor.get_shape(), [op.name for op in graph.get_operations()][:3])
session = tf1.Session(graph=graph, config=tf1.ConfigProto(allow_soft_placement=True))
session.close()
