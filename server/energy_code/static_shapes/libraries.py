"""What NumPy, TensorFlow and Keras give for what they are given, as far as shapes go."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from energy_code.static_shapes import parameters
from energy_code.static_shapes.models import KerasModels
from energy_code.static_shapes.results import result_of
from energy_code.static_shapes.values import UNKNOWN, Asked, Dataset, Layer, Method, Model, Name
from energy_data.catalogue.naming import canonical
from energy_data.prediction.api_families import FAMILY_OF
from energy_data.prediction.families import broadcast, numbers
from energy_data.prediction.specs import CallSpec, Tensor

MADE_BY_SHAPE = {"zeros", "ones", "empty", "random", "random_sample", "standard_normal", "full"}
SHAPE_LAST = {"normal": 2, "uniform": 2, "integers": 2, "randint": 2}
GENERATORS = ("numpy.random.default_rng", "numpy.random.RandomState")


class Libraries:
    """Answers what a call of a library gives, and what there is to predict about it."""

    def __init__(self, file: str) -> None:
        self.models = KerasModels(file)

    def call(
        self, function: Any, given: list[Any], named: dict[str, Any], line: int
    ) -> tuple[Any, Asked | None]:
        """The value of a call, and what it was given if that can be predicted from."""
        if isinstance(function, (Layer, Model)):
            return self.models.apply(function, given, named)
        if isinstance(function, Method):
            return self._method(function, given, named)
        if not isinstance(function, Name):
            return UNKNOWN, None
        dotted = function.dotted
        if dotted.startswith("numpy."):
            return self._numpy(dotted, given, named), None
        if dotted in ("int", "float", "len"):
            return UNKNOWN, None
        if dotted.split(".")[0] not in ("tensorflow", "keras"):
            return UNKNOWN, None
        api = canonical(dotted)
        if api in parameters.DATASETS:
            return tuple(tuple(Tensor(*each) for each in part) for part in parameters.DATASETS[api]), None
        if api.startswith("tensorflow.data.Dataset.from_tensor_slices") and given:
            return self._dataset(given[0]), None
        if api.startswith("keras."):
            return self.models.made(api, given, named, line), None
        return self._tensorflow(api, given, named)

    def _tensorflow(self, api: str, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        if api not in FAMILY_OF:
            return UNKNOWN, None
        names = parameters.CONSTANTS.get(api, ())
        bound = {**dict(zip(names, given, strict=False)), **named}
        rest = given[len(names) :] if names else given
        tensors: list[Tensor] = []
        attributes: dict[str, Any] = {}
        for name, value in [*bound.items(), *(("", value) for value in rest)]:
            parts = list(value) if isinstance(value, (list, tuple)) else [value]
            if parts and all(isinstance(part, Tensor) for part in parts):
                tensors += parts
            elif value is UNKNOWN or (isinstance(value, (list, tuple)) and UNKNOWN in parts):
                return UNKNOWN, None
            elif name and not isinstance(value, Name):
                attributes[name] = value
            elif not name and isinstance(value, (int, float)):
                tensors.append(Tensor("float32", ()))
        spec = CallSpec(api, tuple(tensors), attributes)
        dtype = bound.get("dtype")
        made = result_of(spec, dtype.dotted.rpartition(".")[2] if isinstance(dtype, Name) else dtype)
        return made, Asked(call=spec, shape=spec.signature or _text(attributes))

    def _method(self, function: Method, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        owner, name = function.owner, function.name
        if isinstance(owner, Model):
            return self.models.method(owner, name, given, named)
        if isinstance(owner, Dataset):
            return self._dataset_method(owner, name, given, named), None
        if isinstance(owner, Tensor):
            return _array_method(owner, name, given), None
        return UNKNOWN, None

    def _dataset(self, value: Any) -> Any:
        parts = value if isinstance(value, (tuple, list)) else (value,)
        if not parts or not all(isinstance(part, Tensor) and part.shape for part in parts):
            return UNKNOWN
        return Dataset(tuple(Tensor(each.dtype, each.shape[1:]) for each in parts), parts[0].shape[0])

    def _dataset_method(self, owner: Dataset, name: str, given: list[Any], named: dict[str, Any]) -> Any:
        if name in ("shuffle", "cache", "prefetch", "with_options"):
            return owner
        size = given[0] if given else named.get("batch_size", named.get("count"))
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            return UNKNOWN
        if name == "batch" and not owner.batch:
            dropped = named.get("drop_remainder", given[1] if len(given) > 1 else False) is True
            return Dataset(owner.elements, owner.count // size if dropped else -(-owner.count // size), size)
        if name == "take":
            return Dataset(owner.elements, min(size, owner.count), owner.batch)
        if name == "repeat":
            return Dataset(owner.elements, owner.count * size, owner.batch)
        return UNKNOWN

    def _numpy(self, dotted: str, given: list[Any], named: dict[str, Any]) -> Any:
        if dotted in GENERATORS:
            return Name("numpy.random")
        name = dotted.rpartition(".")[2]
        dtype = named.get("dtype", "float64")
        dtype = dtype.dotted.rpartition(".")[2] if isinstance(dtype, Name) else dtype
        if name in ("rand", "randn"):
            return _made(given, "float64")
        if name in MADE_BY_SHAPE:
            return _made(named.get("shape", named.get("size", given[0] if given else None)), dtype)
        if name in SHAPE_LAST:
            place = SHAPE_LAST[name]
            size = named.get("size", given[place] if len(given) > place else None)
            return _made(size, "int64" if name in ("integers", "randint") else "float64")
        if name == "arange" and len(given) == 1:
            return _made(given[0], "int64")
        if (
            name in ("zeros_like", "ones_like", "array", "asarray", "copy", "abs", "sqrt", "exp", "log")
            and given
        ):
            return given[0] if isinstance(given[0], Tensor) else UNKNOWN
        if name == "expand_dims" and given and isinstance(given[0], Tensor):
            axis = named.get("axis", given[1] if len(given) > 1 else None)
            return _expanded(given[0], axis)
        if name == "reshape" and len(given) == 2 and isinstance(given[0], Tensor):
            return _reshaped(given[0], given[1])
        return UNKNOWN

    def combined(self, left: Any, right: Any, operation: ast.operator) -> Any:
        """An operator between tensors, or a tensor and a number."""
        for one in (left, right):
            if not isinstance(one, (Tensor, int, float)):
                return UNKNOWN
        tensors = [one for one in (left, right) if isinstance(one, Tensor)]
        if isinstance(operation, ast.MatMult):
            return UNKNOWN
        dtype = tensors[0].dtype
        if dtype.startswith(("int", "uint")) and (
            isinstance(operation, ast.Div) or float in (type(left), type(right))
        ):
            dtype = "float64"
        return Tensor(dtype, broadcast([tensor.shape for tensor in tensors]))

    def item(self, owner: Any, index: ast.expr, value: Callable[[ast.expr], Any]) -> Any:
        """An element or a slice."""
        if isinstance(owner, (tuple, list)):
            place = UNKNOWN if isinstance(index, ast.Slice) else value(index)
            if isinstance(place, int) and -len(owner) <= place < len(owner):
                return owner[place]
            return UNKNOWN
        if not isinstance(owner, Tensor):
            value(index)
            return UNKNOWN
        parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        shape, axis = list[int](), 0
        for part in parts:
            if isinstance(part, ast.Constant) and part.value is Ellipsis:
                kept = len(owner.shape) - sum(not _new_axis(each) for each in parts) + 1
                shape += owner.shape[axis : axis + kept]
                axis += kept
                continue
            if _new_axis(part):
                shape.append(1)
                continue
            if axis >= len(owner.shape):
                return UNKNOWN
            size = owner.shape[axis]
            axis += 1
            if isinstance(part, ast.Slice):
                length = _slice_length(part, size, value)
                if length is None:
                    return UNKNOWN
                shape.append(length)
            elif isinstance(value(part), Tensor):
                return UNKNOWN
        return Tensor(owner.dtype, (*shape, *owner.shape[axis:]))


def _new_axis(part: ast.expr) -> bool:
    named = isinstance(part, ast.Attribute) and part.attr == "newaxis"
    return named or (isinstance(part, ast.Constant) and part.value is None)


def _slice_length(part: ast.Slice, size: int, value: Callable[[ast.expr], Any]) -> int | None:
    """The length of a slice; of `x[start : start + 1]` too, whatever start is."""
    upper = part.upper
    if (
        part.lower is not None
        and isinstance(upper, ast.BinOp)
        and isinstance(upper.op, ast.Add)
        and ast.dump(upper.left) == ast.dump(part.lower)
    ):
        step = value(upper.right)
        return min(step, size) if isinstance(step, int) and step > 0 else None
    ends = [None if each is None else value(each) for each in (part.lower, upper, part.step)]
    if any(end is not None and not isinstance(end, int) for end in ends):
        return None
    try:
        return len(range(*slice(*ends).indices(size)))
    except ValueError:
        return None


def _made(size: Any, dtype: Any) -> Any:
    try:
        shape = tuple(numbers(size))
    except (TypeError, ValueError):
        return UNKNOWN
    return Tensor(str(dtype), shape) if all(each >= 0 for each in shape) else UNKNOWN


def _array_method(owner: Tensor, name: str, given: list[Any]) -> Any:
    if name == "astype" and given:
        kind = given[0]
        dtype = kind.dotted.rpartition(".")[2] if isinstance(kind, Name) else kind
        return Tensor(dtype, owner.shape) if isinstance(dtype, str) else UNKNOWN
    if name == "reshape" and given:
        return _reshaped(owner, given[0] if len(given) == 1 else tuple(given))
    if name in ("copy", "numpy"):
        return owner
    return UNKNOWN


def _reshaped(owner: Tensor, target: Any) -> Any:
    try:
        wanted = numbers(target)
    except (TypeError, ValueError):
        return UNKNOWN
    known = math.prod(size for size in wanted if size >= 0)
    if wanted.count(-1) > 1 or (-1 in wanted and (not known or owner.elements % known)):
        return UNKNOWN
    return Tensor(owner.dtype, tuple(owner.elements // known if size < 0 else size for size in wanted))


def _expanded(owner: Tensor, axis: Any) -> Any:
    if isinstance(axis, bool) or not isinstance(axis, int):
        return UNKNOWN
    place = axis if axis >= 0 else len(owner.shape) + 1 + axis
    return Tensor(owner.dtype, (*owner.shape[:place], 1, *owner.shape[place:]))


def _text(attributes: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in attributes.items())
