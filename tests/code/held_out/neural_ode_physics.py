"""Physics-informed network: second derivatives, L-BFGS-free training, annealed weights, tf.Module bookkeeping."""
from __future__ import annotations

import dataclasses
import time
from collections import deque
from typing import Any, Mapping, Sequence, Union

import numpy as np
import tensorflow as tf

DTYPE = "float32"
tf.keras.backend.set_floatx(DTYPE)
pi = tf.constant(np.pi, dtype=DTYPE)


def fun_u_0(x):
    return -tf.sin(pi * x)


def fun_u_b(t, x):
    n = x.shape[0]
    return tf.zeros((n, 1), dtype=DTYPE)


def fun_r(t, x, u, u_t, u_x, u_xx):
    return u_t + u * u_x - 0.01 / pi * u_xx


@dataclasses.dataclass
class Domain:
    lower: Sequence[float] = (0.0, -1.0)
    upper: Sequence[float] = (1.0, 1.0)
    points: int = 16

    def sample(self, boundary: str | None = None) -> tf.Tensor:
        t = tf.random.uniform((self.points, 1), self.lower[0], self.upper[0], dtype=DTYPE)
        x = tf.random.uniform((self.points, 1), self.lower[1], self.upper[1], dtype=DTYPE)
        if boundary == "initial":
            t = tf.ones((self.points, 1), dtype=DTYPE) * self.lower[0]
        elif boundary == "walls":
            x = self.lower[1] + (self.upper[1] - self.lower[1]) * tf.keras.backend.random_bernoulli((self.points, 1), 0.5)
        return tf.concat([t, tf.cast(x, DTYPE)], axis=1)


def init_model(num_hidden_layers=2, num_neurons_per_layer=8, lb=(0.0, -1.0), ub=(1.0, 1.0)):
    model = tf.keras.Sequential()
    model.add(tf.keras.Input((2,)))
    scaling_layer = tf.keras.layers.Lambda(lambda x: 2.0 * (x - tf.constant(lb)) / (tf.constant(ub) - tf.constant(lb)) - 1.0)
    model.add(scaling_layer)
    for _ in range(num_hidden_layers):
        model.add(tf.keras.layers.Dense(num_neurons_per_layer, activation=tf.keras.activations.get("tanh"),
                                        kernel_initializer="glorot_normal"))
    model.add(tf.keras.layers.Dense(1))
    return model


class Solver:
    def __init__(self, model: tf.keras.Model, domain: Domain, weights: Mapping[str, float] | None = None):
        self.model = model
        self.domain = domain
        self.X_r = domain.sample()
        self.data = [(x, u) for x, u in self._conditions()]
        self.weights = {k: tf.Variable(v, trainable=False) for k, v in (weights or {"r": 1.0, "b": 1.0}).items()}
        self.hist: list[float] = []
        self.recent = deque(maxlen=5)

    def _conditions(self):
        initial = self.domain.sample("initial")
        yield initial, fun_u_0(initial[:, 1:2])
        walls = self.domain.sample("walls")
        yield walls, fun_u_b(walls[:, 0:1], walls[:, 1:2])

    def get_r(self):
        with tf.GradientTape(persistent=True) as tape:
            t, x = self.X_r[:, 0:1], self.X_r[:, 1:2]
            tape.watch(t)
            tape.watch(x)
            u = self.model(tf.stack([t[:, 0], x[:, 0]], axis=1))
            u_x = tape.gradient(u, x)
        u_t = tape.gradient(u, t)
        u_xx = tape.gradient(u_x, x)
        del tape
        return fun_r(t, x, u, u_t, u_x, u_xx)

    def compute_loss(self):
        r = self.get_r()
        loss = self.weights["r"] * tf.reduce_mean(tf.square(r))
        for X, u in self.data:
            u_pred = self.model(X)
            loss += self.weights["b"] * tf.reduce_mean(tf.square(u - u_pred))
        return loss

    def get_grad(self):
        with tf.GradientTape(persistent=True) as tape:
            loss = self.compute_loss()
        g = tape.gradient(loss, self.model.trainable_variables)
        del tape
        return loss, g

    def anneal(self, rate=0.9):
        for weight in self.weights.values():
            weight.assign(weight * rate)

    def solve(self, optimizer: tf.keras.optimizers.Optimizer, N=3):
        @tf.function
        def train_step():
            loss, grad_theta = self.get_grad()
            optimizer.apply_gradients(zip(grad_theta, self.model.trainable_variables))
            return loss

        t0 = time.time()
        for i in range(N):
            loss = train_step()
            self.hist.append(loss.numpy())
            self.recent.append(loss)
            self.anneal()
        print(f"mean of the last {tf.reduce_mean(tf.stack(list(self.recent))).numpy():.3f} in {time.time() - t0:.1f} s")
        return self


class ParametricSolver(Solver):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lambd = tf.Variable(1.0, dtype=DTYPE, constraint=lambda x: tf.clip_by_value(x, 0.0, 2.0))
        self.lambd_list: list[Union[float, np.ndarray]] = []

    def compute_loss(self):
        return super().compute_loss() + tf.nn.l2_loss(self.lambd)

    def get_grad(self):
        with tf.GradientTape() as tape:
            loss = self.compute_loss()
        variables = self.model.trainable_variables + [self.lambd]
        g = tape.gradient(loss, variables)
        self.lambd.assign_sub(0.1 * g[-1])
        return loss, g[:-1]


lr = tf.keras.optimizers.schedules.PiecewiseConstantDecay([2, 4], [1e-2, 1e-3, 5e-4])
domain = Domain()
for kind in (Solver, ParametricSolver):
    solver = kind(init_model(), domain).solve(tf.keras.optimizers.Adam(learning_rate=lr))
    print(kind.__name__, solver.hist[-1] > 0, [v.numpy() for v in solver.weights.values()])
tspace, xspace = tf.linspace(0.0, 1.0, 4), tf.linspace(-1.0, 1.0, 5)
T, X = tf.meshgrid(tspace, xspace)
Xgrid = tf.transpose(tf.stack([tf.reshape(T, [-1]), tf.reshape(X, [-1])]))
upred = solver.model(tf.cast(Xgrid, DTYPE))
U = upred.numpy().reshape(5, 4)
hess = None
print(U.shape, tf.math.is_nan(upred).numpy().any(), tf.norm(upred).numpy() >= 0, hess)
