"""Builds everything from dataclass configs: dict dispatch, getattr on modules, match statements, argparse."""
import argparse
import dataclasses
import enum
import json
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Task(enum.Enum):
    REGRESSION = "regression"
    BINARY = "binary"
    MULTI = "multi"


@dataclass(frozen=True)
class LayerConfig:
    kind: str
    args: Dict[str, Any] = field(default_factory=dict)

    def build(self) -> keras.layers.Layer:
        cls = getattr(tf.keras.layers, self.kind)
        return cls(**self.args)


@dataclass
class OptimConfig:
    name: str = "adam"
    lr: float = 1e-3
    clip: Optional[float] = None
    schedule: Optional[str] = None

    def make(self):
        rate: Union[float, keras.optimizers.schedules.LearningRateSchedule] = self.lr
        match self.schedule:
            case "cosine":
                rate = keras.optimizers.schedules.CosineDecay(self.lr, 100)
            case "exp":
                rate = keras.optimizers.schedules.ExponentialDecay(self.lr, 10, 0.9)
            case None:
                pass
            case other:
                raise ValueError(f"unknown schedule {other}")
        factories = {
            "adam": keras.optimizers.Adam,
            "sgd": lambda learning_rate, **kw: keras.optimizers.SGD(learning_rate, momentum=0.9, **kw),
            "rms": keras.optimizers.RMSprop,
        }
        return factories[self.name](learning_rate=rate, clipnorm=self.clip)


@dataclass
class Config:
    layers: List[LayerConfig]
    optim: OptimConfig = field(default_factory=OptimConfig)
    task: Task = Task.REGRESSION
    epochs: int = 1

    @classmethod
    def from_dict(cls, raw):
        return cls(
            layers=[LayerConfig(**item) for item in raw["layers"]],
            optim=OptimConfig(**raw.get("optim", {})),
            task=Task(raw.get("task", "regression")),
            epochs=int(raw.get("epochs", 1)),
        )


class Bundle(NamedTuple):
    model: keras.Model
    loss: keras.losses.Loss
    metric: keras.metrics.Metric


LOSSES: Dict[Task, Callable[[], keras.losses.Loss]] = {
    Task.REGRESSION: keras.losses.MeanSquaredError,
    Task.BINARY: keras.losses.BinaryCrossentropy,
    Task.MULTI: lambda: keras.losses.SparseCategoricalCrossentropy(from_logits=True),
}
METRICS = dict(regression=keras.metrics.MeanAbsoluteError, binary=keras.metrics.BinaryAccuracy)


def build(config: Config, in_dim: int) -> Bundle:
    model = keras.Sequential([keras.Input((in_dim,))])
    for layer_config in config.layers:
        model.add(layer_config.build())
    loss = LOSSES[config.task]()
    metric = METRICS.get(config.task.value, keras.metrics.MeanAbsoluteError)(name="m")
    model.compile(optimizer=config.optim.make(), loss=loss, metrics=[metric])
    return Bundle(model, loss, metric)


def data_for(task: Task, n: int, dim: int) -> Tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, dim)).astype(np.float32)
    match task:
        case Task.REGRESSION:
            y = x.sum(axis=1, keepdims=True)
        case Task.BINARY:
            y = (x.sum(axis=1, keepdims=True) > 0).astype(np.float32)
        case _:
            y = rng.integers(0, 3, size=(n, 1))
    return x, y


def describe(thing):
    match thing:
        case keras.Sequential(layers=[first, *rest]):
            return f"sequential of {first.name} and {len(rest)} more, {thing.count_params()} weights"
        case keras.layers.Dense(units=u) as dense:
            return f"dense {u} {dense.get_config()['activation']}"
        case {"loss": [*values]}:
            return f"history {tf.reduce_mean(values).numpy():.3f}"
        case tf.Tensor():
            return f"tensor {thing.numpy()}"
        case _:
            return str(thing)


def run(config: Config, verbose: bool = False) -> float:
    bundle = build(config, 5)
    x, y = data_for(config.task, 16, 5)
    history = bundle.model.fit(x, y, epochs=config.epochs, batch_size=8, verbose=0)
    model, loss, metric = bundle
    manual = loss(y, model(x))
    metric.update_state(y, model.predict(x, verbose=0)[:, :1])
    print(describe(model), describe(model.layers[-1]), describe(history.history), describe(manual))
    return float(metric.result().numpy())


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=[t.value for t in Task], default="binary")
    parser.add_argument("--optim", default="sgd")
    parser.add_argument("--schedule", default=None)
    args = parser.parse_args(argv)
    raw = json.loads(json.dumps({
        "layers": [{"kind": "Dense", "args": {"units": 4, "activation": "relu"}},
                   {"kind": "Dropout", "args": {"rate": 0.1}},
                   {"kind": "Dense", "args": {"units": 1, "activation": "sigmoid"}}],
        "optim": {"name": args.optim, "schedule": args.schedule}, "task": args.task}))
    config = Config.from_dict(raw)
    print(run(config))
    other = dataclasses.replace(config, task=Task.REGRESSION, optim=OptimConfig("adam", schedule="cosine", clip=1.0))
    print(run(other, verbose=True))
    third = Config([LayerConfig("Dense", {"units": 3})], OptimConfig("rms", schedule="exp"), Task.MULTI)
    print(run(third))


if __name__ == "__main__":
    main(["--task", "binary", "--optim", "sgd"])
