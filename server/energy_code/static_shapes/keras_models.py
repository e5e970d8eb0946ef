"""Keras models: made of a list, of a graph or of a class, and what their methods are given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from energy_code.static_shapes import keras_layers
from energy_code.static_shapes.datasets import ENDLESS
from energy_code.static_shapes.expressions import items_of
from energy_code.static_shapes.values import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Asked,
    Dataset,
    Function,
    Instance,
    Layer,
    Made,
    Model,
    Name,
    Node,
    arrays_of,
    mapped,
)  # fmt: skip
from energy_data.prediction.specs import Job, LayerSpec, ModelSpec, Tensor
from energy_data.prediction.specs import Method as JobMethod

if TYPE_CHECKING:
    from energy_code.static_shapes.walk import Walk

BATCH = 32
"""What Keras takes where nothing is said."""
MANY: dict[str, JobMethod] = {name: name for name in ("fit", "evaluate", "predict")}
SINGLE: dict[str, JobMethod] = {
    name: name for name in ("train_on_batch", "test_on_batch", "predict_on_batch")
}
WEIGHTS = "Weights"
"""Stands among the layers of a model for the weights that its own classes make."""


class KerasModels:
    """Makes and applies layers and models for a walk."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.counts: dict[str, int] = {}
        self.path: list[str] = []
        self.frozen = 0
        """Depth of models whose weights are not trained."""

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
            return self.input(keras_layers.bind("keras.layers.Input", given, named))
        if api == "keras.layers.InputLayer":
            bound = keras_layers.bind(api, given, named)
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
        return keras_layers.layer(kind, given, named, file, line, self.name(kind))

    def application(self, kind: str, given: list[Any], named: dict[str, Any], line: int, file: str) -> Any:
        """A model of `keras.applications`: what it gives is known, what it costs is not."""
        names = ("include_top", "weights", "input_tensor", "input_shape", "pooling", "classes")
        bound = {**dict(zip(names, given, strict=False)), **named}
        base = Layer(f"applications.{kind}", bound, file, line, kind.lower())
        start = bound.get("input_tensor")
        if not isinstance(start, Node):
            shape = bound.get("input_shape")
            start = self.input({"shape": shape if shape is not None else (224, 224, 3)})
        if not isinstance(start, Node):
            return base
        end = self.walk.symbolic(base, [start], {})
        return self.functional(start, end, kind.lower()) if isinstance(end, Node) else base

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
        return Node(Array(kind, (batch if isinstance(batch, int) else None, *known)))

    def sequential(self, layers: Any, name: Any) -> Any:
        """A model from a list of layers."""
        model = Model("sequential", born=self.walk.uncertain, name=self._named(name, "Sequential"))
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
        if self.walk.uncertain > model.born or not isinstance(layer, (Layer, Model, Instance, Node)):
            model.known = False
        model.layers.append(layer)

    def functional(self, inputs: Any, outputs: Any, name: Any) -> Any:
        """A model from its inputs and outputs."""
        model = Model(
            "functional",
            inputs=inputs,
            outputs=outputs,
            born=self.walk.uncertain,
            name=self._named(name, "Functional"),
        )
        model.known = bool(_nodes(inputs)) and bool(_nodes(outputs)) and _only_nodes(outputs)
        return model

    def apply_layer(self, layer: Layer, given: list[Any], named: dict[str, Any]) -> Any:
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
        found = UNKNOWN if inputs is None else keras_layers.outputs(layer, inputs, config)
        self.walk.applied(self.spec(layer.kind, inputs, config, layer.name, layer.file, layer.line))
        return found

    def spec(
        self, kind: str, inputs: list[Array] | None, config: dict[str, Any], name: str, file: str, line: int
    ) -> LayerSpec | None:
        """A layer as a prediction is asked about it; None where its shapes or arguments are not known."""
        if inputs is None or any(
            value is UNKNOWN for key, value in config.items() if key in keras_layers.DECISIVE
        ):
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

    def apply_model(self, model: Model, given: list[Any], named: dict[str, Any]) -> Any:
        """A model called with arrays, layer by layer."""
        walk = self.walk
        outer = self.path
        if walk.trace is not None and walk.trace:
            self.path = [*outer, model.name] if model.name else outer
        self.frozen += not model.trainable
        try:
            if not model.known:
                walk.applied(None)
                return UNKNOWN
            if model.kind == "sequential" and not self._has_call(model):
                value = given[0] if given else UNKNOWN
                for layer in model.layers:
                    value = value if isinstance(layer, Node) else walk.invoke(layer, [value], {})
                return value
            if model.kind == "functional":
                return self._graph(model, given)
            return (
                self.apply_instance(model.instance, given, named) if model.instance is not None else UNKNOWN
            )
        finally:
            self.path = outer
            self.frozen -= not model.trainable

    def _has_call(self, model: Model) -> bool:
        return model.instance is not None and isinstance(model.instance.cls.find("call"), Function)

    def apply_instance(self, owner: Instance, given: list[Any], named: dict[str, Any]) -> Any:
        """A layer or a model of the program's own class."""
        walk = self.walk
        given = [_floats(each) for each in given]
        call = owner.cls.find("call")
        if not isinstance(call, Function):
            walk.applied(None)
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
        if owner.weights and walk.trace is not None:
            sizes = [one.tensor for one in owner.weights]
            amount = {
                "variables": len(sizes),
                "parameters": sum(each.elements for each in sizes if each is not None),
            }
            place = Tensor("float32", (1,))
            complete = all(each is not None for each in sizes)
            walk.applied(LayerSpec(WEIGHTS, (place,), amount, owner.name, "", 0) if complete else None)
        return found

    def _graph(self, model: Model, given: list[Any]) -> Any:
        """The calls that lead from the inputs to the outputs, with what is given now."""
        starts, values = _nodes(model.inputs), _leaves(given[0] if given else UNKNOWN)
        if len(starts) == 1 and len(values) > 1 and not isinstance(given[0], (dict, list, tuple)):
            values = values[:1]
        if len(starts) != len(values):
            self.walk.applied(None)
            return UNKNOWN
        known: dict[int, Any] = {
            id(start): _as_declared(value, start) for start, value in zip(starts, values, strict=True)
        }
        calls: dict[tuple[int, int], Any] = {}

        def resolved(value: Any) -> Any:
            return mapped(
                value, lambda leaf: known.get(id(leaf), UNKNOWN) if isinstance(leaf, Node) else leaf
            )

        for node in _in_order(model.outputs, starts):
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

    def method(
        self, model: Model, name: str, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        """A method of a model: what it is given decides how many steps it takes."""
        bound = keras_layers.bind(f"keras.Model.{name}", given, named)
        if name == "add" and given:
            self.add(model, given[0])
            return None, None
        if name == "pop":
            model.known = model.known and self.walk.uncertain <= model.born
            return (model.layers.pop() if model.layers else None), None
        if name == "compile":
            self._compile(model, bound)
            return None, None
        if name in ("build", "summary"):
            return None, None
        if name == "get_layer":
            return UNKNOWN, None
        if name not in MANY and name not in SINGLE:
            return UNKNOWN, None
        asked, result = self._asked(model, name, bound)
        model.traced.add(name)
        if name == "fit" and (bound.get("validation_data") is not None or bound.get("validation_split")):
            model.traced.add("evaluate")
        return result, asked

    def _compile(self, model: Model, bound: dict[str, Any]) -> None:
        optimizer = bound.get("optimizer", "rmsprop")
        kind = optimizer.api.rpartition(".")[2] if isinstance(optimizer, Made) else optimizer
        model.optimizer = kind if isinstance(kind, str) else "Adam"
        model.eager = bound.get("run_eagerly") not in (None, False)
        model.traced.clear()

    def _asked(self, model: Model, name: str, bound: dict[str, Any]) -> tuple[Asked | None, Any]:
        """What a method is given, and what it gives."""
        data = Data(self.walk, bound, single=name in SINGLE, training=name == "fit")
        if data.batch is None:
            return data.only_shape(), UNKNOWN
        self.walk.inside += 1
        try:
            spec, outputs = self.gone_through(model, data.batch, training=name in ("fit", "train_on_batch"))
        finally:
            self.walk.inside -= 1
        result: Any = UNKNOWN
        if name in ("predict", "predict_on_batch"):
            result = mapped(
                outputs,
                lambda one: (
                    Array(one.dtype, (data.samples, *one.shape[1:]), True)
                    if isinstance(one, Array)
                    else UNKNOWN
                ),
            )
        epochs = bound.get("epochs", 1)
        start = bound.get("initial_epoch", 0)
        validation = data.validation() if name == "fit" else 0
        known = (
            isinstance(epochs, int) and isinstance(start, int) and epochs > start and validation is not None
        )
        if spec is None or not known or data.steps is None or model.eager or self._own_step(model, name):
            return data.only_shape(), result
        job = Job(
            (MANY | SINGLE)[name], data.steps, epochs - start if name == "fit" else 1, name not in model.traced,
            validation or 0,
        )  # fmt: skip
        return Asked(model=spec, job=job, shape=data.shape), result

    def _own_step(self, model: Model, name: str) -> bool:
        """Whether the program says itself what a step does."""
        own = {"fit": "train_step", "evaluate": "test_step", "predict": "predict_step"}.get(name, "")
        return model.instance is not None and model.instance.cls.find(own) is not None

    def gone_through(
        self, model: Model, batch: Any, *, training: bool = False
    ) -> tuple[ModelSpec | None, Any]:
        """The layers of a model with the shapes of a batch, and what comes out."""
        walk = self.walk
        before, path, frozen = walk.trace, self.path, self.frozen
        walk.trace, self.path, self.frozen = [], [], 0
        try:
            outputs = self.apply_model(model, [batch], {"training": training})
            layers = walk.trace
        finally:
            walk.trace, self.path, self.frozen = before, path, frozen
        inputs = arrays_of(batch)
        if not layers or any(each is None for each in layers) or inputs is None or inputs[0].tensor is None:
            return None, outputs
        starts = [LayerSpec("InputLayer", (one.tensor,)) for one in inputs if one.tensor is not None]
        return ModelSpec((*starts, *layers), model.optimizer), outputs


class Data:
    """What a method of a model is given: batches, how many, and what is said of them."""

    def __init__(self, walk: Walk, bound: dict[str, Any], *, single: bool, training: bool) -> None:
        self.walk, self.bound = walk, bound
        self.given = bound.get("x")
        self.batch: Any = None
        self.steps: int | None = None
        self.samples: int | None = None
        self.size: int | None = None
        self.held_out = 0
        limit = bound.get("steps_per_epoch", bound.get("steps"))
        if isinstance(self.given, Instance):
            self._sequence(self.given)
        elif isinstance(self.given, Dataset):
            self._dataset(self.given)
        else:
            self._arrays(limit, single, training)
        if limit is not None:
            known = isinstance(limit, int) and not isinstance(limit, bool)
            self.steps = (
                None if not known else limit if self.steps in (None, ENDLESS) else min(self.steps or 0, limit)
            )
        if self.steps == ENDLESS:
            self.steps = None
        found = (
            arrays_of(self.given if not isinstance(self.given, Dataset) else self._inputs(self.given.element))
            or []
        )
        if isinstance(self.given, Instance):
            found = arrays_of(self.batch) or []
        self.shape = ", ".join(map(str, found)) if found else ""

    def only_shape(self) -> Asked | None:
        """The shape where nothing can be predicted from it."""
        return Asked(shape=self.shape) if self.shape else None

    def _inputs(self, element: Any) -> Any:
        return element[0] if isinstance(element, tuple) and element else element

    def _sequence(self, owner: Instance) -> None:
        """A `PyDataset` of the program."""
        get, length = owner.cls.find("__getitem__"), owner.cls.find("__len__")
        if isinstance(get, Function):
            element = self.walk.enter(get, [owner, SOME_NUMBER], {})
            batch = self._inputs(element)
            self.batch = _floats(batch) if arrays_of(batch) else None
        steps = self.walk.enter(length, [owner], {}) if isinstance(length, Function) else None
        self.steps = steps if isinstance(steps, int) else None

    def _dataset(self, data: Dataset) -> None:
        batch = self._inputs(data.element)
        found = arrays_of(batch)
        if found and all(one.shape for one in found):
            self.batch, self.size = batch, data.batch or None
        self.steps = data.count
        if data.count not in (None, ENDLESS) and data.batch:
            missing = data.batch - data.rest if data.rest else 0
            self.samples = data.count * data.batch - missing

    def _arrays(self, limit: Any, single: bool, training: bool) -> None:
        found = arrays_of(self.given)
        if not found or not all(one.shape for one in found):
            return
        count = found[0].shape[0]
        self.samples = count
        asked = self.bound.get("batch_size")
        if count is None:
            size = _batch_size(asked, None, limit)
            self.batch = (
                _floats(self.given)
                if single
                else mapped(_floats(self.given), lambda one: Array(one.dtype, (size, *one.shape[1:])))
            )
            return
        split = self.bound.get("validation_split", 0.0) if training else 0.0
        if not isinstance(split, (int, float)):
            return
        trained = int(count * (1 - split)) if split else count
        size = _batch_size(asked, trained, limit)
        if size is None:
            return
        self.size = count if single else min(size, max(trained, 1))
        self.batch = mapped(_floats(self.given), lambda one: Array(one.dtype, (self.size, *one.shape[1:])))
        self.steps = 1 if single else -(-trained // self.size)
        self.held_out = count - trained

    def validation(self) -> int | None:
        """Steps of the validation after each epoch; None where they are not known."""
        split, given = self.bound.get("validation_split", 0.0), self.bound.get("validation_data")
        asked = self.bound.get("validation_batch_size", self.bound.get("batch_size"))
        limit = self.bound.get("validation_steps")
        if self.bound.get("validation_freq", 1) != 1:
            return None
        if split and isinstance(split, (int, float)) and given is None:
            return self._checked(self.held_out, asked, limit)
        if given is None:
            return 0
        if isinstance(given, Dataset):
            if isinstance(limit, int):
                return limit if given.count in (None, ENDLESS) else min(limit, given.count or 0)
            return None if given.count in (None, ENDLESS) or limit is not None else given.count
        parts = items_of(given)
        first = arrays_of(parts[0]) if parts else None
        if not first or not first[0].shape or first[0].shape[0] is None:
            return None
        return self._checked(first[0].shape[0], asked, limit)

    def _checked(self, samples: int, asked: Any, limit: Any) -> int | None:
        """Steps over arrays, in batches as large as those of the training, which a step's cost is known for."""
        size = _batch_size(asked, samples, limit)
        if size is None or self.size is None or (limit is not None and not isinstance(limit, int)):
            return None
        used = samples if limit is None else min(samples, size * limit)
        return -(-used // self.size)


def _batch_size(asked: Any, samples: int | None, limit: Any) -> int | None:
    """The batches that Keras makes of arrays: where only steps are said, as large as these need; None: not known."""
    if asked is not None:
        return asked if isinstance(asked, int) and asked > 0 else None
    if limit is None:
        return BATCH
    known = isinstance(limit, int) and limit > 0 and samples is not None
    return max(1, -(-samples // limit)) if known and samples is not None else None


def _as_declared(value: Any, start: Node) -> Any:
    """What a model's `Input` makes of what it is given: its own dtype."""
    texts = "string" in (start.array.dtype, getattr(value, "dtype", ""))
    return replace(value, dtype=start.array.dtype) if isinstance(value, Array) and not texts else value


def _floats(value: Any) -> Any:
    """What Keras makes of arrays of NumPy before a model sees them."""
    return mapped(
        value,
        lambda one: (
            Array("float32" if one.dtype == "float64" else one.dtype, one.shape)
            if isinstance(one, Array)
            else one
        ),
    )


def _nodes(value: Any) -> list[Node]:
    return [each for each in _leaves(value) if isinstance(each, Node)]


def _only_nodes(value: Any) -> bool:
    return all(isinstance(each, Node) for each in _leaves(value))


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value]


def _in_order(outputs: Any, starts: list[Node]) -> list[Node]:
    """The nodes that lead to the outputs, each after those it is made from."""
    done = {id(start) for start in starts}
    order: list[Node] = []
    waiting: list[tuple[Node, bool]] = [(node, False) for node in reversed(_nodes(outputs))]
    while waiting:
        node, ready = waiting.pop()
        if id(node) in done:
            continue
        if ready or node.function is None:
            done.add(id(node))
            if node.function is not None:
                order.append(node)
            continue
        waiting.append((node, True))
        sources = [*_nodes(node.given), *_nodes(dict(node.named))]
        waiting += [(each, False) for each in reversed(sources) if id(each) not in done]
    return order
