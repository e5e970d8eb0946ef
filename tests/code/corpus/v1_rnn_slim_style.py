"""TensorFlow 1 the way research code had it: arg scopes by hand, collections, queues of ops, sessions in classes."""
import os
import sys

import numpy as np
import tensorflow as tf

if not hasattr(tf, 'Session'):
    tf1 = tf.compat.v1
    tf1.disable_eager_execution()
else:
    tf1 = tf

SUMMARIES = 'my_summaries'


class BaseNetwork(object):
    def __init__(self, name, reuse=False):
        self.name = name
        self.sess = None
        with tf1.variable_scope(name, reuse=reuse):
            self._placeholders()
            self.logits = self._build(self.x)
        self.vars = tf1.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES, scope=name)
        self.saver = tf1.train.Saver(self.vars, max_to_keep=1)

    def _placeholders(self):
        self.x = tf1.placeholder(tf.float32, [None, 6, 3], 'x')
        self.y = tf1.placeholder(tf.int64, [None], name='y')
        self.training = tf1.placeholder_with_default(False, [], 'training')

    def _build(self, x):
        raise NotImplementedError

    def restore(self, path):
        self.saver.restore(self.sess, path)

    def save(self, path):
        return self.saver.save(self.sess, path)


def batch_norm(x, training, scope='bn', decay=0.9):
    with tf1.variable_scope(scope):
        depth = x.get_shape()[-1]
        beta = tf1.get_variable('beta', shape=[depth], initializer=tf1.zeros_initializer())
        gamma = tf1.get_variable('gamma', shape=[depth], initializer=tf1.constant_initializer(1.0))
        mean, var = tf.nn.moments(x, axes=list(range(len(x.shape) - 1)))
        moving = tf1.get_variable('moving', [depth], trainable=False, initializer=tf1.zeros_initializer())
        update = tf1.assign(moving, moving * decay + mean * (1 - decay))
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
        mean = tf.cond(training, lambda: mean, lambda: tf.identity(moving))
        return tf.nn.batch_normalization(x, mean, var, beta, gamma, 1e-3)


class RecurrentClassifier(BaseNetwork):
    def __init__(self, *args, units=4, classes=2, **kwargs):
        self.units = units
        self.classes = classes
        super(RecurrentClassifier, self).__init__(*args, **kwargs)

    def _cell(self, state, x, reuse):
        with tf1.variable_scope('cell', reuse=reuse):
            both = tf.concat([state, x], axis=1)
            w = tf1.get_variable('kernel', [both.shape[1], self.units],
                                 initializer=tf1.random_normal_initializer(stddev=0.1),
                                 regularizer=lambda v: 1e-4 * tf.nn.l2_loss(v))
            return tf.tanh(tf.matmul(both, w))

    def _build(self, x):
        x = batch_norm(x, self.training)
        state = tf.zeros([tf.shape(x)[0], self.units])
        for step, frame in enumerate(tf.unstack(x, axis=1)):
            state = self._cell(state, frame, reuse=step > 0)
        state = tf1.nn.dropout(state, keep_prob=0.9)
        w = tf1.get_variable('out', [self.units, self.classes])
        return tf.matmul(state, w)

    def train_op(self, lr):
        with tf1.name_scope('loss'):
            data_loss = tf1.losses.sparse_softmax_cross_entropy(self.y, self.logits)
            self.loss = data_loss + tf1.losses.get_regularization_loss()
        updates = tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)
        opt = tf1.train.MomentumOptimizer(lr, 0.9)
        with tf1.control_dependencies(updates):
            gvs = opt.compute_gradients(self.loss, var_list=self.vars)
            gradients, variables = zip(*gvs)
            gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
            step = opt.apply_gradients(zip(gradients, variables))
        tf1.summary.scalar('loss', self.loss, collections=[SUMMARIES])
        tf1.summary.scalar('norm', norm, collections=[SUMMARIES])
        with tf.control_dependencies([step]):
            self.accuracy = tf.reduce_mean(tf1.to_float(tf.equal(tf.argmax(self.logits, 1), self.y)))
        return step


def batches(n, size):
    data = np.random.randn(n, 6, 3).astype(np.float32)
    labels = (data.sum((1, 2)) > 0).astype(np.int64)
    for start in range(0, n, size):
        yield data[start:start + size], labels[start:start + size]


def pipeline():
    ds = tf1.data.Dataset.from_tensor_slices(np.arange(6.0)).map(lambda v: v * 2).batch(2)
    iterator = tf1.data.make_one_shot_iterator(ds)
    return iterator.get_next()


def main(argv):
    del argv
    graph = tf.Graph()
    with graph.as_default():
        tf1.set_random_seed(1)
        net = RecurrentClassifier('net', units=3)
        train = net.train_op(tf1.train.piecewise_constant(tf.constant(1), [2, 4], [0.1, 0.05, 0.01]))
        merged = tf1.summary.merge_all(key=SUMMARIES)
        element = pipeline()
        with tf1.Session(graph=graph) as sess:
            net.sess = sess
            sess.run([tf1.global_variables_initializer(), tf1.local_variables_initializer()])
            writer = tf1.summary.FileWriter('logs', graph=sess.graph)
            for i, (x, y) in enumerate(batches(12, 4)):
                summary, loss, _ = sess.run((merged, net.loss, train),
                                            feed_dict={net.x: x, net.y: y, net.training: True})
                writer.add_summary(summary, i)
                print('%d %.3f' % (i, loss))
            try:
                while True:
                    print(sess.run(element))
            except tf.errors.OutOfRangeError:
                print('done')
            path = net.save(os.path.join('ckpt', 'net'))
            net.restore(path)
            print(sess.run(net.accuracy, {net.x: x, net.y: y}), net.logits.op.name, len(tf1.global_variables()))
            frozen = tf1.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), [net.logits.op.name])
            print(len(frozen.node) > 0, tf1.train.latest_checkpoint('ckpt') is not None)
            writer.close()


if __name__ == '__main__':
    main(sys.argv)
