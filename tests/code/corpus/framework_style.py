"""A home-grown framework: base classes, hooks, context managers, generic pipelines, delegation."""
from __future__ import annotations

import contextlib
import copy
import inspect
import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial, singledispatch
from pathlib import Path
from typing import Any, Callable, Generator, Generic, Iterable, List, Mapping, Optional, Protocol, Tuple, Type, TypeVar

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model
from tensorflow.keras.layers import Dense, Input, Layer

log = logging.getLogger("framework")
M = TypeVar("M", bound=tf.keras.Model)
Batch = Tuple[tf.Tensor, tf.Tensor]


class SupportsFit(Protocol):
    def fit(self, *args: Any, **kwargs: Any) -> Any: ...


class Singleton(type):
    _instances: dict = {}

    def __call__(cls, *args, **kwargs):
        if cls not in cls._instances:
            cls._instances[cls] = super().__call__(*args, **kwargs)
        return cls._instances[cls]


class Device(metaclass=Singleton):
    def __init__(self):
        gpus = tf.config.list_physical_devices("GPU")
        self.name = "/GPU:0" if gpus else "/CPU:0"

    @contextlib.contextmanager
    def use(self) -> Generator[str, None, None]:
        with tf.device(self.name):
            yield self.name


class Component(ABC):
    registry: dict[str, Type["Component"]] = {}

    def __init_subclass__(cls, key: str | None = None, **kwargs):
        super().__init_subclass__(**kwargs)
        if key:
            Component.registry[key] = cls

    @classmethod
    def create(cls, key: str, **options) -> "Component":
        return cls.registry[key](**options)

    @abstractmethod
    def build(self) -> Model:
        raise NotImplementedError


class MLPComponent(Component, key="mlp"):
    def __init__(self, widths=(8,), outputs=1):
        self.widths = widths
        self.outputs = outputs

    def _hidden(self) -> Iterable[Layer]:
        for width in self.widths:
            yield Dense(width, activation="relu")
            yield tf.keras.layers.LayerNormalization()

    def build(self) -> Model:
        x = inputs = Input((4,))
        for layer in self._hidden():
            x = layer(x)
        return Model(inputs, Dense(self.outputs)(x))


class LinearComponent(Component, key="linear"):
    def build(self) -> Model:
        return tf.keras.Sequential([Input((4,)), Dense(1)])


class Hook:
    def before(self, trainer: "Trainer") -> None: ...
    def after(self, trainer: "Trainer", loss: tf.Tensor) -> None: ...


class EMAHook(Hook):
    def __init__(self, decay: float = 0.9):
        self.decay = decay
        self.shadow: List[tf.Variable] = []

    def before(self, trainer):
        if not self.shadow:
            self.shadow = [tf.Variable(v, trainable=False) for v in trainer.model.trainable_variables]

    def after(self, trainer, loss):
        for shadow, value in zip(self.shadow, trainer.model.trainable_variables):
            shadow.assign(self.decay * shadow + (1 - self.decay) * value)


class SummaryHook(Hook):
    def __init__(self, folder: str):
        self._writer = tf.summary.create_file_writer(folder)

    def after(self, trainer, loss):
        with self._writer.as_default():
            tf.summary.write("loss", loss, step=trainer.steps)
        self._writer.flush()


@dataclass
class Trainer(Generic[M]):
    model: M
    optimizer: tf.keras.optimizers.Optimizer = field(default_factory=partial(tf.keras.optimizers.SGD, 0.01))
    loss: Callable[[tf.Tensor, tf.Tensor], tf.Tensor] = tf.keras.losses.MeanSquaredError()
    hooks: List[Hook] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self):
        self.mean = tf.keras.metrics.Mean()
        self._compiled = tf.function(self._step)

    def _step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x, training=True))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @contextlib.contextmanager
    def epoch(self):
        self.mean.reset_state()
        yield self
        log.info("mean loss %s", self.mean.result().numpy())

    def __call__(self, batch: Batch) -> tf.Tensor:
        for hook in self.hooks:
            hook.before(self)
        loss = self._compiled(*batch)
        self.mean.update_state(loss)
        self.steps += 1
        for hook in self.hooks:
            hook.after(self, loss)
        return loss


class Wrapper:
    """Passes on everything it does not know."""

    def __init__(self, inner: tf.keras.Model):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __call__(self, x):
        return self.inner(x, training=False)


@singledispatch
def describe(value) -> str:
    return repr(value)


@describe.register
def _(value: tf.Tensor) -> str:
    return f"tensor of {value.shape.rank} axes, mean {tf.reduce_mean(value).numpy():.2f}"


@describe.register(tf.keras.Model)
def _(value) -> str:
    return f"model with {value.count_params()} weights"


class Source:
    def __init__(self, n: int = 16, transforms: Optional[List[Callable]] = None):
        self.n = n
        self.transforms = transforms or []

    def __iter__(self):
        ds = tf.data.Dataset.from_tensor_slices(self.arrays())
        for transform in self.transforms:
            ds = ds.map(transform)
        return iter(ds.batch(4))

    def arrays(self):
        x = np.random.rand(self.n, 4).astype("float32")
        return x, x.sum(1, keepdims=True)


def noise(scale: float):
    def apply(x, y):
        return x + scale * tf.random.normal(tf.shape(x)), y
    return apply


def main() -> None:
    source = Source(transforms=[noise(0.1), lambda x, y: (tf.clip_by_value(x, 0.0, 1.0), y)])
    for key, options in {"mlp": {"widths": (4, 4)}, "linear": {}}.items():
        with Device().use() as name:
            model = Component.create(key, **options).build()
        trainer = Trainer(model, hooks=[EMAHook(), SummaryHook("logs")])
        with trainer.epoch() as running:
            losses = [running(batch) for batch in source]
        print(key, name, describe(tf.stack(losses)), describe(model), trainer.mean.result().numpy() >= 0)
        wrapped = Wrapper(model)
        wrapped.compile(optimizer="sgd", loss="mse")
        history = wrapped.fit(*source.arrays(), epochs=1, verbose=0)
        print(wrapped(np.zeros((1, 4), "float32")).numpy().shape, len(history.epoch))
    frozen = tf.keras.models.clone_model(model)
    frozen.set_weights(model.get_weights())
    frozen.trainable = False
    print(inspect.isclass(type(frozen)), len(frozen.trainable_weights), Path("logs").exists())


if __name__ == "__main__":
    main()
