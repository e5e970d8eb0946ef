"""Which library a call is of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.libraries import (
    datasets,
    known_datasets,
    numpy_calls,
    python_calls,
    python_methods,
    tfds,
)
from energy_code.static_shapes.library_calls import array_methods
from energy_code.static_shapes.library_calls.asked import asked_of, safe
from energy_code.static_shapes.library_calls.tensorflow_calls import TensorFlowCalls
from energy_code.static_shapes.models.applying import Application
from energy_code.static_shapes.models.building import Builder
from energy_code.static_shapes.models.gradients import Gradients
from energy_code.static_shapes.models.methods import ModelMethods
from energy_code.static_shapes.models.trace import ModelTrace
from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.parameters import bind
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Asked,
    Dataset,
    Function,
    Instance,
    Items,
    Layer,
    Made,
    Method,
    Model,
    Name,
    Super,
    Table,
    Tape,
)
from energy_code.static_shapes.values.structures import (
    arrays_of,
)
from energy_data.catalogue.naming import canonical
from energy_data.prediction.specs import ModelUse

LIBRARIES = ("tensorflow", "keras", "tf_keras", "tensorflow_addons")
OPTIMIZERS = "keras.optimizers."
OPERATOR = "(operator)."
"""What an operator between tensors of a functional model is called."""


class Libraries:
    """Answers what a call of a library gives, and what it was given. No state of its own."""

    def __init__(self, walk: Walk, trace: ModelTrace, gradients: Gradients) -> None:
        self.walk, self.trace, self.gradients = walk, trace, gradients
        self.builder = Builder(walk)
        self.application = Application(walk, trace)
        self.methods = ModelMethods(walk, self.builder, self.application)
        self.tensorflow = TensorFlowCalls(walk, trace, self.builder)

    def call(
        self, function: Any, given: list[Any], named: dict[str, Any], line: int, file: str
    ) -> tuple[Any, Asked | None]:
        """The value of a call, and what it was given if that is worth keeping."""
        if isinstance(function, Layer):
            return self._seen(self.application.layer, function, given, named), self._layer_call(given)
        if isinstance(function, Model):
            return self._model_call(function, given, named)
        if isinstance(function, Instance):
            return self._instance_call(function, given, named)
        if isinstance(function, Method):
            return self._method(function, given, named)
        if isinstance(function, Made):
            return self.tensorflow.called(f"{function.api}.__call__", given, named)
        if isinstance(function, Name):
            return self._named(function.dotted, given, named, line, file)
        return UNKNOWN, None

    def _seen(self, apply: Callable[..., Any], what: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """Apply a layer; outside of a model the tapes that look on see what it is made of."""
        if self.trace.active or not self.gradients.tapes:
            return apply(what, given, named)
        with self.trace.fresh() as applied:
            result = apply(what, given, named)
        known = tuple(layer for layer in applied if layer is not None)
        self.gradients.saw(known if known and len(known) == len(applied) else None)
        return result

    def _layer_call(self, given: list[Any]) -> Asked | None:
        found = arrays_of(tuple(given[:1])) if given else None
        return Asked(shape=", ".join(map(str, found))) if found else None

    def _model_call(self, model: Model, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        if self.trace.active:
            return self.application.model(model, given, named), self._layer_call(given)
        training = named.get("training") is True
        spec, outputs = self.application.gone_through(
            model, given[0] if given else UNKNOWN, training=training
        )
        asked = self._layer_call(given)
        model.applied = spec
        self.gradients.saw(None if spec is None else spec.layers)
        if spec is None or asked is None:
            return outputs, asked
        job = ModelUse("call", 1, first="call" not in model.traced)
        model.traced.add("call")
        return outputs, Asked(model=spec, job=job, shape=asked.shape)

    def _instance_call(
        self, owner: Instance, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        own = owner.cls.find("__call__")
        if isinstance(own, Function):
            return self.walk.enter(own, [owner, *given], named), None
        if owner.model is not None:
            return self._model_call(owner.model, given, named)
        return self._seen(self.application.instance, owner, given, named), self._layer_call(given)

    def _named(
        self, dotted: str, given: list[Any], named: dict[str, Any], line: int, file: str
    ) -> tuple[Any, Asked | None]:
        first = dotted.split(".")[0]
        if dotted in python_calls.FUNCTIONS:
            return safe(lambda: python_calls.FUNCTIONS[dotted](given, named)), None
        if dotted.startswith(OPERATOR):
            return self._operator(dotted.removeprefix(OPERATOR), given), None
        if first == "numpy":
            return safe(lambda: numpy_calls.called(dotted, given, named)), None
        if first == "tensorflow_datasets":
            return self._tfds(dotted, given, named), None
        if first == "tensorflow_hub":
            return self._hub(dotted, given, named, line, file), None
        if dotted.startswith("sklearn.") and dotted.endswith("train_test_split"):
            return safe(lambda: numpy_calls.train_test_split(given, named)), None
        if first not in LIBRARIES:
            return UNKNOWN, None
        return self.tensorflow.called(
            canonical(dotted.replace("tf_keras", "keras", 1)), given, named, line, file
        )

    def _operator(self, sign: str, given: list[Any]) -> Any:
        if sign == "[]":
            return self.walk.item(given[0], given[1])
        return self.walk.combined(sign, given[0], given[1])

    def _tfds(self, dotted: str, given: list[Any], named: dict[str, Any]) -> Any:
        name = dotted.rpartition(".")[2]
        if name == "load":
            bound = {**dict(zip(("name",), given, strict=False)), **named}
            return safe(lambda: tfds.load(bound))
        if name == "as_numpy" and given:
            return safe(lambda: datasets.as_numpy(given[0]))
        if name == "builder" and given and isinstance(given[0], str):
            return Table(
                {"": "builder", "name": given[0], "info": tfds.information(known_datasets.tfds(given[0]))}
            )
        return UNKNOWN

    def _hub(self, dotted: str, given: list[Any], named: dict[str, Any], line: int, file: str) -> Any:
        if dotted.endswith("KerasLayer"):
            config = {key: value for key, value in named.items() if key in ("output_shape", "trainable")}
            return Layer("hub.KerasLayer", config, file, line, self.builder.name("KerasLayer"))
        return UNKNOWN

    def _method(self, function: Method, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        owner, name = function.owner, function.name
        if isinstance(owner, Model):
            return self.methods.method(owner, name, given, named)
        if isinstance(owner, Super):
            return self._super(owner, name, given, named)
        if isinstance(owner, Instance):
            return self._instance_method(owner, name, given, named)
        if isinstance(owner, Dataset):
            bound = bind(f"tensorflow.data.Dataset.{name}", given, named)
            return safe(lambda: datasets.method(owner, name, bound, self.walk)), None
        if isinstance(owner, Array):
            return array_methods.array_method(owner, name, given, named)
        if isinstance(owner, str):
            return python_methods.text_method(owner, name, given), None
        if isinstance(owner, Items):
            return python_methods.list_method(
                owner, name, given, self.walk.context.uncertain <= owner.born
            ), None
        if python_calls.is_parser(owner):
            return python_calls.parser_method(owner, name, given, named), None
        if isinstance(owner, Table) and owner.get("") == "builder":
            return self._builder(owner, name, given, named), None
        if isinstance(owner, Table):
            return python_methods.table_method(
                owner, name, given, named, self.walk.context.uncertain <= owner.born
            ), None
        if isinstance(owner, Made) and owner.api.startswith(OPTIMIZERS):
            if name in ("apply_gradients", "apply", "minimize"):
                self.trace.optimizer = owner.api.rpartition(".")[2]
            return UNKNOWN, None
        if isinstance(owner, Made):
            return UNKNOWN, asked_of(f"{owner.api}.{name}", given, named)
        if isinstance(owner, Tape):
            goes_back = name == "gradient" and not self.trace.active
            return UNKNOWN, self.gradients.gradient(owner) if goes_back else None
        if isinstance(owner, Layer) and name == "adapt":
            return None, None
        return UNKNOWN, None

    def _builder(self, owner: Table, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        """What `tfds.builder` gives has the same datasets."""
        if name == "as_dataset":
            bound = {**dict(zip(("split",), given, strict=False)), **named}
            return tfds.split_of(known_datasets.tfds(owner["name"]), bound.get("split"), bound)
        return None

    def _super(
        self, owner: Super, name: str, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        if not isinstance(owner.owner, Instance):
            return UNKNOWN, None
        if name == "__init__":
            self.start(owner.owner, given, named)
            return None, None
        return self._instance_method(owner.owner, name, given, named)

    def start(self, owner: Instance, given: list[Any], named: dict[str, Any]) -> None:
        """What the class of a library makes of what it is given."""
        name = named.get("name")
        owner.name = name if isinstance(name, str) else owner.name or self.builder.name(owner.cls.name)
        if owner.model is None:
            return
        owner.model.name = owner.name
        bound = {**dict(zip(("inputs", "outputs"), given, strict=False)), **named}
        if owner.model.kind == "sequential":
            for each in given[0] if given and isinstance(given[0], Items) else ():
                self.builder.add(owner.model, each)
        elif "outputs" in bound and "inputs" in bound:
            made = self.builder.functional(bound["inputs"], bound["outputs"], owner.name)
            owner.model.kind, owner.model.inputs, owner.model.outputs = (
                "functional",
                made.inputs,
                made.outputs,
            )
            owner.model.known = made.known

    def _instance_method(
        self, owner: Instance, name: str, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        if name == "add_weight":
            shape = named.get("shape", next((each for each in given if isinstance(each, (tuple, list))), ()))
            try:
                weight = Array("float32", arrays.dims(shape) if shape != () else (), False, True)
            except ValueError:
                weight = Array("float32", (None,), False, True)
                owner.weights.append(weight)
                return UNKNOWN, None
            if named.get("trainable") is not False:
                owner.weights.append(weight)
            return weight, None
        if name == "__call__":
            return self._instance_call(owner, given, named)
        if owner.model is not None:
            return self.methods.method(owner.model, name, given, named)
        return UNKNOWN, None
