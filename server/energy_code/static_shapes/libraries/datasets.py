"""`tf.data` and what stands around it: what an element of a dataset looks like, and how many there are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from energy_code.static_shapes.operations.arguments import dtype_of
from energy_code.static_shapes.operations.arrays import array_of, dims
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Dataset,
    Dims,
)
from energy_code.static_shapes.values.structures import arrays_of, mapped


class Caller(Protocol):
    """Whoever can enter a function of the program."""

    def invoke(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """The value of a call."""


ENDLESS = -1
SAME = {"shuffle", "cache", "prefetch", "with_options", "apply_options", "snapshot", "ragged_batch_"}
UNCOUNTED = {"filter", "take_while", "skip_", "unique"}


def from_slices(value: Any) -> Any:
    """`from_tensor_slices`: along the first dimension."""
    made = (
        mapped(value, lambda leaf: array_of(leaf, numpy=False))
        if not isinstance(value, list)
        else array_of(value, numpy=False)
    )
    found = arrays_of(made)
    if not found or any(not one.shape for one in found):
        return UNKNOWN
    return Dataset(mapped(made, lambda one: Array(one.dtype, one.shape[1:])), found[0].shape[0])


def spec(value: Any) -> Any:
    """What `output_signature` and `tf.TensorSpec` say."""
    return mapped(value, lambda leaf: leaf if isinstance(leaf, Array) else UNKNOWN)


def made(name: str, bound: dict[str, Any], caller: Caller) -> Any:
    """A dataset from one of the class's own functions."""
    listed = list(bound.values())
    first = listed[0] if listed else UNKNOWN
    if name == "from_tensor_slices":
        return from_slices(first)
    if name == "from_tensors":
        made = mapped(first, lambda leaf: array_of(leaf, numpy=False))
        return Dataset(made, 1) if arrays_of(made) else UNKNOWN
    if name == "range":
        numbers = [each for each in listed if isinstance(each, int)]
        return Dataset(
            Array("int64", ()), len(range(*numbers)) if numbers and len(numbers) == len(listed) else None
        )
    if name == "from_generator":
        signature = bound.get("output_signature")
        return Dataset(spec(signature), None) if arrays_of(signature) else UNKNOWN
    if name == "zip":
        parts = listed if len(listed) > 1 else list(first) if isinstance(first, (tuple, list)) else []
        if not parts or not all(isinstance(part, Dataset) for part in parts):
            return UNKNOWN
        counts = [part.count for part in parts]
        known = [count for count in counts if count is not None and count != ENDLESS]
        count = None if None in counts else min(known) if known else ENDLESS
        return Dataset(tuple(part.element for part in parts), count, parts[0].batch, parts[0].rest)
    if name in ("list_files", "TextLineDataset", "TFRecordDataset"):
        return Dataset(Array("string", ()), None)
    return UNKNOWN


def method(owner: Dataset, name: str, bound: dict[str, Any], caller: Caller) -> Any:
    """A method of a dataset."""
    listed = list(bound.values())
    first = listed[0] if listed else None
    if name in SAME:
        return owner
    if name in ("batch", "padded_batch", "ragged_batch"):
        return batched(
            owner,
            bound.get("batch_size", first),
            bound.get("drop_remainder") is True,
            bound.get("padded_shapes"),
            name,
        )
    if name == "map":
        given = list(owner.element) if isinstance(owner.element, tuple) else [owner.element]
        element = caller.invoke(bound.get("map_func", first), given, {})
        element = tuple(element) if isinstance(element, list) else element
        return replace(
            owner,
            element=mapped(element, lambda leaf: leaf if leaf is UNKNOWN else array_of(leaf, numpy=False)),
        )
    if name in ("take", "skip", "repeat"):
        return counted(owner, name, bound.get("count", first))
    if name == "unbatch":
        found = mapped(
            owner.element,
            lambda one: Array(one.dtype, one.shape[1:]) if isinstance(one, Array) and one.shape else UNKNOWN,
        )
        total = (
            None
            if owner.count in (None, ENDLESS)
            else owner.count * owner.batch - ((owner.batch - owner.rest) if owner.rest else 0)
        )
        return Dataset(found, total)
    if name in UNCOUNTED:
        return replace(owner, count=None, rest=0)
    if name == "enumerate":
        return replace(owner, element=(Array("int64", ()), owner.element))
    if name == "concatenate" and isinstance(first, Dataset):
        known = owner.count not in (None, ENDLESS) and first.count not in (None, ENDLESS)
        return replace(owner, count=owner.count + first.count if known else None, rest=0)  # type: ignore[operator]
    if name == "shard" and isinstance(first, int) and first and owner.count not in (None, ENDLESS):
        return replace(owner, count=None, rest=0)
    if name == "as_numpy_iterator":
        return Dataset(as_numpy(owner.element), owner.count, owner.batch, owner.rest)
    if name in ("cardinality", "__len__"):
        return SOME_NUMBER if owner.count is None else owner.count
    if name == "element_spec":
        return owner.element
    if name == "apply":
        return caller.invoke(first, [owner], {})
    if name in ("get_single_element",):
        return owner.element
    return UNKNOWN


def batched(owner: Dataset, asked: Any, dropped: bool, padded: Any, name: str) -> Any:
    """Elements put together."""
    length = asked if isinstance(asked, int) and not isinstance(asked, bool) and asked > 0 else None
    if asked is UNKNOWN:
        length = None
    shapes = iter(_flat(padded) if padded is not None else ())

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, Array):
            return UNKNOWN
        shape: Dims = leaf.shape
        if padded is not None:
            declared = next(shapes, None)
            shape = (
                tuple(declared)
                if isinstance(declared, (tuple, list)) and len(declared) == len(shape)
                else (None,) * len(shape)
            )
        return Array(leaf.dtype, (length, *shape))

    element = mapped(owner.element, one)
    if length is None or owner.count is None or owner.count == ENDLESS:
        return Dataset(element, owner.count if owner.count == ENDLESS else None, length or 0)
    rest = 0 if dropped else owner.count % length
    count = owner.count // length + (1 if rest else 0)
    if count == 1 and rest:
        # Fewer elements than a batch holds: every batch is the smaller one.
        element = mapped(
            element,
            lambda leaf: Array(leaf.dtype, (rest, *leaf.shape[1:])) if isinstance(leaf, Array) else leaf,
        )
        return Dataset(element, 1, rest)
    return Dataset(element, count, length, rest)


def _flat(value: Any) -> list[Any]:
    """The shapes of `padded_shapes` in order."""
    if isinstance(value, (tuple, list)) and all(each is None or isinstance(each, int) for each in value):
        return [value]
    return [inner for each in value for inner in _flat(each)] if isinstance(value, (tuple, list)) else [value]


def counted(owner: Dataset, name: str, count: Any) -> Any:
    """`take`, `skip` and `repeat`."""
    if name == "repeat" and (count is None or count == -1):
        return replace(owner, count=ENDLESS, rest=0)
    if not isinstance(count, int) or isinstance(count, bool):
        return replace(owner, count=None, rest=0)
    if owner.count is None:
        return replace(owner, count=None)
    if name == "repeat":
        return replace(owner, count=owner.count * count if owner.count != ENDLESS else ENDLESS)
    if name == "take":
        if owner.count == ENDLESS:
            return replace(owner, count=count)
        return owner if count < 0 or count >= owner.count else replace(owner, count=count, rest=0)
    return owner if owner.count == ENDLESS else replace(owner, count=max(0, owner.count - count))


def as_numpy(value: Any) -> Any:
    """The same as arrays of NumPy."""
    if isinstance(value, Dataset):
        return replace(value, element=as_numpy(value.element))
    return mapped(
        value,
        lambda leaf: (
            Array(leaf.dtype, leaf.shape, True)
            if isinstance(leaf, Array)
            else as_numpy(leaf)
            if isinstance(leaf, Dataset)
            else leaf
        ),
    )


def from_directory(bound: dict[str, Any]) -> Any:
    """`image_dataset_from_directory`: what a batch looks like; how many there are stands in no source."""
    size = bound.get("image_size", (256, 256))
    batch = bound.get("batch_size", 32)
    colours = {"rgb": 3, "rgba": 4, "grayscale": 1}.get(bound.get("color_mode", "rgb"))
    labels = bound.get("labels", "inferred")
    mode = bound.get("label_mode", "int")
    try:
        image: Dims = (*dims(size), colours)
    except ValueError:
        return UNKNOWN
    number = batch if isinstance(batch, int) and not isinstance(batch, bool) else None
    pictures = Array("float32", image if batch is None else (number, *image))
    if labels is None or mode is None:
        return Dataset(pictures, None, number or 0)
    label: Any = {
        "int": Array("int32", (number,)),
        "categorical": Array("float32", (number, None)),
        "binary": Array("float32", (number, 1)),
    }.get(mode, UNKNOWN)
    found = Dataset((pictures, label), None, number or 0)
    return (found, found) if bound.get("subset") == "both" else found


def tensor_spec(bound: dict[str, Any]) -> Any:
    """`tf.TensorSpec`, `tf.RaggedTensorSpec`: a tensor as it is declared."""
    shape = bound.get("shape")
    if shape is None:
        return UNKNOWN
    try:
        return Array(dtype_of(bound.get("dtype"), "float32") or "float32", dims(shape))
    except ValueError:
        return UNKNOWN
