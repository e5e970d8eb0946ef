"""pygls' protocol with a text synchronisation of our own and an answer to every malformed request.

pygls keeps each document as a text and splits it into lines again on each use; here the changes go straight
to the reader's incremental `Document`.
"""

from __future__ import annotations

import json
import logging
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import (
    FeatureNotificationError,
    JsonRpcException,
    JsonRpcInvalidParams,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from energy_lsp.features import diagnostics, notebooks
from energy_lsp.wire import keystrokes
from energy_lsp.wire.encoding import Encoded, encoded, encoded_object
from energy_lsp.wire.greeting import position_encoding
from energy_lsp.wire.keystrokes import Edited
from energy_lsp.wire.transport import frame

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer
    from energy_lsp.wire.inbox import Read

logger = logging.getLogger(__name__)

PARSE_ERROR = types.ErrorCodes.ParseError
INVALID_REQUEST = types.ErrorCodes.InvalidRequest
NOT_INITIALIZED = types.ErrorCodes.ServerNotInitialized


def _plain(params: dict[str, Any]) -> dict[str, Any]:
    """What can be used of the parameters of an `initialize` that does not follow the protocol."""
    encoding = position_encoding(params["capabilities"])
    return {
        "processId": None,
        "rootUri": None,
        "capabilities": {"general": {"positionEncodings": [encoding]}},
    }


class EnergyProtocol(LanguageServerProtocol):
    """Receives messages and keeps the open files in step with the client."""

    _server: EnergyServer
    _initialized = False
    _answered: str | int | None = None
    """The request whose answer went out before the server was loaded."""

    def receive(self, read: Read, answered: bool = False) -> None:
        """Handle one message; whatever is wrong with it, the server answers or logs, and goes on."""
        try:
            data = read()
        except (ValueError, RecursionError) as problem:
            logger.warning("Not JSON: %s", problem)
            self._refuse(None, PARSE_ERROR, "The message is not JSON.")
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
            self._refuse(None, INVALID_REQUEST, "The message is not a JSON-RPC 2.0 object.")
            return
        request_id = data.get("id") if "method" in data else None
        if refusal := self._refusal(data):
            if request_id is not None:
                self._refuse(request_id, *refusal)
            return
        if self._take_at_once(data, request_id):
            return
        try:
            message = self.structure_message(data)
        except JsonRpcException as problem:
            if not answered:
                self._complain(data, request_id, problem)
                return
            logger.warning("The client's capabilities are not those of the protocol: %s", problem)
            message = self.structure_message({**data, "params": _plain(data["params"])})
        if answered:
            self._answered = request_id
        self.handle_message(message)

    def _take_at_once(self, data: dict[str, Any], request_id: Any) -> bool:
        """What comes with each keystroke takes no detour; True when that was all there is to do."""
        method, params = data.get("method"), data.get("params")
        if method == types.TEXT_DOCUMENT_DID_CHANGE and (edited := keystrokes.edited(params)) is not None:
            self._edit(edited)
            return True
        if method != types.TEXT_DOCUMENT_DIAGNOSTIC or method not in self.fm.features:
            return False
        pulled = keystrokes.pulled(params)
        told = self._server.files.told(pulled.uri) if pulled is not None else None
        if pulled is None or told is None or not isinstance(request_id, (int, str)):
            return False
        self._send_response(request_id, diagnostics.report(told, pulled.previous))
        return True

    def _edit(self, edited: Edited) -> None:
        """A file was edited. As with every notification, nobody waits to hear of a failure."""
        try:
            self._server.files.change(*edited)
        except Exception as problem:
            logger.exception("An edit failed")
            self._server.report_server_error(problem, FeatureNotificationError)

    def handle_message(self, message: Any) -> None:
        """Let a message be handled in a context of its own. pygls finds out at length which kind it is."""
        method = getattr(message, "method", None)
        if method is None:
            super().handle_message(message)
        elif hasattr(message, "id"):
            copy_context().run(self._handle_request, message.id, method, message.params)
        else:
            copy_context().run(self._handle_notification, method, message.params)

    def _complain(self, data: dict[str, Any], request_id: Any, problem: JsonRpcException) -> None:
        """About parameters to whoever asks; an answer that cannot be understood is a failure to whoever asked."""
        if request_id is not None:
            self._refuse(request_id, types.ErrorCodes.InvalidParams, str(problem) or "Invalid parameters.")
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
            if self._initialized:
                return INVALID_REQUEST, "`initialize` was sent twice."
            self._initialized = True
        return None

    def _refuse(self, request_id: str | int | None, code: int, message: str) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "error": {"code": int(code), "message": message}})

    def _send_response(
        self, msg_id: str | int, result: Any | None = None, error: types.ResponseError | None = None
    ) -> None:
        """Answer a request; `initialize` not a second time."""
        if msg_id == self._answered:
            self._answered = None
        elif isinstance(result, Encoded) and error is None:
            self._write(encoded_object(jsonrpc=encoded("2.0"), id=encoded(msg_id), result=result))
        else:
            super()._send_response(msg_id, result, error)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message that is plain JSON already."""
        self._write(json.dumps(message))

    def tell(self, method: str, params: Encoded) -> None:
        """Send a notification whose parameters are encoded already."""
        self._write(encoded_object(jsonrpc=encoded("2.0"), method=encoded(method), params=params))

    def _write(self, body: str) -> None:
        if self.writer is not None:
            self.writer.write(frame(body))

    @property
    def was_shut_down(self) -> bool:
        """True after the client's `shutdown`."""
        return self._shutdown

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Any:
        """Leave: with 0 after a `shutdown`, else with 1."""
        raise SystemExit(0 if self._shutdown else 1)

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """A file was opened."""
        document = params.text_document
        self._server.files.open(document.uri, document.version, document.text)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A file was edited, in other words than usual."""
        document = params.text_document
        self._edit(Edited(document.uri, document.version, params.content_changes))

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """A file was closed."""
        self._server.close(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """A notebook was opened."""
        notebooks.open_notebook(self._server.files, params.notebook_document, params.cell_text_documents)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """A notebook was edited."""
        document = params.notebook_document
        notebooks.change_notebook(self._server.files, document.uri, document.version, params.change)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """A notebook was closed."""
        self._server.close(params.notebook_document.uri)

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
