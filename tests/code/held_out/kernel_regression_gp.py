"""Gaussian process regression and Kalman filter written with tf.linalg; classes with __call__, operators, scan and custom gradients."""
import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import tensorflow as tf

dtype = tf.float64
jitter = tf.constant(1e-6, dtype)


class Kernel(ABC):
    def __add__(self, other):
        return Sum(self, other)

    def __mul__(self, other):
        return Product(self, other) if isinstance(other, Kernel) else Product(Constant(other), self)

    __rmul__ = __mul__

    @abstractmethod
    def __call__(self, a, b):
        ...

    @property
    def variables(self):
        found = []
        for value in vars(self).values():
            if isinstance(value, tf.Variable):
                found.append(value)
            elif isinstance(value, Kernel):
                found.extend(value.variables)
        return found


class Constant(Kernel):
    def __init__(self, value):
        self.log_value = tf.Variable(tf.math.log(tf.cast(value, dtype)))

    def __call__(self, a, b):
        return tf.fill([tf.shape(a)[0], tf.shape(b)[0]], tf.exp(self.log_value))


class RBF(Kernel):
    def __init__(self, length=1.0):
        self.log_length = tf.Variable(math.log(length), dtype=dtype)

    def __call__(self, a, b):
        d2 = tf.math.squared_difference(a[:, None, :], b[None, :, :])
        return tf.exp(-0.5 * tf.reduce_sum(d2, -1) / tf.exp(2 * self.log_length))


class Pair(Kernel):
    def __init__(self, left, right):
        self.left, self.right = left, right


class Sum(Pair):
    def __call__(self, a, b):
        return tf.add(self.left(a, b), self.right(a, b))


class Product(Pair):
    def __call__(self, a, b):
        return tf.multiply(self.left(a, b), self.right(a, b))


class Posterior(NamedTuple):
    mean: tf.Tensor
    var: tf.Tensor


class GP:
    def __init__(self, kernel, noise=0.1):
        self.kernel = kernel
        self.log_noise = tf.Variable(math.log(noise), dtype=dtype)

    @property
    def trainable_variables(self):
        return [*self.kernel.variables, self.log_noise]

    def _chol(self, x):
        k = self.kernel(x, x)
        return tf.linalg.cholesky(tf.linalg.set_diag(k, tf.linalg.diag_part(k) + tf.exp(self.log_noise) + jitter))

    def nll(self, x, y):
        chol = self._chol(x)
        alpha = tf.linalg.cholesky_solve(chol, y)
        logdet = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
        n = tf.cast(tf.shape(x)[0], dtype)
        return 0.5 * tf.squeeze(tf.matmul(y, alpha, transpose_a=True)) + logdet + 0.5 * n * math.log(2 * math.pi)

    def fit(self, x, y, steps=3, lr=0.05):
        opt = tf.optimizers.Adam(lr)
        compiled = tf.function(self.nll)
        for _ in range(steps):
            with tf.GradientTape() as tape:
                loss = compiled(x, y)
            grads = tape.gradient(loss, self.trainable_variables)
            opt.apply_gradients((g, v) for g, v in zip(grads, self.trainable_variables))
        self.x, self.y = x, y
        return self

    def predict(self, xs):
        chol = self._chol(self.x)
        ks = self.kernel(self.x, xs)
        v = tf.linalg.triangular_solve(chol, ks, lower=True)
        w = tf.linalg.triangular_solve(chol, self.y, lower=True)
        var = tf.linalg.diag_part(self.kernel(xs, xs)) - tf.reduce_sum(tf.square(v), axis=0)
        return Posterior(tf.linalg.matvec(v, w[:, 0], transpose_a=True), tf.maximum(var, 0.0))


x = tf.linspace(tf.constant(0.0, dtype), 5.0, 12)[:, tf.newaxis]
y = tf.sin(x) + 0.05 * tf.random.normal(tf.shape(x), dtype=dtype, seed=3)
gp = GP(RBF(1.0) * 2.0 + Constant(0.1), noise=0.05).fit(x, y)
post = gp.predict(x[::3] + 0.1)
print(post.mean.numpy().round(2), tf.sqrt(post.var).numpy().round(3))
mean, var = post
print(tf.reduce_all(tf.math.is_finite(mean)).numpy(), [v.numpy() for v in gp.trainable_variables])


def kalman(obs):
    """tf.scan over observations."""
    a, q, r = [tf.constant(c, dtype) for c in (0.9, 0.1, 0.2)]

    def step(state, z):
        m, p = state
        m_, p_ = a * m, a * p * a + q
        gain = tf.math.divide(p_, p_ + r)
        return m_ + gain * (z - m_), (1 - gain) * p_

    return tf.scan(step, obs, initializer=(tf.zeros([], dtype), tf.ones([], dtype)))


means, variances = kalman(tf.squeeze(y))
print(means.numpy()[-1], variances[-1].numpy())


@tf.custom_gradient
def clip_grad(v):
    def grad(upstream):
        return tf.clip_by_norm(upstream, 0.5)
    return tf.identity(v), grad


with tf.GradientTape(persistent=True) as outer:
    z = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        inner = tf.reduce_sum(clip_grad(z) ** 2)
    first = tape.gradient(inner, z)
    both = tf.stack([tf.reduce_sum(z ** 2), tf.reduce_prod(z)])
    norm = tf.norm(first)
print(first.numpy(), outer.jacobian(both, z).numpy())
del outer
op = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 3.0]])
block = tf.linalg.LinearOperatorBlockDiag([op, tf.linalg.LinearOperatorIdentity(2)])
print(block.matmul(tf.ones((4, 1))).numpy().ravel(), op.determinant().numpy(), block.solvevec(tf.ones(4)).numpy(), op.trace().numpy())
s, u, v = tf.linalg.svd(op.to_dense())
q, r = tf.linalg.qr(tf.random.normal((3, 3)))
e, _ = tf.linalg.eigh(tf.matmul(q, q, transpose_b=True))
print(s.numpy(), tf.linalg.band_part(r, 0, -1).numpy().shape, e.numpy().round(3), tf.einsum("ij,jk->ik", q, r).shape)
print(tf.vectorized_map(lambda row: tf.reduce_sum(row * row), q).numpy(), tf.foldl(lambda acc, t: acc + tf.norm(t), r, initializer=0.0).numpy())
