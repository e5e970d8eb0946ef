"""What a call was given, as a prediction is asked about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from energy_code.static_shapes.operations import arrays
from energy_code.static_shapes.parameters import bind
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Asked,
    Dataset,
    Function,
    Items,
    Layer,
    Made,
    Method,
    Model,
    Name,
)
from energy_code.static_shapes.values.structures import (
    arrays_of,
    has_unknown,
    mixed,
)
from energy_data.prediction.api_families import FAMILY_OF
from energy_data.prediction.specs import CallSpec

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


def asked_of(api: str, given: list[Any], named: dict[str, Any]) -> Asked | None:
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
        elif has_unknown(value) or isinstance(value, Method) or mixed(value):
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


def _text(attributes: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in attributes.items() if value is not SOME_NUMBER)


def safe(ask: Callable[[], Any]) -> Any:
    """What is asked; UNKNOWN where the library would not take it either."""
    try:
        return ask()
    except (ValueError, TypeError, LookupError, ZeroDivisionError, OverflowError, AttributeError):
        return UNKNOWN
