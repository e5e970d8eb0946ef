"""An answer that says in one sentence why a command was not carried out."""

from __future__ import annotations

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from energy_data.untrusted.printable import one_line


def refused(message: str) -> JsonRpcException:
    """To be raised; names of files in it break no line."""
    return JsonRpcException(message=one_line(message), code=int(types.LSPErrorCodes.RequestFailed))
