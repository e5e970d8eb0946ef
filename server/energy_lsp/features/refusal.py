"""An answer that says in one sentence why a command was not carried out."""

from __future__ import annotations

from lsprotocol import types
from pygls.exceptions import JsonRpcException


def refused(message: str) -> JsonRpcException:
    """To be raised."""
    return JsonRpcException(message=message, code=int(types.LSPErrorCodes.RequestFailed))
