"""Applies layers and models to arrays: what comes out, and what is gone through on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.models import layers
from energy_code.static_shapes.models.nodes import in_order, leaves, nodes
from energy_code.static_shapes.models.trace import ModelTrace
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Function,
    Instance,
    Layer,
    Model,
    Node,
)
from energy_code.static_shapes.values.structures import (
    arrays_of,
    mapped,
)
from energy_data.prediction.specs import LayerSpec, ModelSpec, Tensor

WEIGHTS = "Weights"
"""Stands among the layers of a model for the weights that its own classes make."""


class Application:
    """Answers what layers and models give, and keeps in the trace what was applied. No state of its own."""

    def __init__(self, walk: Walk, trace: ModelTrace) -> None:
        self.walk, self.trace = walk, trace

    def layer(self, layer: Layer, given: list[Any], named: dict[str, Any]) -> Any:
        """A layer called with arrays."""
        if layer.kind == "Lambda":
            return self.walk.invoke(layer.function, given[:1], {})
        config = dict(layer.config)
        if named.get("return_attention_scores") is True:
            config["return_attention_scores"] = True
        values = [each for each in given if each is not None]
        if layer.kind in ("MultiHeadAttention", "GroupQueryAttention"):
            values += [named[key] for key in ("query", "value", "key") if key in named]
        inputs = arrays_of(tuple(values[:1]) if not layer.kind.endswith("Attention") else tuple(values))
        found = UNKNOWN if inputs is None else layers.outputs(layer, inputs, config)
        self.trace.applied(self.trace.spec(layer.kind, inputs, config, layer.name, layer.file, layer.line))
        return found

    def model(self, model: Model, given: list[Any], named: dict[str, Any]) -> Any:
        """A model called with arrays, layer by layer."""
        with self.trace.within(model.name, model.trainable):
            if not model.known:
                self.trace.applied(None)
                return UNKNOWN
            if model.kind == "sequential" and not self._has_call(model):
                value = given[0] if given else UNKNOWN
                for layer in model.layers:
                    value = value if isinstance(layer, Node) else self.walk.invoke(layer, [value], {})
                return value
            if model.kind == "functional":
                return self._graph(model, given)
            return self.instance(model.instance, given, named) if model.instance is not None else UNKNOWN

    def _has_call(self, model: Model) -> bool:
        return model.instance is not None and isinstance(model.instance.cls.find("call"), Function)

    def instance(self, owner: Instance, given: list[Any], named: dict[str, Any]) -> Any:
        """A layer or a model of the program's own class."""
        walk = self.walk
        given = [floats(each) for each in given]
        call = owner.cls.find("call")
        if not isinstance(call, Function):
            self.trace.applied(None)
            return UNKNOWN
        build = owner.cls.find("build")
        if isinstance(build, Function) and not owner.built:
            owner.built = True
            first = given[0] if given else UNKNOWN
            walk.enter(
                build,
                [owner, mapped(first, lambda one: one.shape if isinstance(one, Array) else UNKNOWN)],
                {},
            )
        known = {each.arg for each in (*call.code.args.args, *call.code.args.kwonlyargs)}
        wanted = {key: value for key, value in named.items() if key in known or call.code.args.kwarg}
        found = walk.enter(call, [owner, *given], wanted)
        if owner.weights and self.trace.active:
            sizes = [one.tensor for one in owner.weights]
            amount = {
                "variables": len(sizes),
                "parameters": sum(each.elements for each in sizes if each is not None),
            }
            place = Tensor("float32", (1,))
            complete = all(each is not None for each in sizes)
            self.trace.applied(LayerSpec(WEIGHTS, (place,), amount, owner.name, "", 0) if complete else None)
        return found

    def _graph(self, model: Model, given: list[Any]) -> Any:
        """The calls that lead from the inputs to the outputs, with what is given now."""
        starts = nodes(model.inputs)
        values = leaves(in_order_of(given[0], model.inputs) if given else UNKNOWN)
        if len(starts) == 1 and len(values) > 1 and not isinstance(given[0], (dict, list, tuple)):
            values = values[:1]
        if len(starts) != len(values):
            self.trace.applied(None)
            return UNKNOWN
        known: dict[int, Any] = {
            id(start): as_declared(value, start) for start, value in zip(starts, values, strict=True)
        }
        calls: dict[tuple[int, int], Any] = {}

        def resolved(value: Any) -> Any:
            return mapped(
                value, lambda leaf: known.get(id(leaf), UNKNOWN) if isinstance(leaf, Node) else leaf
            )

        for node in in_order(model.outputs, starts):
            key = id(node.given), id(node.function)
            if key not in calls:
                calls[key] = self.walk.invoke(
                    node.function, list(resolved(node.given)), dict(resolved(dict(node.named)))
                )
            result = calls[key]
            for part in node.part:
                result = result[part] if isinstance(result, (tuple, list, dict)) else UNKNOWN
            known[id(node)] = result
        return resolved(model.outputs)

    def gone_through(
        self, model: Model, batch: Any, *, training: bool = False
    ) -> tuple[ModelSpec | None, Any]:
        """The layers of a model with the shapes of a batch, and what comes out."""
        with self.trace.fresh() as applied:
            outputs = self.model(model, [batch], {"training": training})
        inputs = arrays_of(batch)
        known = [each for each in applied if each is not None]
        if not known or len(known) < len(applied) or inputs is None or inputs[0].tensor is None:
            return None, outputs
        starts = [LayerSpec("InputLayer", (one.tensor,)) for one in inputs if one.tensor is not None]
        return ModelSpec((*starts, *known), model.optimizer), outputs

    def own_step(self, model: Model, step: Function, batch: Any, element: Any) -> ModelSpec | None:
        """The layers of a step that the program's own class takes with a batch."""
        with self.trace.fresh() as applied:
            self.walk.enter(step, [model.instance, element], {})
        inputs = arrays_of(batch)
        known = [each for each in applied if each is not None]
        if not known or len(known) < len(applied) or inputs is None or inputs[0].tensor is None:
            return None
        starts = [LayerSpec("InputLayer", (one.tensor,)) for one in inputs if one.tensor is not None]
        return ModelSpec((*starts, *known), model.optimizer)


def in_order_of(given: Any, inputs: Any) -> Any:
    """What a dictionary holds for each input of a model: by the keys of its own, or by the names of its inputs."""
    if not isinstance(given, dict):
        return given
    keys = list(inputs) if isinstance(inputs, dict) else [start.name for start in nodes(inputs)]
    return [given[key] for key in keys] if all(key in given for key in keys) else given


def as_declared(value: Any, start: Node) -> Any:
    """What a model's `Input` makes of what it is given: its own dtype."""
    texts = "string" in (start.array.dtype, getattr(value, "dtype", ""))
    return replace(value, dtype=start.array.dtype) if isinstance(value, Array) and not texts else value


def floats(value: Any) -> Any:
    """What Keras makes of arrays of NumPy before a model sees them."""
    return mapped(
        value,
        lambda one: (
            Array("float32" if one.dtype == "float64" else one.dtype, one.shape)
            if isinstance(one, Array)
            else one
        ),
    )
