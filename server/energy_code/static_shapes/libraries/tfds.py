"""`tensorflow_datasets`: `load` with every form of its result, `builder`, `as_numpy`."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.libraries.datasets import batched
from energy_code.static_shapes.libraries.known_datasets import KnownDataset, examples, tfds
from energy_code.static_shapes.values.kinds import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Dataset,
    Items,
    Name,
    Table,
)
from energy_code.static_shapes.values.structures import (
    mapped,
)


def load(bound: dict[str, Any]) -> Any:
    """`tfds.load` with every form of its result."""
    name = bound.get("name")
    known = tfds(name) if isinstance(name, str) else None
    found = split_of(known, bound.get("split"), bound)
    if bound.get("with_info") is True:
        return found, information(known)
    return UNKNOWN if bound.get("with_info") not in (None, False) else found


def split_of(known: KnownDataset | None, split: Any, bound: dict[str, Any]) -> Any:
    """The dataset of a split, or of all, or of several in the order they are asked for."""
    if split is UNKNOWN:
        return UNKNOWN
    if isinstance(split, (list, tuple)):
        found = [split_of(known, each, bound) for each in split]
        return Items(found) if isinstance(split, list) else tuple(found)
    if split is None:
        if known is None:
            return UNKNOWN
        return Table({each: split_of(known, each, bound) for each in known.splits})
    if isinstance(split, Name):
        split = split.dotted.rpartition(".")[2].lower()
    if not isinstance(split, str):
        return UNKNOWN
    count = examples(known, split)
    count = None if count is SOME_NUMBER else count
    supervised = bound.get("as_supervised", False)
    element: Any = UNKNOWN
    if known is not None and supervised is True:
        element = known.supervised or UNKNOWN
    elif known is not None and supervised is False:
        element = Table(known.features)
    whole = Dataset(element, count)
    size = bound.get("batch_size")
    if size == -1:
        return mapped(
            element,
            lambda leaf: Array(leaf.dtype, (count, *leaf.shape)) if isinstance(leaf, Array) else UNKNOWN,
        )
    return whole if size is None else batched(whole, size, False, None, "batch")


def information(known: KnownDataset | None) -> Any:
    """What `with_info=True` tells: examples of the splits."""
    if known is None:
        return UNKNOWN
    splits = Table({name: Table({"num_examples": count}) for name, count in known.splits.items()})
    return Table({"splits": splits, "name": known.name})
