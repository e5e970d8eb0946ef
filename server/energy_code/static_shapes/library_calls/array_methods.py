"""Methods of arrays and tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from energy_code.static_shapes.libraries import numpy_parameters
from energy_code.static_shapes.library_calls.asked import asked_of, safe
from energy_code.static_shapes.operations import arrays, rules
from energy_code.static_shapes.operations.arguments import dtype_of
from energy_code.static_shapes.values.kinds import UNKNOWN, Array, Asked

ARRAY_METHODS = {
    "sum", "mean", "max", "min", "std", "var", "prod", "any", "all", "argmax", "argmin", "cumsum", "flatten", "ravel",
    "squeeze", "repeat", "clip", "argsort", "swapaxes", "dot", "round", "take",
}  # fmt: skip


def array_method(
    owner: Array, name: str, given: list[Any], named: dict[str, Any]
) -> tuple[Any, Asked | None]:
    """A method of an array or a tensor."""
    if name == "astype":
        kind = given[0] if given else named.get("dtype")
        return safe(
            lambda: Array(dtype_of(kind), owner.shape, owner.numpy) if kind is not None else UNKNOWN
        ), None
    if name == "reshape":
        target = given[0] if len(given) == 1 else tuple(given)
        return safe(lambda: arrays.reshaped(owner, target)), None
    if name == "transpose":
        order = None if not given else given[0] if isinstance(given[0], (tuple, list)) else tuple(given)
        return safe(lambda: arrays.transposed(owner, order)), None
    if name == "numpy":
        return Array(owner.dtype, owner.shape, True), asked_of("tensorflow.Tensor.numpy", [owner], {})
    if name in ("copy", "value", "read_value"):
        return owner, None
    if name in ("assign", "assign_add", "assign_sub"):
        asked = asked_of(f"tensorflow.Variable.{name}", given, named)
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
        return rules.result(name, bound, owner.numpy), None
    return UNKNOWN, None
