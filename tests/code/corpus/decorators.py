import functools

import tensorflow as tf
from tensorflow import function as graph_function


def logged(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        result = func(*args, **kwargs)
        tf.debugging.check_numerics(result, "result")
        return result

    return wrapper


@tf.function
def plain(x):
    return tf.nn.softmax(x)


@tf.function(input_signature=[tf.TensorSpec(shape=[None], dtype=tf.float32)])
def signed(x):
    tf.debugging.assert_all_finite(x, "finite")
    return tf.math.cumsum(x)


@tf.function(jit_compile=True, reduce_retracing=True)
def compiled(x, y):
    return tf.tensordot(x, y, axes=1)


@graph_function
def aliased(x):
    return tf.reverse(x, axis=[0])


@logged
@tf.function
def stacked(x):
    total = tf.constant(0.0)
    for i in tf.range(3):
        total += tf.gather(x, i)
    return total


@tf.custom_gradient
def clip_gradient(x):
    y = tf.identity(x)

    def grad(dy):
        return tf.clip_by_value(dy, -0.1, 0.1)

    return y, grad


@functools.partial(tf.function, autograph=False)
def partially(x):
    return tf.exp(x)


class Trainer:
    def __init__(self):
        self.v = tf.Variable(1.0)

    @tf.function
    def step(self, x):
        self.v.assign_add(tf.reduce_sum(x))
        return self.v.read_value()

    @staticmethod
    @tf.autograph.experimental.do_not_convert
    def helper(x):
        return tf.stop_gradient(x)


x = tf.constant([1.0, 2.0, 3.0])
print(plain(x).numpy(), signed(x).numpy(), compiled(x, x).numpy(), aliased(x).numpy())
print(stacked(x).numpy(), partially(x).numpy())
v = tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = clip_gradient(v) * 3.0
print(tape.gradient(loss, v).numpy())
trainer = Trainer()
print(trainer.step(x).numpy(), Trainer.helper(x))
concrete = signed.get_concrete_function()
print(concrete(x), concrete.graph.as_graph_def().node[0].name)
wrapped = tf.function(lambda t: tf.pow(t, 2))
print(wrapped(x).numpy())
