"""The layers and operations that are applied while a model is gone through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from energy_code.static_shapes.models.layers import DECISIVE
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
)
from energy_data.prediction.specs import LayerSpec


class ModelTrace:
    """Answers what a model is made of: its layers in the order in which they are applied, with their shapes and paths.

    Its state is the list that is being filled, the names of the models around, and how many of them are frozen.
    """

    def __init__(self) -> None:
        self.layers: list[LayerSpec | None] | None = None
        """None while no model is gone through; None in it for a layer about which something is not known."""
        self.path: list[str] = []
        self.frozen = 0
        self.optimizer = ""
        """What the weights are updated with in what is gone through; empty where nothing is trained."""

    @property
    def active(self) -> bool:
        """Whether a model is gone through."""
        return self.layers is not None

    @contextmanager
    def fresh(self) -> Iterator[list[LayerSpec | None]]:
        """Go through a model from its beginning."""
        before = self.layers, self.path, self.frozen, self.optimizer
        found: list[LayerSpec | None] = []
        self.layers, self.path, self.frozen, self.optimizer = found, [], 0, ""
        try:
            yield found
        finally:
            self.layers, self.path, self.frozen, self.optimizer = before

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do something that is no part of the model."""
        before, self.layers = self.layers, None
        try:
            yield
        finally:
            self.layers = before

    @contextmanager
    def within(self, name: str, trainable: bool) -> Iterator[None]:
        """Go through a model that is a part of another one."""
        before = self.path
        if self.layers and name:
            self.path = [*before, name]
        self.frozen += not trainable
        try:
            yield
        finally:
            self.path = before
            self.frozen -= not trainable

    def applied(self, layer: LayerSpec | None) -> None:
        """Keep a layer of the model that is gone through; None where something about it is not known."""
        if self.layers is not None:
            self.layers.append(layer)

    def operation(
        self, api: str, given: list[Array], attributes: dict[str, Any] | None, at: tuple[str, int]
    ) -> None:
        """Keep an operation of the model that is gone through; `at`: the file and line of its call."""
        if self.layers is None:
            return
        tensors = [one.tensor for one in given if not one.variable] or [one.tensor for one in given]
        spec = self.spec("Operation", given, {"api": api, **(attributes or {})}, api, *at)
        self.layers.append(spec if all(tensor is not None for tensor in tensors) else None)

    def spec(
        self, kind: str, inputs: list[Array] | None, config: dict[str, Any], name: str, file: str, line: int
    ) -> LayerSpec | None:
        """A layer as a prediction is asked about it; None where its shapes or arguments are not known."""
        if inputs is None or any(value is UNKNOWN for key, value in config.items() if key in DECISIVE):
            return None
        tensors = [one.tensor for one in inputs]
        if kind == "MultiHeadAttention":
            tensors = tensors[:2]
        if any(tensor is None for tensor in tensors):
            return None
        known = {key: value for key, value in config.items() if not isinstance(value, type(UNKNOWN))}
        if self.frozen:
            known["trainable"] = False
        path = "/".join([*self.path, name])
        return LayerSpec(
            kind, tuple(tensor for tensor in tensors if tensor is not None), known, path, file, line
        )
