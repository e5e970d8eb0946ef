"""What arrives with each keystroke, read straight from its JSON.

The way through the protocol's types is a general one, and takes longer than reading the edit itself. What is not
exactly as expected here goes that way, and is told there what is wrong with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types

if TYPE_CHECKING:
    from collections.abc import Sequence

    from energy_lsp.session.open_files import Change


LARGEST = 2**31 - 1
"""What the protocol lets a line or a character be."""


class Edited(NamedTuple):
    """What the parameters of `textDocument/didChange` say."""

    uri: str
    version: int
    changes: Sequence[Change]


class Pulled(NamedTuple):
    """What the parameters of `textDocument/diagnostic` say."""

    uri: str
    previous: str | None


def edited(params: Any) -> Edited | None:
    """An edit; None for what has to be looked at more closely."""
    match params:
        case {"textDocument": {"uri": str(uri), "version": int(version)}, "contentChanges": list(changes)}:
            found = [_change(change) for change in changes]
            return Edited(uri, version, [one for one in found if one]) if all(found) else None
    return None


def _change(change: Any) -> Change | None:
    match change:
        case {
            "range": {
                "start": {"line": int(line), "character": int(character)},
                "end": {"line": int(last), "character": int(end)},
            },
            "text": str(text),
        } if min(line, character, last, end) >= 0 and max(line, character, last, end) <= LARGEST:
            where = types.Range(types.Position(line, character), types.Position(last, end))
            return types.TextDocumentContentChangePartial(range=where, text=text)
        case {"text": str(text), **others} if not others:
            return types.TextDocumentContentChangeWholeDocument(text=text)
    return None


def pulled(params: Any) -> Pulled | None:
    """A question for diagnostics; None for what has to be looked at more closely."""
    match params:
        case {"textDocument": {"uri": str(uri)}}:
            previous = params.get("previousResultId")
            if previous is None or isinstance(previous, str):
                return Pulled(uri, previous)
    return None
