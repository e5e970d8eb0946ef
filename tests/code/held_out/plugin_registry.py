"""Experiment framework in one file: registries, __init_subclass__, descriptors, __getattr__ delegation, singletons, class factories."""
import copy
import functools
import importlib
import types
from collections import ChainMap, UserDict
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Callable, Dict, Iterable, List, Optional, Type

import numpy as np
import tensorflow as tf


class Registry(UserDict):
    def register(self, name=None):
        def inner(obj):
            self.data[name or obj.__name__.lower()] = obj
            return obj
        return inner

    def build(self, name, *args, **kwargs):
        return self[name](*args, **kwargs)


BACKBONES, HEADS, OPTIMS = Registry(), Registry(), Registry()
OPTIMS.update(adam=tf.keras.optimizers.Adam, sgd=functools.partial(tf.keras.optimizers.SGD, momentum=0.9))


@BACKBONES.register()
class Mlp(tf.keras.layers.Layer):
    def __init__(self, width=8, depth=2):
        super().__init__()
        self.stack = [tf.keras.layers.Dense(width, "relu") for _ in range(depth)]
        self.norm = tf.keras.layers.LayerNormalization()

    def call(self, x):
        for layer in self.stack:
            x = layer(x)
        return self.norm(x)


@BACKBONES.register("conv")
def conv_backbone(width=8, depth=1):
    net = tf.keras.Sequential([tf.keras.layers.Reshape((-1, 1))])
    for _ in range(depth):
        net.add(tf.keras.layers.Conv1D(width, 3, padding="same", activation="relu"))
    net.add(tf.keras.layers.GlobalAveragePooling1D())
    return net


@HEADS.register("linear")
class Linear(tf.keras.layers.Dense):
    pass


class Callback:
    plugins: List[Type["Callback"]] = []

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Callback.plugins.append(cls)

    def __getattr__(self, name):
        if name.startswith("on_"):
            return lambda *a, **k: None
        raise AttributeError(name)


class LossLogger(Callback):
    def __init__(self):
        self.mean = tf.keras.metrics.Mean()

    def on_step(self, exp, loss):
        self.mean.update_state(loss)

    def on_end(self, exp):
        print("mean loss", self.mean.result().numpy())


class WeightAverage(Callback):
    def __init__(self, decay=0.5):
        self.decay, self.shadow = decay, None

    def on_step(self, exp, loss):
        current = exp.model.get_weights()
        if self.shadow is None:
            self.shadow = current
        self.shadow = [self.decay * s + (1 - self.decay) * c for s, c in zip(self.shadow, current)]

    def on_end(self, exp):
        exp.model.set_weights(self.shadow)


class Lazy:
    """A descriptor which builds on first use."""

    def __init__(self, builder):
        self.builder = builder

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        if not hasattr(obj, self.name):
            setattr(obj, self.name, self.builder(obj))
        return getattr(obj, self.name)


@dataclass
class Params:
    backbone: str = "mlp"
    head: str = "linear"
    optim: str = "adam"
    lr: float = 0.01
    steps: int = 2
    extra: Dict[str, Any] = field(default_factory=dict)


class Experiment:
    def __init__(self, params: Params, callbacks: Iterable[Callback] = ()):
        self.params = params
        self.callbacks = list(callbacks) or [plugin() for plugin in Callback.plugins]

    def _build(self):
        p = self.params
        backbone = BACKBONES.build(p.backbone, **p.extra)
        head = HEADS.build(p.head, 1)
        inputs = tf.keras.Input((6,))
        return tf.keras.Model(inputs, head(backbone(inputs)))

    model = Lazy(_build)
    optimizer = Lazy(lambda self: OPTIMS.build(self.params.optim, learning_rate=self.params.lr))

    @functools.cached_property
    def data(self):
        x = tf.random.stateless_normal((8, 6), seed=[1, 1])
        return tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True))).batch(4).repeat()

    @functools.cached_property
    def loss_fn(self) -> Callable:
        return tf.keras.losses.get("mse")

    def emit(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, f"on_{event}")(self, *args)

    def run(self):
        self.emit("begin")
        for x, y in self.data.take(self.params.steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(self.loss_fn(y, self.model(x, training=True)))
            grads = tape.gradient(loss, self.model.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
            self.emit("step", loss)
        self.emit("end")
        return self


class Proxy:
    """Delegates everything to a wrapped model, and counts."""

    def __init__(self, wrapped):
        self._wrapped, self.count = wrapped, 0

    def __getattr__(self, name):
        return getattr(self._wrapped, name)

    def __call__(self, *args, **kwargs):
        self.count += 1
        return self._wrapped(*args, **kwargs)


@contextmanager
def frozen(*layers):
    before = [layer.trainable for layer in layers]
    for layer in layers:
        layer.trainable = False
    try:
        yield layers
    finally:
        for layer, flag in zip(layers, before):
            layer.trainable = flag


results = {}
for overrides in ({}, {"backbone": "conv", "optim": "sgd", "extra": {"width": 4}}):
    params = Params(**ChainMap(overrides, {"lr": 0.02}))
    experiment = Experiment(params).run()
    results[params.backbone] = experiment
    print(asdict(params), experiment.model.count_params(), experiment.optimizer.get_config()["name"])

proxy = Proxy(results["mlp"].model)
print(proxy(tf.ones((1, 6))).numpy(), proxy.count, proxy.predict(np.ones((2, 6)), verbose=0).shape)
with ExitStack() as stack:
    (layer,) = stack.enter_context(frozen(results["conv"].model.layers[-1]))
    tape = stack.enter_context(tf.GradientTape())
    out = results["conv"].model(tf.ones((2, 6)))
    print(layer.trainable, len(results["conv"].model.trainable_weights))
print(tape.gradient(out, results["conv"].model.trainable_variables)[0].shape)
module = importlib.import_module("tensorflow.math")
print(module.reduce_mean([1.0, 3.0]).numpy())
Scaled = type("Scaled", (tf.keras.layers.Layer,), {"call": lambda self, x: tf.multiply(x, 2.0)})
scaled = Scaled()
print(scaled(tf.ones(2)).numpy())
dynamic = types.SimpleNamespace(**{name: getattr(tf, name) for name in ("zeros", "ones")})
print(dynamic.ones([2]).numpy() + dynamic.zeros(2).numpy())
scope = tf.name_scope("outer") if len(results) > 1 else nullcontext()
with scope:
    print(tf.identity(1.0, name="inner").numpy())
