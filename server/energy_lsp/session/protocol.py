"""pygls' protocol with a text synchronisation of our own and an answer to every malformed request.

pygls keeps each document as a text and splits it into lines again on each use; here the changes go straight
to the reader's incremental `Document`.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, lsp_method

from energy_data.untrusted.printable import one_line
from energy_lsp.session import notebooks
from energy_lsp.wire.encoding import Encoded, encoded, encoded_object

if TYPE_CHECKING:
    from energy_lsp.session.garbage_collection import Garbage
    from energy_lsp.session.open_files import OpenFiles

logger = logging.getLogger(__name__)

PARSE_ERROR = types.ErrorCodes.ParseError
INVALID_REQUEST = types.ErrorCodes.InvalidRequest
NOT_INITIALIZED = types.ErrorCodes.ServerNotInitialized


def tolerable(params: Any) -> dict[str, Any] | None:
    """What can be used of the parameters of an `initialize` that does not follow the protocol; None for nothing."""
    try:
        encodings = params["capabilities"].get("general", {}).get("positionEncodings") or ()
    except (AttributeError, KeyError, TypeError):
        return None
    wanted = [one for one in encodings if isinstance(one, str)]
    return {"processId": None, "rootUri": None, "capabilities": {"general": {"positionEncodings": wanted}}}


class Host(Protocol):
    """What the protocol asks of its server (`session.server.EnergyServer`)."""

    files: OpenFiles
    garbage: Garbage

    def close(self, uri: str) -> None:
        """A file or notebook was closed."""

    def end(self, code: int) -> None:
        """Leave with this exit code."""


class EnergyProtocol(LanguageServerProtocol):
    """Receives messages and keeps the open files in step with the client."""

    host: Host
    _initialized = False

    def structure_message(self, data: dict[str, Any]) -> dict[str, Any]:
        """Leave objects as they are: pygls asks for each one in a message, and `handle_message` can answer for all."""
        return data

    def handle_message(self, message: Any) -> None:
        """Handle one message; whatever is wrong with it, the server answers or logs, and goes on."""
        self.host.garbage.hear()
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.refuse(None, INVALID_REQUEST, "The message is not a JSON-RPC 2.0 object.")
            return
        request_id = message.get("id") if "method" in message else None
        if refusal := self._refusal(message):
            if request_id is not None:
                self.refuse(request_id, *refusal)
            return
        try:
            structured = self._structured(message)
        except JsonRpcException as problem:
            self._complain(message, request_id, problem)
            return
        if message.get("method") == types.INITIALIZE:
            self._initialized = True
        super().handle_message(structured)

    def _structured(self, message: dict[str, Any]) -> Any:
        try:
            return super().structure_message(message)
        except JsonRpcException as problem:
            params = tolerable(message.get("params")) if message.get("method") == types.INITIALIZE else None
            if params is None:
                raise
            logger.warning("The client's capabilities are not those of the protocol: %s", problem)
            return super().structure_message({**message, "params": params})

    def _complain(self, data: dict[str, Any], request_id: Any, problem: JsonRpcException) -> None:
        """About parameters to whoever asks; an answer that cannot be understood is a failure to whoever asked."""
        if request_id is not None:
            self.refuse(request_id, types.ErrorCodes.InvalidParams, str(problem) or "Invalid parameters.")
        elif isinstance(data.get("id"), (int, str)) and data["id"] in self._request_futures:
            error = types.ResponseError(types.ErrorCodes.InternalError, "The answer is not understood.")
            self._handle_response(data["id"], None, error)

    def _refusal(self, data: dict[str, Any]) -> tuple[types.ErrorCodes, str] | None:
        """Why a message cannot be served now, if it cannot."""
        method = data.get("method", "")
        if not isinstance(method, str):
            return INVALID_REQUEST, "`method` must be a text."
        if self._shutdown and method and method != types.EXIT:
            return INVALID_REQUEST, "The server has been shut down."
        if not self._initialized and method and method not in (types.INITIALIZE, types.EXIT):
            return NOT_INITIALIZED, "Send `initialize` first."
        if method == types.INITIALIZE:
            return (INVALID_REQUEST, "`initialize` was sent twice.") if self._initialized else None
        return None

    def refuse(self, request_id: str | int | None, code: int, message: str) -> None:
        """Answer that a request cannot be served, and why."""
        self.send(
            {"jsonrpc": "2.0", "id": request_id, "error": {"code": int(code), "message": one_line(message)}}
        )

    def _send_response(
        self, msg_id: str | int, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        """Answer a request; what the worker has encoded goes out as it is."""
        if isinstance(result, Encoded) and error is None:
            self._write(encoded_object(jsonrpc=encoded("2.0"), id=encoded(msg_id), result=result))
        else:
            if error is not None:  # it may hold what the client sent
                error.message = one_line(error.message)
            super()._send_response(msg_id, result, error)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message that is plain JSON already."""
        self._write(json.dumps(message))

    def notify_encoded(self, method: str, params: Encoded) -> None:
        """Send a notification whose parameters are encoded already."""
        self._write(encoded_object(jsonrpc=encoded("2.0"), method=encoded(method), params=params))

    def _write(self, body: str) -> None:
        if self.writer is not None:
            content = body.encode("utf-8")
            self.writer.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)

    @property
    def was_shut_down(self) -> bool:
        """True after the client's `shutdown`."""
        return self._shutdown

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Any:
        """Leave: with 0 after a `shutdown`, else with 1."""
        self.host.end(0 if self._shutdown else 1)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """A file was opened."""
        document = params.text_document
        self.host.files.open(document.uri, document.version, document.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A file was edited."""
        document = params.text_document
        self.host.files.change(document.uri, document.version, params.content_changes)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """A file was closed."""
        self.host.close(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """A notebook was opened."""
        notebooks.open_notebook(self.host.files, params.notebook_document, params.cell_text_documents)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """A notebook was edited."""
        document = params.notebook_document
        notebooks.change_notebook(self.host.files, document.uri, document.version, params.change)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """A notebook was closed."""
        self.host.close(params.notebook_document.uri)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]  # pygls runs coroutines as well
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Run a command with its one argument, an object; a missing one counts as empty."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams.of(ValueError(f"There is no command {params.command!r}."))
        argument = params.arguments[0] if params.arguments else {}
        if not isinstance(argument, dict):
            raise JsonRpcInvalidParams.of(ValueError(f"{params.command} takes one object."))
        return await handler(argument, params.work_done_token)
