"""Typed research code: Protocols, ABCs, generics, overloads, TypedDicts."""
from __future__ import annotations

import abc
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypedDict, TypeVar, overload, runtime_checkable

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from keras.optimizers import Optimizer

logging.basicConfig(level=logging.WARNING)
logger = logging.getLogger(__name__)

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=tf.keras.Model)
Tensor = tf.Tensor


class Batch(TypedDict):
    image: tf.Tensor
    label: tf.Tensor


@runtime_checkable
class Encoder(Protocol):
    def encode(self, x: tf.Tensor) -> tf.Tensor: ...


class Source(abc.ABC, Generic[T]):
    name: ClassVar[str] = "source"

    @abc.abstractmethod
    def items(self) -> Iterable[T]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[T]:
        yield from self.items()

    def first(self) -> T:
        return next(iter(self))


class BatchSource(Source[Batch]):
    name = "batches"

    def __init__(self, n: int) -> None:
        self.n = n

    def items(self) -> Iterable[Batch]:
        for _ in range(self.n):
            yield {"image": tf.random.normal((4, 6)), "label": tf.random.uniform((4,), 0, 3, dtype=tf.int32)}


class Net(tf.keras.Model):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.blocks: list[tf.keras.layers.Layer] = []
        for index in range(2):
            self.blocks.append(tf.keras.layers.Dense(width, activation="gelu", name=f"b{index}"))
        self.head: tf.keras.layers.Dense = tf.keras.layers.Dense(3)

    def encode(self, x: tf.Tensor) -> tf.Tensor:
        for block in self.blocks:
            x = block(x)
        return x

    def call(self, x, training: bool = False):
        return self.head(self.encode(x))


class Trainer(Generic[ModelT]):
    """Trains whatever model it is given."""

    def __init__(self, model: ModelT, optimizer: Optimizer, source: Source[Batch]) -> None:
        self.model = model
        self.optimizer = optimizer
        self.source = source
        self.history: dict[str, list[tf.Tensor]] = defaultdict(list)
        self._hooks: list[Callable[[Trainer[ModelT], int], None]] = []

    def hook(self, function):
        self._hooks.append(function)
        return function

    @property
    def unwrapped(self) -> ModelT:
        return self.model

    def loss(self, batch: Batch) -> Tensor:
        logits = self.model(batch["image"], training=True)
        per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(batch["label"], logits)
        return tf.reduce_mean(per_example)

    def step(self, batch: Batch) -> Mapping[str, Tensor]:
        with tf.GradientTape() as tape:
            loss = self.loss(batch)
        variables = self.model.trainable_variables
        grads, norm = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        self.optimizer.apply_gradients(zip(grads, variables))
        return {"loss": loss, "norm": norm}

    def run(self) -> Trainer[ModelT]:
        for number, batch in enumerate(self.source):
            for key, value in self.step(batch).items():
                self.history[key].append(value)
            for hook in self._hooks:
                hook(self, number)
        return self


class SmoothTrainer(Trainer[Net]):
    def loss(self, batch: Batch) -> Tensor:
        base = super().loss(batch)
        reg = tf.add_n([tf.nn.l2_loss(w) for w in self.unwrapped.trainable_weights])
        return base + 1e-3 * reg


@overload
def pooled(x: tf.Tensor, how: Literal["mean"]) -> tf.Tensor: ...
@overload
def pooled(x: tf.Tensor, how: Literal["std"]) -> float: ...
def pooled(x, how="mean"):
    result = {"mean": tf.reduce_mean, "std": tf.math.reduce_std}[how](x)
    return result if how == "mean" else float(result)


def embed(encoder: Encoder, xs: Sequence[tf.Tensor]) -> OrderedDict[int, tf.Tensor]:
    assert isinstance(encoder, Encoder)
    return OrderedDict((i, encoder.encode(x)) for i, x in enumerate(xs))


def last(items: Sequence[T]) -> T:
    return items[-1]


source = BatchSource(2)
net = Net(5)
trainer = SmoothTrainer(net, tf.keras.optimizers.Nadam(1e-2), source)


@trainer.hook
def show(t: Trainer[Net], number: int) -> None:
    logger.info("step %d", number)
    print(number, last(t.history["loss"]).numpy(), t.unwrapped.head.count_params())


trainer.run()
print({key: tf.stack(values).numpy().tolist() for key, values in trainer.history.items()})
embeddings = embed(net, [source.first()["image"], tf.zeros((1, 6))])
for index, vector in embeddings.items():
    print(index, vector.shape, pooled(vector, "mean").numpy(), pooled(vector, "std"))
plain: Trainer[tf.keras.Model] = Trainer(tf.keras.Sequential([tf.keras.layers.Dense(3)]), tf.keras.optimizers.SGD(), BatchSource(1))
print(plain.run().unwrapped.predict(np.ones((1, 6)), verbose=0).shape, len(plain.model.layers))
