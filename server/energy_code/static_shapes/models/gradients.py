"""Eager training: what a tape saw, going back through it, and the optimizer that is given the gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.values.kinds import Asked, Instance, Model, Scope, Tape
from energy_data.prediction.specs import CallSpec, LayerSpec, ModelSpec, ModelUse
from energy_data.prediction.specs import Method as JobMethod

LOSSES = "keras.losses."
"""A gradient begins with the loss: what that costs is a part of every gradient."""
WEIGHTS = ("trainable_variables", "trainable_weights", "variables", "weights")
UPDATES = ("apply_gradients", "apply")


class Gradients:
    """Answers what `tape.gradient` goes back through and what an optimizer updates.

    Its state: the tapes that look on, the layers of the last gradient, and what ran before and loads nothing any more.
    """

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.tapes: list[Tape] = []
        self.last: ModelSpec | None = None
        self.done: set[str] = set()

    @contextmanager
    def watching(self, tapes: list[Tape]) -> Iterator[None]:
        """What is applied meanwhile is seen by these tapes."""
        before = self.tapes
        self.tapes = [*before, *tapes]
        try:
            yield
        finally:
            self.tapes = before

    def saw(self, layers: tuple[LayerSpec, ...] | None) -> None:
        """Layers that were applied; None for something that is not known."""
        for tape in self.tapes:
            tape.layers += layers if layers is not None else [None]

    def saw_call(self, call: CallSpec | None, place: tuple[str, int]) -> None:
        """A single operation."""
        if call is not None and call.inputs and not call.api.startswith(LOSSES):
            config = {"api": call.api, **call.attributes}
            self.saw((LayerSpec("Operation", call.inputs, config, call.api, *place),))

    def gradient(self, tape: Tape) -> Asked | None:
        """`tape.gradient(…)`: back through everything that it saw."""
        known = tuple(layer for layer in tape.layers if layer is not None)
        self.last = ModelSpec(known) if known and len(known) == len(tape.layers) else None
        return self._asked(self.last, "gradient", "")

    def update(self, optimizer: str, node: ast.Call | None, scope: Scope | None) -> Asked | None:
        """`optimizer.apply_gradients(…)`: the weights that are named in it, else all that the last gradient was for."""
        named = self._named(node, scope) if node is not None and scope is not None else []
        layers = [layer for model in named if model.applied is not None for layer in model.applied.layers]
        if any(model.applied is None for model in named):
            return None
        found = tuple(layers) if named else self.last.layers if self.last is not None else ()
        return self._asked(ModelSpec(found, optimizer) if found else None, "update", optimizer)

    def _named(self, node: ast.Call, scope: Scope) -> list[Model]:
        """The models whose weights stand in a call."""
        found: list[Model] = []
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and each.attr in WEIGHTS:
                value = self.walk.value(each.value, scope)
                model = value.model if isinstance(value, Instance) else value
                if isinstance(model, Model):
                    found.append(model)
        return found

    def _asked(self, spec: ModelSpec | None, method: JobMethod, optimizer: str) -> Asked | None:
        if spec is None:
            return None
        key = f"{method} {optimizer}"
        first = key not in self.done
        self.done.add(key)
        inputs = spec.layers[0].inputs
        return Asked(model=spec, job=ModelUse(method, 1, first=first), shape=", ".join(map(str, inputs)))
