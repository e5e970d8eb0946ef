"""Stands in for TensorFlow where any Python from 3.8 on has to run it: same names, plain numbers."""

import threading
import time
import warnings

__version__ = "2.99.0"

_mode = threading.local()


class Tensor:
    """Just enough to be described."""

    def __init__(self, value, shape=(2, 3)):
        self.value = value
        self._shape = shape

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return "float32"


def executing_eagerly():
    return not getattr(_mode, "tracing", False)


def constant(value, dtype=None, shape=None):
    return value


def zeros(shape):
    return Tensor(0.0, tuple(shape))


def add(x, y, name=None):
    return x + y


def square(x):
    return x * x


def reduce_sum(x, axis=None):
    return sum(x)


def identity(x):
    time.sleep(0.05)
    return x


def sqrt(x):
    warnings.warn("square roots are rough here", stacklevel=2)
    if x < 0:
        raise ValueError(f"cannot take the root of {x!r}")
    return x**0.5


def map_fn(fn, elems):
    return [fn(elem) for elem in elems]


def while_loop(cond, body, loop_vars):
    while cond(*loop_vars):
        loop_vars = body(*loop_vars)
    return loop_vars


def py_function(func, inp, Tout):
    return func(*inp)


def function(func=None, jit_compile=None):
    """Runs the function twice the first time, once to trace it."""
    if func is None:
        return lambda real: function(real)
    traced = []

    def call(*args):
        if not traced:
            traced.append(True)
            _mode.tracing = True
            try:
                func(*args)
            finally:
                _mode.tracing = False
        return func(*args)

    return call


class Variable:
    def __init__(self, initial_value):
        self.value = initial_value

    def assign_add(self, delta):
        self.value += delta
        return self


class GradientTape:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def gradient(self, target, sources):
        return [1.0 for _ in sources]


class _Devices:
    def __init__(self):
        self.gpus = []
        self.synchronised = 0

    def list_physical_devices(self, kind=None):
        return self.gpus if kind == "GPU" else []

    def sync_devices(self):
        self.synchronised += 1


config = _Devices()


class _Test:
    experimental = config


test = _Test()


class _Model:
    def fit(self, x, y=None):
        return self.train_step(x)

    def train_step(self, x):
        return x

    def predict(self, x):
        return [item * 2 for item in x]

    def __call__(self, x):
        return self.call(x)


class keras:
    Model = _Model
