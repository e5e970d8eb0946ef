"""Numerics with TensorFlow: Gaussian process, Kalman filter, ODE solver, custom gradients."""
import math
from functools import partial, reduce, wraps

import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx('float64')
tfl = tf.linalg
la = tf.linalg
dtype = tf.float64


def check_shapes(fn):
    @wraps(fn)
    def inner(*args, **kwargs):
        out = fn(*args, **kwargs)
        tf.debugging.assert_all_finite(out, f'{fn.__name__} is not finite')
        return out
    return inner


@check_shapes
def rbf(a, b, length=1.0):
    diff = tf.expand_dims(a, 1) - tf.expand_dims(b, 0)
    return tf.exp(-0.5 * tf.reduce_sum(diff ** 2, -1) / length ** 2)


class GaussianProcess(tf.Module):
    def __init__(self, x, y, name=None):
        super().__init__(name=name)
        self.x, self.y = tf.constant(x, dtype), tf.constant(y, dtype)
        self.log_length = tf.Variable(0.0, dtype=dtype, name='log_length')
        self.log_noise = tf.Variable(-2.0, dtype=dtype)

    @property
    def gram(self):
        n = tf.shape(self.x)[0]
        return rbf(self.x, self.x, tf.exp(self.log_length)) + tf.exp(self.log_noise) * tf.eye(n, dtype=dtype)

    @tf.function
    def nll(self):
        chol = tfl.cholesky(self.gram)
        alpha = tfl.cholesky_solve(chol, self.y)
        fit = 0.5 * tf.squeeze(tf.matmul(self.y, alpha, transpose_a=True))
        return fit + tf.reduce_sum(tf.math.log(tfl.diag_part(chol)))

    def predict(self, new):
        cross = rbf(tf.convert_to_tensor(new, dtype), self.x, tf.exp(self.log_length))
        return tf.matmul(cross, tfl.solve(self.gram, self.y))


x = np.linspace(0, 3, 12)[:, None]
gp = GaussianProcess(x, np.sin(x))
opt = tf.keras.optimizers.SGD(0.05)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = gp.nll()
    opt.apply_gradients(zip(tape.gradient(loss, gp.trainable_variables), gp.trainable_variables))
print(f'nll {loss.numpy():.3f} at {gp.predict([[1.0]]).numpy().ravel()}')


def kalman(observations, transition, noise):
    mean, cov = tf.zeros([2, 1], dtype), tf.eye(2, dtype=dtype)
    observe = tf.constant([[1.0, 0.0]], dtype)

    def step(state, z):
        mean, cov = state
        mean = transition @ mean
        cov = transition @ cov @ tf.transpose(transition) + noise * tf.eye(2, dtype=dtype)
        gain = cov @ tf.transpose(observe) / (observe @ cov @ tf.transpose(observe) + noise)
        return mean + gain * (z - observe @ mean), (tf.eye(2, dtype=dtype) - gain @ observe) @ cov

    return tf.scan(step, observations, initializer=(mean, cov))


means, covs = kalman(tf.random.normal([5], dtype=dtype), tf.constant([[1.0, 0.1], [0.0, 1.0]], dtype), 0.1)
print(means.shape, tf.linalg.det(covs[-1]).numpy())


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))
    return tf.math.log(1 + e), grad


@tf.function(reduce_retracing=True)
def runge_kutta(f, y, t, dt):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    return y + dt * (k1 + k2) / 2


decay = lambda t, y: -0.5 * y
state = tf.ones([3], dtype)
for i in tf.range(3):
    state = runge_kutta(decay, state, tf.cast(i, dtype) * 0.1, tf.constant(0.1, dtype))
print(state.numpy().sum())

z = tf.Variable([100.0, 1.0], dtype=dtype)
with tf.GradientTape(persistent=True) as t2:
    with tf.GradientTape() as t1:
        total = tf.reduce_sum(log1pexp(z))
    first = t1.gradient(total, z)
    second_input = tf.reduce_sum(first)
jac = t2.jacobian(first, z)
del t2
print(first.numpy(), jac is None)

s, u, v = la.svd(tf.random.stateless_normal([4, 3], seed=(1, 2), dtype=dtype))
q, r = tf.linalg.qr(tf.random.stateless_normal([4, 3], seed=(3, 4), dtype=dtype), full_matrices=False)
values, vectors = la.eigh(tf.matmul(q, q, transpose_a=True))
op = la.LinearOperatorDiag(tf.abs(values) + 1.0)
block = la.LinearOperatorKronecker([op, la.LinearOperatorIdentity(2, dtype=dtype)])
print(op.solvevec(tf.ones(3, dtype)).shape, block.to_dense().shape, op.log_abs_determinant().numpy())
print(tf.einsum('ij,jk->ik', u, tf.linalg.diag(s)).shape, la.norm(v).numpy(), la.matrix_rank(r).numpy())
product = reduce(tf.matmul, [q, r, tf.transpose(r)])
clip = partial(tf.clip_by_value, clip_value_min=-1.0, clip_value_max=1.0)
print(clip(product).numpy().max(), la.band_part(product, 0, -1).shape, math.isfinite(float(la.logdet(op.to_dense()))))
sums = [fn(product).numpy() for fn in (tf.reduce_sum, tf.reduce_mean, tf.math.reduce_std)]
table = {'relu': tf.nn.relu, 'soft': tf.nn.softplus, 'half': lambda x: tf.multiply(x, 0.5)}
for name, fn in table.items():
    print(name, fn(product).shape, sums[0])
result = tf.while_loop(lambda i, acc: i < 3, lambda i, acc: [i + 1, acc + tf.pow(2, i)], [0, 0])
print(result[1], tf.cond(tf.greater(result[1], 3), lambda: tf.constant('big'), lambda: tf.constant('small')))
tf.keras.backend.set_floatx('float32')
