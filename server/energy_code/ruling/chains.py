"""Chains of method calls such as `ds.map(f).batch(32)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.ruling.pattern import canonical, same_api
from energy_code.ruling.place import Edit, Place

if TYPE_CHECKING:
    from tree_sitter import Node


def link_before(place: Place, node: Node, api: str) -> Node | None:
    """The call that a method call follows directly, when it is of that API (`tf.data.Dataset.map`)."""
    receiver = place.receiver(node)
    if receiver is None or not same_api(place.api(receiver), canonical(api)):
        return None
    return receiver


def swap(place: Place, inner: Node, outer: Node) -> list[Edit]:
    """Exchange two neighbouring links of a chain, line breaks and comments included."""
    start = place.receiver(inner)
    assert start is not None
    source = place.analysis.source
    first = source[start.end_byte : inner.end_byte].decode()
    second = source[inner.end_byte : outer.end_byte].decode()
    return [Edit(start.end_byte, outer.end_byte, second + first)]
