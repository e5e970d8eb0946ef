"""Results as JSON, made in the worker and piece by piece: while the loop encodes, it answers nobody."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cattrs import Converter


class Encoded(str):
    """JSON that goes into a message as it is."""

    __slots__ = ()


@cache
def converter() -> Converter:
    """Between the protocol's types and plain JSON, for the whole process: what it has learnt of a type it keeps."""
    from pygls.protocol import default_converter  # not needed by `energy-lsp check`

    made: Converter = default_converter()  # type: ignore[no-untyped-call]
    return made


def encoded(value: object) -> Encoded:
    """One value of the protocol's types, or a plain one."""
    return Encoded(json.dumps(converter().unstructure(value)))


def encoded_list(values: Iterable[object]) -> Encoded:
    """A list whose items are encoded one by one, so that another thread can go on between them."""
    return Encoded("[" + ",".join(encoded(value) for value in values) + "]")


def encoded_object(**members: Encoded) -> Encoded:
    """An object made of members that are encoded already."""
    return Encoded("{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}")
