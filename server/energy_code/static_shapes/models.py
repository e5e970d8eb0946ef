"""Keras models as lists of layers with their shapes: Sequential and functional ones, with literal arguments."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes import parameters
from energy_code.static_shapes.values import UNKNOWN, Asked, Dataset, Layer, Model, Name, Node
from energy_data.prediction.layers import RULES, UnknownLayerError, layer_cost
from energy_data.prediction.specs import Job, LayerSpec, Tensor
from energy_data.prediction.specs import Method as JobMethod

BATCH = 32
"""What Keras takes where nothing is said."""
JOBS: dict[str, JobMethod] = {name: name for name in ("fit", "evaluate", "predict")}
SINGLE: dict[str, JobMethod] = {
    name: name for name in ("train_on_batch", "test_on_batch", "predict_on_batch")
}
PLAIN = (int, float, str, bool, tuple, list, type(None))


class KerasModels:
    """Makes models, and says what their methods are given."""

    def __init__(self, file: str) -> None:
        self.file = file

    def made(self, api: str, given: list[Any], named: dict[str, Any], line: int) -> Any:
        """What a call of Keras' classes and functions gives."""
        kind = api.rpartition(".")[2]
        if kind == "Sequential":
            return self.sequential(given[0] if given else named.get("layers", []))
        if kind == "Model" and (given or named):
            bound = {**dict(zip(("inputs", "outputs"), given, strict=False)), **named}
            return self.functional(bound.get("inputs"), bound.get("outputs"))
        if kind in ("Input", "InputLayer"):
            bound = {**dict(zip(parameters.LAYERS["Input"], given, strict=False)), **named}
            return self.input(bound.get("shape", bound.get("input_shape")), bound.get("dtype"))
        if api.startswith("keras.optimizers."):
            momentum = named.get("momentum", 0.0)
            return Name(f"keras.optimizers.{'Momentum' if kind == 'SGD' and momentum else kind}")
        if api.startswith("keras.layers."):
            names = parameters.LAYERS.get(kind, ())
            if len(given) > len(names):
                return UNKNOWN
            config = {**dict(zip(names, given, strict=False)), **named}
            inner = config.get("layer")
            if isinstance(inner, Layer):
                config["layer"] = {"kind": inner.kind, "config": inner.config}
            return Layer(
                kind,
                {name: value for name, value in config.items() if isinstance(value, (*PLAIN, dict))},
                line,
            )
        return UNKNOWN

    def input(self, shape: Any, dtype: Any) -> Any:
        """The beginning of a model."""
        if not isinstance(shape, (tuple, list)) or not all(isinstance(size, int) for size in shape):
            return UNKNOWN
        return Node(Tensor(dtype if isinstance(dtype, str) else "float32", (1, *shape)))

    def sequential(self, layers: Any) -> Any:
        """A model from a list of layers."""
        model = Model()
        if not isinstance(layers, list):
            return UNKNOWN
        for layer in layers:
            self.add(model, layer)
        return model

    def add(self, model: Model, layer: Any) -> None:
        """Put a layer behind the others."""
        if isinstance(layer, Node):
            model.layers.append(LayerSpec("InputLayer", (layer.tensor,)))
        elif isinstance(layer, Model) and layer.known and layer.layers and not model.layers:
            model.layers += layer.layers
        elif isinstance(layer, Layer):
            if not model.layers:
                shape = layer.config.get("input_shape")
                start = self.input(shape, None)
                if isinstance(start, Node):
                    model.layers.append(LayerSpec("InputLayer", (start.tensor,)))
                else:
                    model.known = model.known and layer.kind in RULES
                    model.layers.append(self._waiting(layer, len(model.layers)))
                    return
            last = model.layers[-1]
            if not last.inputs:
                model.layers.append(self._waiting(layer, len(model.layers)))
            else:
                self._chain(model, layer, last)
        else:
            model.known = False

    def _waiting(self, layer: Layer, number: int) -> LayerSpec:
        return LayerSpec(
            layer.kind, (), layer.config, f"{layer.kind.lower()}_{number}", self.file, layer.line
        )

    def _chain(self, model: Model, layer: Layer, last: LayerSpec) -> None:
        try:
            before = layer_cost(last).output
        except UnknownLayerError:
            model.known = False
            return
        name = f"{layer.kind.lower()}_{len(model.layers)}"
        model.layers.append(LayerSpec(layer.kind, (before,), layer.config, name, self.file, layer.line))

    def apply(self, function: Any, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        """A layer or a model called with tensors of a functional model."""
        values = list(given[0]) if given and isinstance(given[0], (list, tuple)) else list(given)
        if isinstance(function, Layer) and values and all(isinstance(value, Node) for value in values):
            inputs = tuple(value.tensor for value in values)
            if function.kind == "MultiHeadAttention":
                inputs = inputs[:2]
            spec = LayerSpec(function.kind, inputs, function.config)
            try:
                output = layer_cost(spec).output
            except UnknownLayerError:
                return UNKNOWN, None
            step = (function, tuple(values), output)
            before: dict[int, Any] = {}
            for value in values:
                for each in value.layers:
                    before.setdefault(id(each), each)
            return Node(output, (*before.values(), step)), None
        return UNKNOWN, None

    def functional(self, inputs: Any, outputs: Any) -> Any:
        """A model from its inputs and outputs."""
        if not isinstance(outputs, Node):
            return UNKNOWN
        model = Model()
        starts = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        for start in starts:
            if not isinstance(start, Node):
                return UNKNOWN
            model.layers.append(LayerSpec("InputLayer", (start.tensor,)))
        for layer, sources, _ in outputs.layers:
            tensors = tuple(source.tensor for source in sources)
            name = f"{layer.kind.lower()}_{len(model.layers)}"
            model.layers.append(LayerSpec(layer.kind, tensors, layer.config, name, self.file, layer.line))
        return model

    def method(
        self, model: Model, name: str, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        """A method of a model: what it is given decides how many steps it takes."""
        bound = {**dict(zip(parameters.CALLS.get(name, ()), given, strict=False)), **named}
        if name == "add" and given:
            self.add(model, given[0])
            return None, None
        if name == "compile":
            optimizer = bound.get("optimizer", "rmsprop")
            kind = optimizer.dotted.rpartition(".")[2] if isinstance(optimizer, Name) else optimizer
            model.known = model.known and isinstance(kind, str)
            model.optimizer = kind if isinstance(kind, str) else model.optimizer
            return None, None
        if name not in JOBS and name not in SINGLE:
            return UNKNOWN, None
        asked = self._asked(model, name, bound)
        model.traced.add(name)
        if name == "predict" and asked is not None and asked.model is not None:
            output = layer_cost(asked.model.layers[-1]).output
            data = bound.get("x")
            count = data.shape[0] if isinstance(data, Tensor) else output.shape[0]
            return Tensor(output.dtype, (count, *output.shape[1:])), asked
        return UNKNOWN, asked

    def _asked(self, model: Model, name: str, bound: dict[str, Any]) -> Asked | None:
        data, batch = bound.get("x"), bound.get("batch_size")
        batch = BATCH if batch is None else batch
        epochs = bound.get("epochs", 1)
        if not model.known or not isinstance(batch, int) or not isinstance(epochs, int) or batch < 1:
            return None
        if isinstance(data, Dataset) and data.batch:
            element, steps, batch = data.elements[0], data.count, data.batch
        elif isinstance(data, Tensor) and data.shape:
            count = data.shape[0]
            split = bound.get("validation_split", 0.0)
            if not isinstance(split, (int, float)) or isinstance(bound.get("validation_data"), type(UNKNOWN)):
                return None
            trained = int(count * (1 - split)) if split else count
            element = Tensor(data.dtype, data.shape[1:])
            batch = count if name in SINGLE else min(batch, max(trained, 1))
            steps = 1 if name in SINGLE else -(-trained // batch)
        else:
            return None
        limited = bound.get("steps_per_epoch", bound.get("steps"))
        if limited is not None:
            if not isinstance(limited, int):
                return None
            steps = min(steps, limited)
        if not self._fill(model, element):
            return None
        validation = self._validation(bound, batch, data)
        if validation is None:
            return None
        job = Job(
            (JOBS | SINGLE)[name], steps, epochs if name == "fit" else 1, name not in model.traced, validation
        )
        shape = (
            str(data)
            if isinstance(data, Tensor)
            else f"{Tensor(element.dtype, (batch, *element.shape))} × {steps}"
        )
        return Asked(model=model.batched(batch), job=job, shape=shape)

    def _validation(self, bound: dict[str, Any], batch: int, data: Any) -> int | None:
        """Steps of the validation after each epoch; None where they are not known."""
        split, given = bound.get("validation_split", 0.0), bound.get("validation_data")
        if split and isinstance(split, (int, float)) and isinstance(data, Tensor):
            return -(-(data.shape[0] - int(data.shape[0] * (1 - split))) // batch)
        if given is None:
            return 0
        if isinstance(given, Dataset) and given.batch:
            return given.count
        first = given[0] if isinstance(given, (tuple, list)) and given else None
        return -(-first.shape[0] // batch) if isinstance(first, Tensor) and first.shape else None

    def _fill(self, model: Model, element: Tensor) -> bool:
        """Give the shapes of the data to a model that was made without; False where a layer is not known."""
        if not model.layers:
            return False
        if not model.layers[0].inputs:
            waiting, model.layers[:] = (
                list(model.layers),
                [LayerSpec("InputLayer", (Tensor(element.dtype, (1, *element.shape)),))],
            )
            for layer in waiting:
                self._chain(model, Layer(layer.kind, layer.config, layer.line), model.layers[-1])
        if not model.known:
            return False
        try:
            for layer in model.layers:
                layer_cost(layer)
        except UnknownLayerError:
            return False
        return True
