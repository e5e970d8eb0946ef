"""A research harness: registries, config dataclasses, mixins, abstract trainers."""
from __future__ import annotations

import abc
import argparse
import contextlib
import dataclasses
import functools
import logging
import sys
import time
from collections import OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Dict, Generic, Iterator, List, Optional, Type, TypeVar, Union

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger(__name__)
T = TypeVar("T")
MODELS: Dict[str, Callable[..., tf.keras.Model]] = {}
L = tf.keras.layers


def register(name: str, table: Dict[str, Any] = MODELS) -> Callable[[T], T]:
    def wrapper(fn: T) -> T:
        table[name] = fn
        return fn

    return wrapper


@dataclasses.dataclass(frozen=True)
class OptimConfig:
    name: str = "Adam"
    lr: float = 1e-3
    clipnorm: Optional[float] = 1.0

    def make(self) -> tf.keras.optimizers.Optimizer:
        cls = getattr(tf.keras.optimizers, self.name)
        return cls(learning_rate=self.lr, clipnorm=self.clipnorm)


@dataclasses.dataclass
class Config:
    model: str = "mlp"
    hidden: List[int] = dataclasses.field(default_factory=lambda: [8, 4])
    classes: int = 3
    optim: OptimConfig = dataclasses.field(default_factory=OptimConfig)
    initializer: tf.keras.initializers.Initializer = dataclasses.field(default_factory=tf.keras.initializers.HeNormal)
    loss: tf.keras.losses.Loss = dataclasses.field(
        default_factory=lambda: tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))


@register("mlp")
def build_mlp(cfg: Config, shape) -> tf.keras.Model:
    stack = OrderedDict()
    stack["flatten"] = L.Flatten()
    for i, width in enumerate(cfg.hidden):
        stack[f"dense_{i}"] = L.Dense(width, kernel_initializer=cfg.initializer)
        stack[f"act_{i}"] = L.Activation("gelu")
    stack["head"] = L.Dense(cfg.classes)
    inputs = x = tf.keras.Input(shape)
    for name, layer in stack.items():
        x = layer(x)
    return tf.keras.Model(inputs, x, name="mlp")


@register("conv")
def build_conv(cfg: Config, shape) -> tf.keras.Model:
    act = functools.partial(L.LeakyReLU, negative_slope=0.1)
    conv = functools.partial(L.Conv2D, kernel_size=3, padding="same")
    blocks = [[conv(filters=w), act(), L.MaxPooling2D(2, padding="same")] for w in cfg.hidden]
    return tf.keras.Sequential([L.Input(shape), *[layer for block in blocks for layer in block],
                                L.GlobalAveragePooling2D(), L.Dense(cfg.classes)])


class TimedMixin:
    times: defaultdict[str, list[float]]

    @contextlib.contextmanager
    def timed(self, what: str):
        begin = time.perf_counter()
        yield
        self.times[what].append(time.perf_counter() - begin)


class AbstractTrainer(abc.ABC):
    step_dtype: ClassVar[tf.DType] = tf.int64

    def __init__(self, cfg: Config, model: tf.keras.Model) -> None:
        self.cfg = cfg
        self.model = model
        self.optimizer = cfg.optim.make()
        self.step = tf.Variable(0, dtype=self.step_dtype, trainable=False)
        self.metrics = {"loss": tf.keras.metrics.Mean("loss"),
                        "acc": tf.keras.metrics.SparseCategoricalAccuracy(name="acc")}

    @abc.abstractmethod
    def train_step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor: ...

    @property
    def variables(self) -> list[tf.Variable]:
        return self.model.trainable_variables

    def results(self) -> dict[str, float]:
        return {k: float(m.result()) for k, m in self.metrics.items()}

    def reset(self) -> None:
        for metric in self.metrics.values():
            metric.reset_state()


class TapeTrainer(TimedMixin, AbstractTrainer):
    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.times = defaultdict(list)

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.cfg.loss(y, logits)
            if self.model.losses:
                loss += tf.add_n(self.model.losses)
        grads = tape.gradient(loss, self.variables)
        grads, norm = tf.clip_by_global_norm(grads, 5.0)
        self.optimizer.apply_gradients(zip(grads, self.variables))
        self.step.assign_add(1)
        self.metrics["loss"].update_state(loss)
        self.metrics["acc"].update_state(y, logits)
        return norm

    def run(self, batches: tf.data.Dataset, epochs: int) -> Iterator[dict[str, float]]:
        for epoch in range(epochs):
            self.reset()
            with self.timed("epoch"):
                for x, y in batches:
                    norm = self.train_step(x, y)
            logger.info("epoch %d grad norm %.3f", epoch, norm.numpy())
            yield self.results()


def batches(n: int, shape: tuple[int, ...], classes: int, batch: int = 8) -> tf.data.Dataset:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, *shape)).astype("float32")
    y = rng.integers(0, classes, size=n)
    return tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(n, seed=1).batch(batch).prefetch(1)


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=sorted(MODELS), action="append")
    parser.add_argument("--epochs", type=int, default=1)
    return parser.parse_args(argv)


def main(argv: Union[List[str], None] = None) -> int:
    args = parse(argv)
    for name in args.model or list(MODELS):
        cfg = Config(model=name)
        model = MODELS[cfg.model](cfg, (8, 8, 1))
        model.summary(print_fn=logger.debug)
        trainer = TapeTrainer(cfg, model)
        for result in trainer.run(batches(24, (8, 8, 1), cfg.classes), args.epochs):
            print(name, result, int(trainer.step.numpy()))
    return 0


if __name__ == "__main__":
    sys.exit(main([]))
