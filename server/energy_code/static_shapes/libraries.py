"""What calls of NumPy, TensorFlow, Keras and the libraries around them give, and what there is to predict about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from energy_code.static_shapes import (
    arrays,
    datasets,
    known_datasets,
    numpy_parameters,
    operations,
    python_calls,
)
from energy_code.static_shapes.keras_layers import bind
from energy_code.static_shapes.keras_models import KerasModels
from energy_code.static_shapes.values import (
    SOME_NUMBER,
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
    arrays_of,
    mapped,
)  # fmt: skip
from energy_data.catalogue.catalogue import Catalogue
from energy_data.catalogue.naming import canonical
from energy_data.prediction.api_families import FAMILY_OF
from energy_data.prediction.specs import CallSpec

if TYPE_CHECKING:
    from energy_code.static_shapes.walk import Walk

GENERATORS = ("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator")
LIBRARIES = ("tensorflow", "keras", "tf_keras", "tensorflow_addons")
DATA = "tensorflow.data."
FLOW = {
    "tensorflow.function",
    "keras.saving.register_keras_serializable",
    "tensorflow.autograph.experimental.do_not_convert",
}
ARRAY_METHODS = {
    "sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "argmax", "argmin", "cumsum", "flatten", "ravel",
    "squeeze", "repeat", "clip", "argsort", "swapaxes", "dot", "round", "take",
}  # fmt: skip
LOSS = "keras.losses."
VALUES = {
    "a",
    "b",
    "x",
    "y",
    "input",
    "input_tensor",
    "values",
    "logits",
    "value",
    "initial_value",
    "indices",
}
"""Parameters whose lists are tensors, not sizes."""
OPERATOR = "(operator)."
"""What an operator between tensors of a functional model is called."""


class Libraries:
    """Answers what a call of a library gives."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.models = KerasModels(walk)

    def call(
        self, function: Any, given: list[Any], named: dict[str, Any], line: int, file: str
    ) -> tuple[Any, Asked | None]:
        """The value of a call, and what it was given if that is worth keeping."""
        if isinstance(function, Layer):
            return self.models.apply_layer(function, given, named), self._layer_call(given)
        if isinstance(function, Model):
            return self._model_call(function, given, named)
        if isinstance(function, Instance):
            return self._instance_call(function, given, named)
        if isinstance(function, Method):
            return self._method(function, given, named)
        if isinstance(function, Made):
            return self._tensorflow(f"{function.api}.__call__", given, named)
        if isinstance(function, Name):
            return self._named(function.dotted, given, named, line, file)
        return UNKNOWN, None

    def _layer_call(self, given: list[Any]) -> Asked | None:
        found = arrays_of(tuple(given[:1])) if given else None
        return Asked(shape=", ".join(map(str, found))) if found else None

    def _model_call(self, model: Model, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        if self.walk.trace is not None:
            return self.models.apply_model(model, given, named), None
        _spec, outputs = self.models.gone_through(
            model, given[0] if given else UNKNOWN, training=named.get("training") is True
        )
        return outputs, self._layer_call(given)

    def _instance_call(
        self, owner: Instance, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        own = owner.cls.find("__call__")
        if isinstance(own, Function):
            return self.walk.enter(own, [owner, *given], named), None
        if owner.model is not None:
            return self._model_call(owner.model, given, named)
        return self.models.apply_instance(owner, given, named), self._layer_call(given)

    def _named(
        self, dotted: str, given: list[Any], named: dict[str, Any], line: int, file: str
    ) -> tuple[Any, Asked | None]:
        first = dotted.split(".")[0]
        if dotted in python_calls.FUNCTIONS:
            return self._safe(lambda: python_calls.FUNCTIONS[dotted](given, named)), None
        if dotted.startswith(OPERATOR):
            return self._operator(dotted.removeprefix(OPERATOR), given), None
        if first == "numpy":
            return self._numpy(dotted, given, named), None
        if first == "tensorflow_datasets":
            return self._tfds(dotted, given, named), None
        if first == "tensorflow_hub":
            return self._hub(dotted, given, named, line, file), None
        if dotted.startswith("sklearn.") and dotted.endswith("train_test_split"):
            return self._safe(lambda: _train_test_split(given, named)), None
        if first not in LIBRARIES:
            return UNKNOWN, None
        return self._tensorflow(canonical(dotted.replace("tf_keras", "keras", 1)), given, named, line, file)

    def _safe(self, ask: Any) -> Any:
        try:
            return ask()
        except (ValueError, TypeError, LookupError, ZeroDivisionError, OverflowError, AttributeError):
            return UNKNOWN

    def _operator(self, sign: str, given: list[Any]) -> Any:
        if sign == "[]":
            return self.walk.item(given[0], given[1])
        return self.walk.combined(sign, given[0], given[1])

    def _tensorflow(
        self, api: str, given: list[Any], named: dict[str, Any], line: int = 0, file: str = ""
    ) -> tuple[Any, Asked | None]:
        short = api.rpartition(".")[2]
        if api in FLOW:
            return (given[0] if given else Name("tensorflow.function")), None
        if api.startswith("keras.datasets.") and short == "load_data":
            return known_datasets.KERAS.get(api.split(".")[2], UNKNOWN) if _usual(
                api, given, named
            ) else UNKNOWN, None
        if api.startswith(DATA):
            return self._data(api, given, named), self._asked(api, given, named)
        if api.startswith("keras.applications."):
            return self._application(api, given, named, line, file), None
        if api in ("keras.Model", "keras.Sequential", "keras.Input", "keras.Function") or api.startswith(
            "keras.layers."
        ):
            return self.models.made(api, given, named, line, file), None
        if api.startswith("keras.optimizers.") and short[:1].isupper():
            momentum = named.get("momentum", given[1] if short == "SGD" and len(given) > 1 else 0.0)
            return Made(f"keras.optimizers.{'Momentum' if short == 'SGD' and momentum else short}"), None
        if api in (
            "keras.utils.image_dataset_from_directory",
            "keras.preprocessing.image_dataset_from_directory",
        ):
            return datasets.from_directory(
                bind("keras.utils.image_dataset_from_directory", given, named)
            ), None
        if api in ("tensorflow.TensorSpec", "tensorflow.RaggedTensorSpec"):
            return datasets.tensor_spec({**dict(zip(("shape", "dtype"), given, strict=False)), **named}), None
        if api.endswith(".shape") and api.startswith("tensorflow.") and given:
            return operations.result("shape", {"input": given[0]}, False), self._asked(api, given, named)
        entry = Catalogue.load().find(api)
        if entry is not None and entry.kind == "class" and api not in FAMILY_OF:
            return Made(api), None
        return self._result(api, given, named), self._asked(api, given, named)

    def _result(self, api: str, given: list[Any], named: dict[str, Any]) -> Any:
        if api.endswith(".__call__") and api.startswith(LOSS):
            return Array("float32", ())
        short = api.rpartition(".")[2]
        if any(_has_unknown(value) for value in given):
            return UNKNOWN
        bound = bind(api, given, named)
        if api.startswith("keras.random."):
            bound = {**dict(zip(("shape",), given[:1], strict=False)), **named}
        numpy = api in ("keras.utils.to_categorical", "keras.utils.pad_sequences") or api.endswith(
            "convert_to_numpy"
        )
        found = operations.result(short, bound, numpy)
        if self.walk.trace is not None and found is not UNKNOWN:
            leaves = [leaf for value in bound.values() for leaf in arrays_of(value) or []]
            if not leaves and isinstance(found, Array):
                leaves = [found]
            self.walk.operation(
                api, leaves, {key: value for key, value in bound.items() if arrays_of(value) is None}
            )
        return found

    def _asked(self, api: str, given: list[Any], named: dict[str, Any]) -> Asked | None:
        """What a call was given: its tensors in order, its constants by name."""
        bound = bind(api, given, named)
        tensors: list[Array] = []
        shown: list[Array] = []
        """Those that are tensors already: measurements note no lists."""
        attributes: dict[str, Any] = {}
        complete = True
        for name, value in bound.items():
            found = arrays_of(value) if not isinstance(value, tuple) or value else None
            if found:
                tensors += found
                shown += found
            elif isinstance(value, (Items, tuple)) and name in VALUES:
                made = arrays.array_of(value, numpy=False)
                complete = complete and isinstance(made, Array)
                tensors += [made] if isinstance(made, Array) else []
            elif _has_unknown(value) or isinstance(value, Method) or _mixed(value):
                complete = False
            elif not isinstance(value, (Name, Made, Layer, Model, Dataset, Function)):
                attributes[name] = value
        if not complete:
            return None
        known = [tensor.tensor for tensor in tensors]
        made = FAMILY_OF.get(api) == "created"
        text = ", ".join(map(str, shown or tensors)) or (_text(attributes) if made else "")
        if api not in FAMILY_OF or any(tensor is None for tensor in known):
            return Asked(shape=text) if tensors else None
        spec = CallSpec(api, tuple(tensor for tensor in known if tensor is not None), attributes)
        return Asked(call=spec, shape=text)

    def _data(self, api: str, given: list[Any], named: dict[str, Any]) -> Any:
        short = api.rpartition(".")[2]
        if short in ("AUTOTUNE", "Options"):
            return UNKNOWN
        bound = bind(f"tensorflow.data.Dataset.{short}", given, named)
        return self._safe(lambda: datasets.made(short, bound, self.walk))

    def _application(self, api: str, given: list[Any], named: dict[str, Any], line: int, file: str) -> Any:
        short = api.rpartition(".")[2]
        if short == "preprocess_input":
            return (
                mapped(
                    given[0],
                    lambda one: (
                        Array("float32" if one.dtype != "float64" else one.dtype, one.shape, one.numpy)
                        if isinstance(one, Array)
                        else UNKNOWN
                    ),
                )
                if given
                else UNKNOWN
            )
        if not short[:1].isupper():
            return UNKNOWN
        return self.models.application(short, given, named, line, file)

    def _numpy(self, dotted: str, given: list[Any], named: dict[str, Any]) -> Any:
        if dotted in GENERATORS:
            return Name("numpy.random")
        name = dotted.rpartition(".")[2]
        random = dotted.startswith("numpy.random.")
        names = numpy_parameters.PARAMETERS.get(f"random.{name}" if random else name, ())
        bound = {names[at] if at < len(names) else f"#{at}": value for at, value in enumerate(given)} | named
        if any(
            _has_unknown(value)
            for key, value in bound.items()
            if key not in ("low", "high", "loc", "scale", "p")
        ):
            return UNKNOWN
        if random:
            rule = operations.NUMPY_RANDOM.get(name)
            return UNKNOWN if rule is None else self._safe(lambda: rule(name, bound, True))
        if name in ("float32", "float64", "int32", "int64", "uint8") and given:
            return arrays.array_of(given[0], name)
        if name == "ceil" and given and isinstance(given[0], (int, float)):
            return python_calls.FUNCTIONS["math.ceil"](given, {})
        if name in ("prod",) and given and isinstance(given[0], tuple):
            return python_calls.FUNCTIONS["math.prod"](given, {})
        return operations.result(name, bound, True)

    def _tfds(self, dotted: str, given: list[Any], named: dict[str, Any]) -> Any:
        name = dotted.rpartition(".")[2]
        if name == "load":
            bound = {**dict(zip(("name",), given, strict=False)), **named}
            return self._safe(lambda: datasets.load(bound))
        if name == "as_numpy" and given:
            return self._safe(lambda: datasets.as_numpy(given[0]))
        if name == "builder" and given and isinstance(given[0], str):
            return Table(
                {"": "builder", "name": given[0], "info": datasets.information(known_datasets.tfds(given[0]))}
            )
        return UNKNOWN

    def _hub(self, dotted: str, given: list[Any], named: dict[str, Any], line: int, file: str) -> Any:
        if dotted.endswith("KerasLayer"):
            config = {key: value for key, value in named.items() if key in ("output_shape", "trainable")}
            return Layer("hub.KerasLayer", config, file, line, self.models.name("KerasLayer"))
        return UNKNOWN

    def _method(self, function: Method, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        owner, name = function.owner, function.name
        if isinstance(owner, Model):
            return self.models.method(owner, name, given, named)
        if isinstance(owner, Super):
            return self._super(owner, name, given, named)
        if isinstance(owner, Instance):
            return self._instance_method(owner, name, given, named)
        if isinstance(owner, Dataset):
            bound = bind(f"tensorflow.data.Dataset.{name}", given, named)
            return self._safe(lambda: datasets.method(owner, name, bound, self.walk)), None
        if isinstance(owner, Array):
            return self._array_method(owner, name, given, named)
        if isinstance(owner, str):
            return python_calls.text_method(owner, name, given), None
        if isinstance(owner, Items):
            return python_calls.list_method(owner, name, given, self.walk.uncertain <= owner.born), None
        if python_calls.is_parser(owner):
            return python_calls.parser_method(owner, name, given, named), None
        if isinstance(owner, Table) and owner.get("") == "builder":
            return self._builder(owner, name, given, named), None
        if isinstance(owner, Table):
            return python_calls.table_method(
                owner, name, given, named, self.walk.uncertain <= owner.born
            ), None
        if isinstance(owner, Made):
            return UNKNOWN, self._asked(f"{owner.api}.{name}", given, named)
        if isinstance(owner, Layer) and name == "adapt":
            return None, None
        return UNKNOWN, None

    def _builder(self, owner: Table, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        """What `tfds.builder` gives has the same datasets."""
        if name == "as_dataset":
            bound = {**dict(zip(("split",), given, strict=False)), **named}
            return datasets.split_of(known_datasets.tfds(owner["name"]), bound.get("split"), bound)
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
        owner.name = name if isinstance(name, str) else owner.name or self.models.name(owner.cls.name)
        if owner.model is None:
            return
        owner.model.name = owner.name
        bound = {**dict(zip(("inputs", "outputs"), given, strict=False)), **named}
        if owner.model.kind == "sequential":
            for each in given[0] if given and isinstance(given[0], Items) else ():
                self.models.add(owner.model, each)
        elif "outputs" in bound and "inputs" in bound:
            made = self.models.functional(bound["inputs"], bound["outputs"], owner.name)
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
            return self.models.method(owner.model, name, given, named)
        return UNKNOWN, None

    def _array_method(
        self, owner: Array, name: str, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        if name == "astype":
            kind = given[0] if given else named.get("dtype")
            return self._safe(
                lambda: (
                    Array(operations.dtype_of(kind), owner.shape, owner.numpy)
                    if kind is not None
                    else UNKNOWN
                )
            ), None
        if name == "reshape":
            target = given[0] if len(given) == 1 else tuple(given)
            return self._safe(lambda: arrays.reshaped(owner, target)), None
        if name == "transpose":
            order = None if not given else given[0] if isinstance(given[0], (tuple, list)) else tuple(given)
            return self._safe(lambda: arrays.transposed(owner, order)), None
        if name == "numpy":
            return Array(owner.dtype, owner.shape, True), self._asked("tensorflow.Tensor.numpy", [owner], {})
        if name in ("copy", "value", "read_value"):
            return owner, None
        if name in ("assign", "assign_add", "assign_sub"):
            asked = self._asked(f"tensorflow.Variable.{name}", given, named)
            if asked is not None and asked.call is not None and owner.tensor is not None:
                asked = replace(asked, call=replace(asked.call, inputs=(owner.tensor, *asked.call.inputs)))
            return owner, asked
        if name == "item" or name == "tolist":
            return UNKNOWN, None
        if name in ("get_shape",):
            return owner.shape, None
        if name in ("as_list",):
            return owner, None
        if name in ARRAY_METHODS:
            names = numpy_parameters.PARAMETERS.get(name, ("a",))
            bound = {
                names[at] if at < len(names) else f"#{at}": value for at, value in enumerate([owner, *given])
            } | named
            return operations.result(name, bound, owner.numpy), None
        return UNKNOWN, None


def _train_test_split(given: list[Any], named: dict[str, Any]) -> Any:
    """`sklearn.model_selection.train_test_split`."""
    tested, trained = named.get("test_size"), named.get("train_size")
    found = Items()
    for each in given:
        count = each.shape[0]
        if count is None:
            parts: list[int | None] = [None, None]
        elif isinstance(tested, int):
            parts = [count - tested, tested]
        else:
            share = (
                tested if isinstance(tested, float) else 1 - trained if isinstance(trained, float) else 0.25
            )
            test = -int(-count * share // 1)
            parts = [count - test, test]
        found += [Array(each.dtype, (part, *each.shape[1:]), True) for part in parts]
    return found


def _usual(api: str, given: list[Any], named: dict[str, Any]) -> bool:
    """Whether `load_data` gives what it gives by default, as far as shapes go."""
    return not set(named) & {"test_split", "version", "maxlen", "skip_top"} or (
        "housing" not in api and not set(named) & {"test_split", "maxlen"}
    )


def _has_unknown(value: Any) -> bool:
    if isinstance(value, (Items, Table)) and not value.known:
        return True
    if isinstance(value, (tuple, list)):
        return any(_has_unknown(each) for each in value)
    return value is UNKNOWN


def _mixed(value: Any) -> bool:
    """Whether arrays stand among other things."""
    if isinstance(value, dict):
        return any(_mixed(each) or isinstance(each, Array) for each in value.values())
    return isinstance(value, (tuple, list)) and any(_mixed(each) or isinstance(each, Array) for each in value)


def _text(attributes: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in attributes.items() if value is not SOME_NUMBER)
