"""Makes layers and models as Keras would."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.models import layers
from energy_code.static_shapes.models.nodes import nodes, only_nodes
from energy_code.static_shapes.parameters import bind
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Instance,
    Layer,
    Model,
    Name,
    Node,
)
from energy_code.static_shapes.values.structures import (
    items_of,
)
from energy_data.prediction.applications import APPLICATION, FAMILIES


class Builder:
    """Answers what a call of a Keras class makes: a layer with its arguments, a model with its parts.

    Its state is how many layers of each kind were made: Keras numbers their names.
    """

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.counts: dict[str, int] = {}

    def name(self, kind: str) -> str:
        """The name that Keras would give: `conv2d`, `conv2d_1`."""
        snake = "".join(
            "_" + letter.lower()
            if letter.isupper()
            and place
            and (kind[place - 1].islower() or kind[place + 1 : place + 2].islower())
            else letter.lower()
            for place, letter in enumerate(kind)
        )
        snake = snake.replace("1_d", "1d").replace("2_d", "2d").replace("3_d", "3d")
        number = self.counts.get(snake, 0)
        self.counts[snake] = number + 1
        return f"{snake}_{number}" if number else snake

    def made(self, api: str, given: list[Any], named: dict[str, Any], line: int, file: str) -> Any:
        """What a call of Keras' classes gives."""
        kind = api.rpartition(".")[2]
        if kind == "Sequential":
            return self.sequential(given[0] if given else named.get("layers"), named.get("name"))
        if api in ("keras.Model", "keras.Function"):
            bound = {**dict(zip(("inputs", "outputs"), given, strict=False)), **named}
            return self.functional(bound.get("inputs"), bound.get("outputs"), named.get("name"))
        if api == "keras.layers.Input" or api == "keras.Input":
            return self.input(bind("keras.layers.Input", given, named))
        if api == "keras.layers.InputLayer":
            bound = bind(api, given, named)
            return self.input({**bound, "shape": bound.get("shape", bound.get("input_shape"))})
        if kind.islower() and api.startswith("keras.layers."):
            merging = self._layer(kind.capitalize(), [], named, line, file)
            return self.walk.invoke(merging, given[:1], {})
        return self._layer(kind, given, named, line, file)

    def _layer(self, kind: str, given: list[Any], named: dict[str, Any], line: int, file: str) -> Any:
        if kind == "Bidirectional" or kind == "TimeDistributed":
            inner = given[0] if given else named.get("layer")
            if not isinstance(inner, Layer):
                return Layer(kind, {"layer": UNKNOWN}, file, line, self.name(kind))
        return layers.layer(kind, given, named, file, line, self.name(kind))

    def application(self, api: str, given: list[Any], named: dict[str, Any], line: int, file: str) -> Any:
        """A model of `keras.applications`: one layer, whose parts are known."""
        kind, bound = api.rpartition(".")[2], bind(api, given, named)
        base = Layer(f"{APPLICATION}{kind}", bound, file, line, self._named(bound.get("name"), kind))
        start = bound.get("input_tensor")
        if not isinstance(start, Node):
            shape = bound.get("input_shape")
            start = self.input({"shape": self._image(kind, bound) if shape is None else shape})
        if not isinstance(start, Node):
            return base
        end = self.walk.symbolic(base, [start], {})
        return self.functional(start, end, base.name) if isinstance(end, Node) else base

    def _image(self, kind: str, bound: dict[str, Any]) -> tuple[int | None, ...]:
        """The image that a model takes where nothing is said: any, unless a classifier stands on top."""
        side = None if bound.get("include_top", True) is False else FAMILIES.get(kind, (None, None))[1]
        return side, side, 3

    def input(self, bound: dict[str, Any]) -> Any:
        """The beginning of a model."""
        shape, dtype = bound.get("shape"), bound.get("dtype")
        batch = bound.get("batch_size")
        if bound.get("batch_shape") is not None:
            whole = items_of(bound["batch_shape"]) or [None]
            batch, shape = whole[0], tuple(whole[1:])
        sizes = (shape,) if isinstance(shape, int) else items_of(shape)
        if sizes is None:
            return UNKNOWN
        known = tuple(
            each if isinstance(each, int) and not isinstance(each, bool) else None for each in sizes
        )
        kind = dtype.dotted.rpartition(".")[2] if isinstance(dtype, Name) else dtype
        kind = kind if isinstance(kind, str) else "float32"
        name = bound.get("name")
        array = Array(kind, (batch if isinstance(batch, int) else None, *known))
        return Node(array, name=name if isinstance(name, str) else "")

    def sequential(self, layers: Any, name: Any) -> Any:
        """A model from a list of layers."""
        model = Model("sequential", born=self.walk.context.uncertain, name=self._named(name, "Sequential"))
        listed = [] if layers is None else items_of(layers)
        if listed is None:
            model.known = False
        for each in listed or []:
            self.add(model, each)
        return model

    def _named(self, name: Any, kind: str) -> str:
        return name if isinstance(name, str) else self.name(kind)

    def add(self, model: Model, layer: Any) -> None:
        """Put a layer behind the others."""
        if self.walk.context.uncertain > model.born or not isinstance(layer, (Layer, Model, Instance, Node)):
            model.known = False
        model.layers.append(layer)

    def functional(self, inputs: Any, outputs: Any, name: Any) -> Any:
        """A model from its inputs and outputs."""
        model = Model(
            "functional",
            inputs=inputs,
            outputs=outputs,
            born=self.walk.context.uncertain,
            name=self._named(name, "Functional"),
        )
        model.known = bool(nodes(inputs)) and bool(nodes(outputs)) and only_nodes(outputs)
        return model
