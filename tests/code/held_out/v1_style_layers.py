import numpy as np
import tensorflow as tf

tf.compat.v1.disable_eager_execution()


class LinearModel(object):
    def __init__(self, scope, n_in, n_out):
        self.scope = scope
        with tf.compat.v1.variable_scope(scope):
            self.x = tf.compat.v1.placeholder(tf.float32, [None, n_in], "input")
            self.y = tf.compat.v1.placeholder(tf.float32, [None, n_out], "target")
            self.w = tf.compat.v1.get_variable("w", [n_in, n_out], initializer=tf.compat.v1.random_normal_initializer())
            self.logits = tf.matmul(self.x, self.w)
            self.loss = tf.reduce_mean(tf.compat.v1.squared_difference(self.logits, self.y))
            self.step = tf.compat.v1.train.get_or_create_global_step()
            self.train_op = tf.compat.v1.train.MomentumOptimizer(0.01, 0.9).minimize(self.loss, global_step=self.step)
            self.summary = tf.compat.v1.summary.scalar("loss", self.loss)

    def fit(self, sess, x, y):
        _, loss, step = sess.run([self.train_op, self.loss, self.step], {self.x: x, self.y: y})
        return loss, step

    def predict(self, sess, x):
        return sess.run(self.logits, feed_dict={self.x: x})


def run():
    model = LinearModel("linear", 2, 1)
    config = tf.compat.v1.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.compat.v1.Session(config=config) as sess:
        sess.run(tf.compat.v1.global_variables_initializer())
        for _ in range(2):
            loss, step = model.fit(sess, np.ones((3, 2)), np.zeros((3, 1)))
        print(loss, step, model.predict(sess, np.ones((1, 2))))
        values = sess.run(tf.compat.v1.trainable_variables())
        print([v.shape for v in values], tf.compat.v1.get_default_graph().get_operations()[0].name)
        saver = tf.compat.v1.train.Saver(max_to_keep=1)
        print(saver.save(sess, "./linear"))


run()
