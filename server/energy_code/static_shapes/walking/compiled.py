"""Functions of the program that `tf.function` makes one graph of: what a call of one does, as if it were a model."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.models.trace import ModelTrace
from energy_code.static_shapes.values.kinds import Array, Asked, Function, Instance, Model
from energy_code.static_shapes.values.structures import arrays_of
from energy_code.static_shapes.walking.functions import FunctionWalk
from energy_data.prediction.specs import LayerSpec, ModelSpec, ModelUse


class CompiledSteps:
    """Answers what a compiled function gives, and what its graph consists of. What was traced stands in the functions."""

    def __init__(self, trace: ModelTrace, functions: FunctionWalk) -> None:
        self.trace, self.functions = trace, functions

    def step(self, function: Function, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        """A call of a compiled function; without a figure where something in it is not known."""
        with self.trace.fresh() as applied:
            result = self.functions.enter(function, given, named)
            optimizer = self.trace.optimizer
        first, function.traced = not function.traced, True
        starts = self._inputs([*given, *named.values()])
        layers = [each for each in applied if each is not None]
        if starts is None or not layers or len(layers) < len(applied):
            return result, None
        inputs = [LayerSpec("InputLayer", (one.tensor,)) for one in starts if one.tensor is not None]
        model = ModelSpec((*inputs, *layers), optimizer or "SGD")
        shape = ", ".join(map(str, starts))
        job = ModelUse("compiled" if optimizer else "applied", 1, first=first)
        return result, Asked(model=model, job=job, shape=shape, name=_name(function))

    def _inputs(self, values: list[Any]) -> list[Array] | None:
        """The arrays that it is given; None where one is not wholly known."""
        found: list[Array] = []
        for value in values:
            if isinstance(value, (Model, Instance)) or value is None or isinstance(value, (int, float, str)):
                continue
            arrays = arrays_of(value)
            if arrays is None or any(one.tensor is None for one in arrays):
                return None
            found += arrays
        return found or None


def _name(function: Function) -> str:
    return getattr(function.code, "name", "<lambda>")
