"""Functions and classes of TensorFlow and Keras."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.libraries import datasets, known_datasets
from energy_code.static_shapes.library_calls.asked import asked_of, safe
from energy_code.static_shapes.models.building import Builder
from energy_code.static_shapes.models.trace import ModelTrace
from energy_code.static_shapes.operations import images, keras_ops, rules, texts
from energy_code.static_shapes.parameters import bind
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Asked,
    Function,
    Made,
    Model,
    Name,
    Tape,
)
from energy_code.static_shapes.values.structures import (
    arrays_of,
    has_unknown,
    mapped,
)
from energy_data.catalogue.catalogue import Catalogue
from energy_data.prediction.api_families import FAMILY_OF

DATA = "tensorflow.data."
FLOW = {
    "tensorflow.function",
    "keras.saving.register_keras_serializable",
    "tensorflow.autograph.experimental.do_not_convert",
}
LOSS = "keras.losses."
OWN_RULES = {
    "tensorflow.image": images.IMAGE_RULES,
    "tensorflow.strings": texts.STRING_RULES,
    "keras.random": keras_ops.RANDOM_RULES,
}
"""Modules whose operations are others than those of the same name elsewhere."""
MAPPED = ("tensorflow.map_fn", "tensorflow.vectorized_map", "keras.ops.vectorized_map", "keras.ops.map")
"""What calls a function with each row, by the place of the function."""


class TensorFlowCalls:
    """Answers what a function or a class of TensorFlow or Keras gives. No state of its own."""

    def __init__(self, walk: Walk, trace: ModelTrace, builder: Builder) -> None:
        self.walk, self.trace, self.builder = walk, trace, builder

    def called(
        self, api: str, given: list[Any], named: dict[str, Any], line: int = 0, file: str = ""
    ) -> tuple[Any, Asked | None]:
        """The value of a call by its canonical name, and what it was given."""
        short = api.rpartition(".")[2]
        if api == "tensorflow.function" and given and isinstance(given[0], Function):
            return replace(given[0], compiled=True), None
        if api in FLOW:
            return (given[0] if given else Name("tensorflow.function")), None
        if api.startswith("keras.datasets.") and short == "load_data":
            return known_datasets.KERAS.get(api.split(".")[2], UNKNOWN) if _usual(
                api, given, named
            ) else UNKNOWN, None
        if api.startswith(DATA):
            return self._data(api, given, named), asked_of(api, given, named)
        if api.startswith("keras.applications."):
            return self._application(api, given, named, line, file), None
        if api in ("keras.Model", "keras.Sequential", "keras.Input", "keras.Function") or api.startswith(
            "keras.layers."
        ):
            return self.builder.made(api, given, named, line, file), None
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
        if api in MAPPED:
            return self._by_rows(bind(api, given, named)), asked_of(api, given, named)
        if api in ("keras.models.clone_model", "keras.models.clone"):
            return self._copied(given[0] if given else named.get("model")), None
        if api.endswith(".shape") and api.startswith("tensorflow.") and given:
            return rules.result("shape", {"input": given[0]}, False), asked_of(api, given, named)
        if api == "tensorflow.GradientTape":
            return Tape(), None
        entry = Catalogue.load().find(api)
        if entry is not None and entry.kind == "class" and api not in FAMILY_OF:
            return Made(api), None
        return self._result(api, given, named), asked_of(api, given, named)

    def _by_rows(self, bound: dict[str, Any]) -> Any:
        """A function called with each row: what it gives for one of them, as often as there are rows."""
        function, rows = list(bound.values())[:2] if len(bound) > 1 else (UNKNOWN, UNKNOWN)
        found = arrays_of(rows)
        if not found or any(not one.shape for one in found):
            return UNKNOWN
        count = found[0].shape[0]
        row = mapped(rows, lambda one: Array(one.dtype, one.shape[1:]) if isinstance(one, Array) else UNKNOWN)
        with self.trace.paused():
            result = self.walk.invoke(function, [row], {})
        return mapped(
            result, lambda one: Array(one.dtype, (count, *one.shape)) if isinstance(one, Array) else UNKNOWN
        )

    def _copied(self, model: Any) -> Any:
        """A model with the same layers and other weights, not compiled and not traced."""
        if not isinstance(model, Model) or model.instance is not None:
            return UNKNOWN
        return replace(model, layers=list(model.layers), optimizer="RMSprop", traced=set())

    def _result(self, api: str, given: list[Any], named: dict[str, Any]) -> Any:
        if api.endswith(".__call__") and api.startswith(LOSS):
            return Array("float32", ())
        short = api.rpartition(".")[2]
        if any(has_unknown(value) for value in given):
            return UNKNOWN
        bound = bind(api, given, named)
        numpy = api in ("keras.utils.to_categorical", "keras.utils.pad_sequences") or api.endswith(
            "convert_to_numpy"
        )
        if api.startswith("keras.ops.") and not numpy:
            found = keras_ops.result(short, bound)
        else:
            own = OWN_RULES.get(api.rpartition(".")[0], {})
            found = rules.result(short, bound, numpy, own)
        if self.trace.active and found is not UNKNOWN:
            leaves = [leaf for value in bound.values() for leaf in arrays_of(value) or []]
            if not leaves and isinstance(found, Array):
                leaves = [found]
            self.trace.operation(
                api,
                leaves,
                {key: value for key, value in bound.items() if arrays_of(value) is None},
                self.walk.context.at,
            )
        return found

    def _data(self, api: str, given: list[Any], named: dict[str, Any]) -> Any:
        short = api.rpartition(".")[2]
        if short in ("AUTOTUNE", "Options"):
            return UNKNOWN
        bound = bind(f"tensorflow.data.Dataset.{short}", given, named)
        return safe(lambda: datasets.made(short, bound, self.walk))

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
        return self.builder.application(api, given, named, line, file)


def _usual(api: str, given: list[Any], named: dict[str, Any]) -> bool:
    """Whether `load_data` gives what it gives by default, as far as shapes go."""
    return not set(named) & {"test_split", "version", "maxlen", "skip_top"} or (
        "housing" not in api and not set(named) & {"test_split", "maxlen"}
    )
