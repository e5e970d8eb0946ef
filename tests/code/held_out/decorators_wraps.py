"""Timing, caching and tracing decorators around TensorFlow code; context managers; closures; class factories."""
import contextlib
import functools
import inspect
import itertools
import operator
import time
import warnings
from functools import lru_cache, partial, reduce, wraps

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

LOG = []


def timed(label=None):
    def decorator(fn):
        name = label or fn.__name__

        @wraps(fn)
        def wrapper(*args, **kwargs):
            started = time.perf_counter()
            try:
                return fn(*args, **kwargs)
            finally:
                LOG.append((name, time.perf_counter() - started))
        return wrapper
    return decorator


def ensure_tensor(fn):
    @functools.wraps(fn)
    def inner(x, *rest, **options):
        if not tf.is_tensor(x):
            x = tf.convert_to_tensor(x, dtype=tf.float32)
        return fn(x, *rest, **options)
    return inner


def retry(times, exceptions=(tf.errors.InvalidArgumentError,)):
    def outer(fn):
        @wraps(fn)
        def again(*a, **k):
            for attempt in range(times):
                try:
                    return fn(*a, **k)
                except exceptions as problem:
                    LOG.append(("retry", type(problem).__name__))
            return None
        return again
    return outer


class memoize:
    """A decorator that is a class."""

    def __init__(self, fn):
        functools.update_wrapper(self, fn)
        self.fn, self.store = fn, {}

    def __call__(self, *key):
        if key not in self.store:
            self.store[key] = self.fn(*key)
        return self.store[key]

    def __get__(self, instance, owner):
        return partial(self.__call__, instance)


@timed("normalise")
@ensure_tensor
def normalise(x, axis=-1):
    mean, variance = tf.nn.moments(x, axes=[axis], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-6)


@memoize
def eye(n):
    return tf.eye(n)


@lru_cache(maxsize=None)
def hann(n):
    return tf.signal.hann_window(n)


@retry(2)
def bad_reshape(x):
    return tf.reshape(x, [7, 7])


@contextlib.contextmanager
def seeded(seed):
    state = tf.random.get_global_generator()
    tf.random.set_global_generator(tf.random.Generator.from_seed(seed))
    try:
        yield tf.random.get_global_generator()
    finally:
        tf.random.set_global_generator(state)


class Stopwatch(contextlib.ContextDecorator):
    def __enter__(self):
        self.t = tf.timestamp()
        return self

    def __exit__(self, *exc):
        self.elapsed = (tf.timestamp() - self.t).numpy()
        return False


def block_factory(base, **defaults):
    """Makes a subclass of a Keras layer with other defaults."""

    class Configured(base):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **{**defaults, **kwargs})

    Configured.__name__ = f"Configured{base.__name__}"
    return Configured


ReluDense = block_factory(layers.Dense, activation="relu", kernel_initializer="he_normal")
SmallConv = block_factory(keras.layers.Conv1D, kernel_size=3, padding="same")


def compose(*functions):
    return reduce(lambda f, g: lambda x: g(f(x)), functions, lambda x: x)


def make_counter(start=0):
    count = tf.Variable(start, trainable=False)

    def bump(by=1):
        return count.assign_add(by)

    def peek():
        nonlocal count
        return count.read_value()

    return bump, peek


with seeded(3) as g, Stopwatch() as watch:
    sample = g.normal((4, 6))
    uniform = g.uniform(shape=[2], maxval=5, dtype=tf.int32)
print(watch.elapsed >= 0, sample.shape, uniform.numpy())
print(normalise([[1.0, 2.0, 3.0]]).numpy(), normalise(sample, axis=0).numpy().mean())
print(eye(3).numpy(), eye(3) is eye(3), hann(8).numpy()[0], bad_reshape(tf.zeros(4)))

dense = ReluDense(5)
conv = SmallConv(4)
print(dense(sample).shape, conv(sample[:, :, tf.newaxis]).shape, [w.shape for w in conv.get_weights()])
pipeline = compose(layers.Dense(4), tf.nn.softmax, partial(tf.reduce_sum, axis=-1), operator.methodcaller("numpy"))
print(pipeline(sample))
bump, peek = make_counter(3)
bump(); bump(by=4)
print(peek().numpy())
stack = [layers.Dense(3), layers.LayerNormalization(), ops.relu]
print(reduce(lambda acc, f: f(acc), stack, sample).shape)
print(*(tuple(x.shape) for x in map(ops.transpose, itertools.repeat(sample, 2))))
sig = inspect.signature(tf.linalg.matmul)
print("transpose_a" in sig.parameters, list(itertools.starmap(ops.add, [(1, 2), (3, 4)])))


@Stopwatch()
def heavy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ops.matmul(ops.ones((4, 4)), ops.eye(4))


print(heavy().numpy().sum())
for op_name, arguments in {"add": (1.0, 2.0), "power": (2.0, 3.0), "maximum": (4.0, 5.0)}.items():
    op = getattr(ops, op_name)
    print(op_name, float(op(*arguments)))
