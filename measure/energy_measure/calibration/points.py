"""What a calibration runs: calls, layers, optimizers and small models, each at several sizes.

A point is plain data, because it is run by the project's interpreter, which has TensorFlow and nothing of ours.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from energy_data.prediction.layers import layer_cost
from energy_data.prediction.specs import CallSpec, LayerSpec, Mode, Tensor
from energy_measure.calibration.call_points import call_points
from energy_measure.calibration.layer_points import layer_points
from energy_measure.calibration.tensors import Asked, f

Kind = Literal["call", "layer", "optimizer", "empty"]


@dataclass(frozen=True, slots=True)
class CalibrationPoint:
    """One thing to run. `tensors`: dtype, shape and, for integers, the value they stay below."""

    id: int
    kind: Kind
    name: str
    mode: Mode = "graph"
    tensors: tuple[tuple[str, tuple[int, ...], int], ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    nested: bool = False
    """The tensors go in as one list: `tf.concat`, `Add`."""
    run: str = "forward"
    """For layers which pass."""
    copies: int = 1
    """How many of it are put into one graph, so that what a graph costs by itself is the smaller part."""

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The shapes that go in."""
        return tuple(Tensor(dtype, tuple(shape)) for dtype, shape, _ in self.tensors)

    @property
    def call(self) -> CallSpec:
        """The point as a prediction is asked about it."""
        return CallSpec(self.name, self.inputs, self.arguments, self.mode)

    @property
    def layer(self) -> LayerSpec:
        """The point as a layer of a model."""
        return LayerSpec(self.name, self.inputs, self.arguments)

    def as_json(self) -> dict[str, Any]:
        """As the program reads it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CalibrationPoint:
        """A point that was written with `as_json`."""
        tensors = tuple((dtype, tuple(shape), below) for dtype, shape, below in data["tensors"])
        return cls(**{**data, "tensors": tensors})


LARGE = 300_000
"""Bytes from which a call costs far more than the graph about it."""

AUGMENTING = {"RandomFlip", "RandomRotation", "RandomContrast", "Resizing"}
"""Layers that change what a model is given: they stand before its weights, so nobody asks them for a gradient."""
AHEAD = {
    "Dense", "Conv2D", "Conv1D", "Conv2DTranspose", "DepthwiseConv2D", "LSTM", "GRU", "SimpleRNN", "Dropout",
}  # fmt: skip
"""Layers that come first in models, and whose input then needs no gradient."""
USUAL = {"Dense", "Flatten", "Conv2D", "MaxPooling2D", "Dropout", "Activation", "LSTM", "Embedding", "Adam"}
FEW_SIZES = 3
"""Sizes of a layer that a quick calibration runs all of; of the others it runs every second one."""
OPTIMIZERS = ("SGD", "Momentum", "Adam", "AdamW", "RMSprop", "Adagrad", "Nadam")
OPTIMIZED = ((2, 64), (16, 1000), (40, 500), (4, 250_000), (2, 1_500_000))
"""Variables, and numbers in each."""


def all_points(*, quick: bool = False, seed: int = 17) -> list[CalibrationPoint]:
    """Everything that a calibration runs, in random order.

    `quick` leaves out the graph mode and some sizes, and puts what models need first: where a minute is too short for all,
    whole APIs are left out behind it.
    """
    made = _Numbered(quick)
    for name, tensors, arguments, nested in call_points():
        api = f"keras.{name}" if name.startswith("losses.") else f"tensorflow.{name}"
        for mode in ("eager",) if quick or name == "Variable" else ("eager", "graph"):
            made.add(
                kind="call", name=api, mode=mode, tensors=tuple(tensors), arguments=arguments, nested=nested
            )
    for name, tensors, arguments, nested in _fewer(layer_points()) if quick else layer_points():
        # In the graph of a step a layer for whose input nobody wants a gradient is cheaper by a third.
        if name in AUGMENTING:
            runs: tuple[str, ...] = ("forward", "first")
        else:
            runs = ("forward", "train", *(("first",) if name in AHEAD and not quick else ()))
        for run in runs:
            made.add(
                kind="layer", name=name, tensors=tuple(tensors), arguments=arguments, nested=nested, run=run
            )
    for optimizer in OPTIMIZERS[:3] if quick else OPTIMIZERS:
        for variables, numbers in OPTIMIZED[::2] if quick else OPTIMIZED:
            made.add(kind="optimizer", name=optimizer, tensors=tuple([f(numbers)] * variables))
    for inputs in (1, 4, 12):
        made.add(kind="empty", name=str(inputs), tensors=tuple([f(8, 8)] * inputs))
    points, shuffle = made.points, random.Random(seed)
    shuffle.shuffle(points)
    if quick:
        place = {name: number for number, name in enumerate(dict.fromkeys(point.name for point in points))}
        points.sort(key=lambda point: (_turn(point), place[point.name]))
    return points


def _fewer(layers: Iterable[Asked]) -> list[Asked]:
    """Of the layers of a kind with many sizes every second one, the first and the last among them."""
    kinds: dict[str, list[Asked]] = {}
    for each in layers:
        tensors = tuple(Tensor(dtype, shape) for dtype, shape, _ in each[1])
        kinds.setdefault(layer_cost(LayerSpec(each[0], tensors, each[2])).parts[0].kind, []).append(each)
    return [
        each
        for alike in kinds.values()
        for number, each in enumerate(alike)
        if len(alike) <= FEW_SIZES or number % 2 == 0 or number == len(alike) - 1
    ]


def _turn(point: CalibrationPoint) -> int:
    """When it is a point's turn where time is short: what most models need, then the calls, then the other layers."""
    if point.kind == "call":
        return 1
    return 0 if point.kind == "empty" or point.name in USUAL else 2


class _Numbered:
    """Gives each point its number."""

    def __init__(self, quick: bool) -> None:
        self.points: list[CalibrationPoint] = []
        self.quick = quick

    def add(self, **about: Any) -> None:
        point = CalibrationPoint(id=len(self.points), **about)
        large = sum(tensor.bytes for tensor in point.inputs) > LARGE
        if point.kind == "layer":
            point = replace(point, copies=2 if large or self.quick else 5)
        elif point.kind == "call" and point.mode == "graph":
            point = replace(point, copies=2 if large else 8)
        self.points.append(point)


def parts(points: Iterable[CalibrationPoint], count: int) -> list[list[CalibrationPoint]]:
    """The points spread over so many processes: an interval must know how much one process differs from another."""
    found: list[list[CalibrationPoint]] = [[] for _ in range(count)]
    for number, point in enumerate(points):
        found[number % count].append(point)
    return [part for part in found if part]
