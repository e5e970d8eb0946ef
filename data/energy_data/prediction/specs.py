"""What a prediction is asked about: a call with the shapes it is given, a layer, or a whole model with its training."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["eager", "graph"]
Pass = Literal["forward", "train", "first"]
"""`train`: forward and backward; `first`: the same without the gradient of the input, which nobody asks of a first layer."""
Method = Literal[
    "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch", "call", "gradient", "update",
    "compiled", "applied",
]  # fmt: skip
"""`call`: a model called eagerly; `gradient`: going back through what a tape saw; `update`: an optimizer that is given
gradients; `compiled` and `applied`: a function of the program as one graph, training or not."""
First = Literal["", "api", "process"]
"""Whether a call is the first of its API in a program, or of TensorFlow at all: both load what later ones find."""

_BITS = re.compile(r"(\d+)$")
_TEXT = re.compile(r"^([a-z_]+\d*)\[([\d,\s]*)\]$")


@dataclass(frozen=True, slots=True)
class Tensor:
    """The dtype and the shape of a tensor, all dimensions known."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        bits = _BITS.search(self.dtype)
        return max(1, int(bits[1]) // 8) if bits else 1

    @property
    def bytes(self) -> int:
        """Bytes of all elements."""
        return self.elements * self.itemsize

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @classmethod
    def read(cls, text: str) -> Tensor | None:
        """A tensor from `float32[128,784]`, the way measurements write it; None where it is not one."""
        found = _TEXT.match(text.strip())
        if found is None:
            return None
        return cls(found[1], tuple(int(size) for size in found[2].split(",") if size.strip()))


@dataclass(frozen=True, slots=True)
class CallSpec:
    """One call of an API: tensors in the order of its arguments (lists of tensors flattened), constants by name."""

    api: str
    """Canonical name, as the catalogue knows it."""
    inputs: tuple[Tensor, ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    mode: Mode = "eager"

    @property
    def signature(self) -> str:
        """The shapes in one text, as hovers show them."""
        return ", ".join(map(str, self.inputs))


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """One layer of a model: its class, what it was made with, and the shapes that go in, batch included."""

    kind: str
    """Class name in Keras, such as `Conv2D`."""
    inputs: tuple[Tensor, ...]
    config: Mapping[str, object] = field(default_factory=dict)
    path: str = ""
    """Where it stands in the model, such as `encoder/conv2d_1`."""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as a list of layers, and how it is compiled. Shapes of the layers hold the batch that is trained with."""

    layers: tuple[LayerSpec, ...]
    optimizer: str = "RMSprop"
    """Class name in Keras; what `compile` takes where it is told nothing is `rmsprop`."""
    trainable: bool = True


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What is done with a model: the method, over how many steps, and how often over."""

    method: Method
    steps: int
    """Steps of one epoch."""
    epochs: int = 1
    first: bool = True
    """Whether the call traces the step: the first `fit` of a model does."""
    validation_steps: int = 0
    """Steps of `evaluate` after each epoch."""
    last: float = 1.0
    """How full the last batch of an epoch is."""
    start: bool = False
    """Whether it is the first method of any model in the program, which loads what later ones find."""


@dataclass(frozen=True, slots=True)
class LayerShare:
    """What one layer has of a model's step."""

    layer: LayerSpec
    joules: float
    share: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted figure and what has to be said with it. Never a measurement, and never stored as one."""

    joules: float
    low: float
    high: float
    seconds: float
    """By the clock."""
    cpu_seconds: float = 0.0
    first_joules: float = 0.0
    """Of it, what only the first run costs: tracing, and building the program's graphs."""
    steps: int = 0
    epochs: int = 0
    step_joules: float = 0.0
    outside: bool = False
    """The sizes lie beyond those that were calibrated."""
    missing: tuple[str, ...] = ()
    """Layers whose class was not calibrated and that a family stands in for."""
    layers: tuple[LayerShare, ...] = ()

    @property
    def negligible(self) -> bool:
        """Below what a prediction can resolve: said as "under 1 mJ", without digits."""
        return self.cpu_seconds < NEGLIGIBLE_SECONDS


NEGLIGIBLE_SECONDS = 0.3e-3
COVERAGE = 0.9
"""Part of the runs that an interval is to hold."""
