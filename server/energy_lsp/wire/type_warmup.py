"""Meeting the protocol's types before the client uses them: the converter writes code for each, which takes a while."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lsprotocol import types
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from energy_lsp.wire.encoding import converter

ANSWERS: Mapping[str, Sequence[type]] = {
    types.TEXT_DOCUMENT_HOVER: (types.Hover, types.MarkupContent, types.Range),
    types.TEXT_DOCUMENT_CODE_ACTION: (types.CodeAction, types.Command),
    types.CODE_ACTION_RESOLVE: (types.CodeAction, types.WorkspaceEdit),
}
"""What goes out for a method, where it is not encoded in the worker."""


def learn(method: str) -> None:
    """Meet what comes in and goes out for a method."""
    kinds = types.METHOD_TO_TYPES.get(method)
    if kinds is not None:
        converter().get_structure_hook(kinds[0])
        for kind in (JsonRPCResponseMessage, *ANSWERS.get(method, ())):
            converter().get_unstructure_hook(kind)
