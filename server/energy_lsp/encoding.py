"""Results as JSON, made in the worker and piece by piece: while the loop encodes, it answers nobody."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from cattrs import Converter


ANSWERS: Mapping[str, Sequence[type]] = {
    types.TEXT_DOCUMENT_HOVER: (types.Hover, types.MarkupContent, types.Range),
    types.TEXT_DOCUMENT_CODE_ACTION: (types.CodeAction, types.Command),
    types.CODE_ACTION_RESOLVE: (types.CodeAction, types.WorkspaceEdit),
}
"""What goes out for a method, where the converter has to know it in time."""


class Encoded(str):
    """JSON that goes into a message as it is."""

    __slots__ = ()


@cache
def converter() -> Converter:
    """Between the protocol's types and plain JSON, for the whole process: what it has learnt of a type it keeps."""
    from pygls.protocol import default_converter  # not needed by `energy-lsp check`

    made: Converter = default_converter()  # type: ignore[no-untyped-call]
    return made


def learn(method: str) -> None:
    """Meet the types of a method before the client uses it: the converter writes code for each, which takes a while."""
    from pygls.protocol.json_rpc import JsonRPCResponseMessage

    kinds = types.METHOD_TO_TYPES.get(method)
    if kinds is not None:
        converter().get_structure_hook(kinds[0])
        for kind in (JsonRPCResponseMessage, *ANSWERS.get(method, ())):
            converter().get_unstructure_hook(kind)


def encoded(value: object) -> Encoded:
    """One value of the protocol's types, or a plain one."""
    return Encoded(json.dumps(converter().unstructure(value)))


def encoded_list(values: Iterable[object]) -> Encoded:
    """A list whose items are encoded one by one, so that another thread can go on between them."""
    return Encoded("[" + ",".join(encoded(value) for value in values) + "]")


def encoded_object(**members: Encoded) -> Encoded:
    """An object made of members that are encoded already."""
    return Encoded("{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}")
