"""What an expression may be found to be. Everything that is not one of these is `UNKNOWN`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from energy_data.prediction.specs import CallSpec, Job, LayerSpec, ModelSpec, Tensor


class Unknown:
    """A value that the source does not tell."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Name:
    """A dotted name of an imported library: `numpy.random`."""

    dotted: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value, before it is called."""

    owner: Any
    name: str


@dataclass(frozen=True, slots=True)
class Defined:
    """A function of the file."""

    code: ast.FunctionDef | ast.Lambda
    names: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer as it was made."""

    kind: str
    config: Mapping[str, Any]
    line: int


@dataclass(frozen=True, slots=True)
class Node:
    """A tensor of a functional model: its shape with a batch of one, and the layers that lead to it, in order."""

    tensor: Tensor
    layers: tuple[tuple[Layer, tuple[Node, ...], Tensor], ...] = ()


@dataclass(slots=True, eq=False)
class Model:
    """A model: the layers in order with the shapes that go in, for a batch of one."""

    layers: list[LayerSpec] = field(default_factory=list)
    known: bool = True
    """False when something about it is not."""
    optimizer: str = "RMSprop"
    traced: set[str] = field(default_factory=set)
    """Methods that were called before: the first call of each traces."""

    def batched(self, batch: int) -> ModelSpec:
        """The model with a batch of this size."""
        layers = []
        for layer in self.layers:
            inputs = tuple(Tensor(each.dtype, (batch, *each.shape[1:])) for each in layer.inputs)
            layers.append(LayerSpec(layer.kind, inputs, layer.config, layer.path, layer.file, layer.line))
        return ModelSpec(tuple(layers), self.optimizer)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset: the parts of one element, how many elements, and whether they are batches."""

    elements: tuple[Tensor, ...]
    count: int
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A call whose shapes the source tells: a call of an API, or a method of a model."""

    call: CallSpec | None = None
    model: ModelSpec | None = None
    job: Job | None = None
    shape: str = ""
