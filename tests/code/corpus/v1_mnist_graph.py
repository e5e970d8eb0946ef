"""A TensorFlow 1 program as it was written in 2016, kept alive by compat.v1."""
from __future__ import absolute_import, division, print_function

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

flags = {'learning_rate': 0.01, 'hidden1': 8, 'hidden2': 4, 'batch_size': 10, 'max_steps': 3}


def weight_variable(shape, name=None):
    initial = tf.truncated_normal(shape, stddev=0.1)
    return tf.Variable(initial, name=name)


def bias_variable(shape):
    initial = tf.constant(0.1, shape=shape)
    return tf.Variable(initial)


def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding='SAME')


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')


def variable_summaries(var):
    with tf.name_scope('summaries'):
        mean = tf.reduce_mean(var)
        tf.summary.scalar('mean', mean)
        with tf.name_scope('stddev'):
            stddev = tf.sqrt(tf.reduce_mean(tf.square(var - mean)))
        tf.summary.scalar('stddev', stddev)
        tf.summary.histogram('histogram', var)


def dense(x, units, scope, activation=None):
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        w = tf.get_variable('w', [x.get_shape().as_list()[-1], units],
                            initializer=tf.glorot_uniform_initializer())
        b = tf.get_variable('b', [units], initializer=tf.zeros_initializer())
        variable_summaries(w)
        out = tf.nn.xw_plus_b(x, w, b)
        return activation(out) if activation is not None else out


def inference(images, keep_prob):
    with tf.name_scope('conv1'):
        W_conv1 = weight_variable([3, 3, 1, 4], name='W')
        h_conv1 = tf.nn.relu(conv2d(images, W_conv1) + bias_variable([4]))
        h_pool1 = max_pool_2x2(h_conv1)
    flat = tf.reshape(h_pool1, [-1, 4 * 4 * 4])
    h1 = dense(flat, flags['hidden1'], 'h1', activation=tf.nn.relu)
    h1 = tf.nn.dropout(h1, rate=1.0 - keep_prob)
    return dense(h1, 3, 'logits')


def training(loss, learning_rate):
    global_step = tf.train.get_or_create_global_step()
    lr = tf.train.exponential_decay(learning_rate, global_step, 10, 0.9, staircase=True)
    optimizer = tf.train.AdamOptimizer(lr)
    grads_and_vars = optimizer.compute_gradients(loss)
    capped = [(tf.clip_by_value(g, -1., 1.), v) for g, v in grads_and_vars if g is not None]
    return optimizer.apply_gradients(capped, global_step=global_step), global_step


def rnn(sequence):
    cell = tf.nn.rnn_cell.BasicLSTMCell(4) if hasattr(tf.nn, 'legacy') else None
    if cell is None:
        return tf.reduce_mean(sequence, axis=1)
    outputs, _ = tf.nn.dynamic_rnn(cell, sequence, dtype=tf.float32)
    return outputs[:, -1]


def main(_):
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, shape=(None, 8, 8, 1), name='images')
        labels = tf.placeholder(tf.int32, shape=(None,), name='labels')
        keep_prob = tf.placeholder_with_default(1.0, shape=())
        logits = inference(images, keep_prob)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train_op, step = training(loss, flags['learning_rate'])
        correct = tf.nn.in_top_k(logits, labels, 1)
        accuracy = tf.reduce_sum(tf.cast(correct, tf.int32))
        pooled = rnn(tf.squeeze(images, -1))
        merged = tf.summary.merge_all()
        init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
        saver = tf.train.Saver(max_to_keep=2)
        config = tf.ConfigProto(allow_soft_placement=True, intra_op_parallelism_threads=1)
        config.gpu_options.allow_growth = True
        with tf.Session(config=config, graph=graph) as sess:
            writer = tf.summary.FileWriter('logs', sess.graph)
            sess.run(init)
            for i in range(flags['max_steps']):
                feed = {images: np.random.rand(10, 8, 8, 1), labels: np.random.randint(0, 3, 10), keep_prob: 0.9}
                _, value, summary, at = sess.run([train_op, loss, merged, step], feed_dict=feed)
                writer.add_summary(summary, at)
                print('Step %d: loss = %.2f' % (at, value))
            writer.flush()
            path = saver.save(sess, 'ckpt/model', global_step=step)
            saver.restore(sess, path)
            print(accuracy.eval(feed), pooled.eval(feed_dict=feed).shape)
            print([v.name for v in tf.trainable_variables()][:2], tf.get_collection(tf.GraphKeys.UPDATE_OPS))
            print(graph.get_tensor_by_name('images:0').shape, len(graph.get_operations()) > 10)
            writer.close()


if __name__ == '__main__':
    try:
        tf.app.run(main)
    except SystemExit:
        pass
