"""The language server: it wires the features to the open files, and looks after what changes on disk."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import FeatureNotificationError
from pygls.lsp.server import LanguageServer

from energy_lsp.features import (
    code_actions,
    code_lens,
    commands,
    configuration,
    diagnostics,
    hover,
    inlay_hints,
    notebooks,
    pages,
    status,
)
from energy_lsp.features.programs import measuring, runs
from energy_lsp.session.client import Client
from energy_lsp.session.folders import Folders
from energy_lsp.session.garbage_collection import Garbage
from energy_lsp.session.open_files import Opened, OpenFiles, path_of
from energy_lsp.session.unopened_files import Reports
from energy_lsp.session.worker import BACKGROUND, Worker
from energy_lsp.wire.encoding import converter
from energy_lsp.wire.greeting import NAME, First
from energy_lsp.wire.inbox import Inbox
from energy_lsp.wire.protocol import EnergyProtocol
from energy_lsp.wire.type_warmup import learn

if TYPE_CHECKING:
    from pygls.server import ServerErrors

    from energy_lsp.features.programs.measuring import Progress
    from energy_lsp.wire.inbox import Read
    from energy_lsp.wire.transport import Wire

logger = logging.getLogger(__name__)

FEATURES = (hover, diagnostics, code_actions, inlay_hints, code_lens, commands, pages, runs, configuration)
OTHERS_SECONDS = 1.0
"""How long after an edit the other open files of the folder are read again."""
LOOK_SECONDS = 0.7
"""How often the databases' state on disk and the client's life are looked at."""


class EnergyServer(LanguageServer):
    """One client's server."""

    protocol: EnergyProtocol
    worker: Worker
    files: OpenFiles

    def __init__(self, options: Mapping[str, object]) -> None:
        super().__init__(
            NAME,
            metadata.version(NAME),
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=notebooks.SYNC,
            protocol_cls=EnergyProtocol,
            converter_factory=converter,
            max_workers=1,
        )
        self.client = Client()
        self.folders = Folders(options)
        self.garbage = Garbage()
        self.state: status.State = "ready"
        self.published: dict[str, tuple[str, int | None]] = {}
        self.reports: defaultdict[Path, Reports] = defaultdict(Reports)
        """Of the workspace's folders, what is known of files that are not open."""
        self.measurement: Progress | None = None
        self._client_process: ClientProcess | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_shown: dict[str, tuple[int | None, tuple[object, ...]]] = {}
        self._others_due: asyncio.TimerHandle | None = None
        self._shown: set[str] = set()
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        for feature in FEATURES:
            feature.register(self)
        self._register_lifecycle()

    def _register_lifecycle(self) -> None:
        @self.feature(types.INITIALIZE)
        def initialize(ls: EnergyServer, params: types.InitializeParams) -> None:
            ls.begin(params)

        @self.feature(types.SHUTDOWN)
        def shutdown(ls: EnergyServer, params: None) -> None:
            ls.worker.stop()

        @self.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
        def cancel(ls: EnergyServer, params: types.WorkDoneProgressCancelParams) -> None:
            if ls.measurement is not None and ls.measurement.token == params.token:
                ls.measurement.cancelled.set()

    # the life of the process

    async def serve(self, wire: Wire, first: First | None) -> int:
        """Talk to one client until it says goodbye or goes away; the exit code of the process."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[int] = loop.create_future()
        self.worker = Worker(loop, self._job_failed)
        self.files = OpenFiles(
            self.worker, self.folders, lambda: self.client, self._settled, partial(diagnostics.push, self)
        )

        def end(code: int) -> None:
            if not over.done():
                over.set_result(code)

        def receive(read: Read, answered: bool = False) -> None:
            self.garbage.hear()
            try:
                self.protocol.receive(read, answered)
            except SystemExit as leave:
                end(int(leave.code or 0))
            except OSError as problem:
                logger.info("The client is gone: %s", problem)
                end(1)

        self.protocol.set_writer(wire)
        if first is not None:
            receive(partial(json.loads, first.body), first.answered)
        for method in (*self.protocol.fm.builtin_features, *self.protocol.fm.features):
            self.worker.submit(("learn", method), partial(learn, method), ignore, BACKGROUND)
        wire.attach(loop, Inbox(loop, receive).receive, lambda: end(0 if self.protocol.was_shut_down else 1))
        watching = asyncio.ensure_future(self._watch(end))
        try:
            return await over
        finally:
            for task in [watching, *self._tasks]:
                task.cancel()
            await asyncio.gather(watching, *self._tasks, return_exceptions=True)
            self.worker.stop()
            await measuring.stop_all(self)
            if self._scratch is not None:
                self._scratch.cleanup()

    def begin(self, params: types.InitializeParams) -> None:
        """Learn what the client can do and which folders it has open."""
        self._client_process = ClientProcess(params.process_id)
        encoding = self.protocol.workspace.position_encoding or "utf-16"
        self.client = Client.of(params.capabilities, str(getattr(encoding, "value", encoding)))
        if not self.client.pulls_diagnostics:
            for method in (types.TEXT_DOCUMENT_DIAGNOSTIC, types.WORKSPACE_DIAGNOSTIC):
                self.protocol.fm.features.pop(method, None)
        options: Any = params.initialization_options
        if isinstance(options, dict) and options.get("trusted") is False:
            self.folders.trusted = False
        uris = [folder.uri for folder in params.workspace_folders or ()]
        if not uris and params.root_uri:
            uris = [params.root_uri]
        for uri in uris:
            if path := path_of(uri):
                self.folders.add(path)

    async def _watch(self, end: Callable[[int], None]) -> None:
        """Look at the databases on disk, and whether the client's process still lives."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._client_process is not None and self._client_process.is_gone():
                logger.warning("The client's process is gone")
                end(1)
            self.look_at_databases()
            self.garbage.look(opening=any(opened.made == 0 for opened in self.files))

    def begin_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Work of the server's own; what fails is logged, and it ends with the server."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            logger.error("A task failed", exc_info=problem)

    # what changes

    def look_at_databases(self) -> None:
        """Show everything anew in folders whose database changed on disk."""
        for folder in self.folders:
            if folder.database_changed():
                self.worker.submit(("reopen", folder.root), folder.reopen, lambda _: self.show_anew())

    async def reload(self) -> None:
        """Read settings and databases again and show everything anew."""
        for folder in self.folders:
            folder.configure()
            await self.worker.run(folder.reopen)
        self.show_anew()

    def show_anew(self) -> None:
        """Make the pages again, and ask clients that hold results to fetch them."""
        self.files.refresh()
        self._refresh_clients()

    def sources_changed(self, paths: Iterable[Path]) -> None:
        """Files changed on disk: open files that import them may mean something else now."""
        for path in paths:
            if self.files.get(path.as_uri()) is not None:
                continue
            folder = self.folders.of(path)
            self.worker.submit(("changed", path), partial(folder.changed, path), ignore)
        self.show_anew()

    def _refresh_clients(self) -> None:
        if self.client.refreshes_diagnostics and self.client.pulls_diagnostics:
            self.workspace_diagnostic_refresh(None, ignore)
        if self.client.refreshes_inlay_hints:
            self.workspace_inlay_hint_refresh(None, ignore)
        if self.client.refreshes_code_lens:
            self.workspace_code_lens_refresh(None, ignore)

    def close(self, uri: str) -> None:
        """A file or notebook was closed: what was published for it goes."""
        closed = self.files.close(uri)
        self._last_shown.pop(uri, None)
        if closed is not None:
            self.garbage.let_go()
            diagnostics.withdraw(self, list(closed.pages))

    def set_state(self, state: status.State) -> None:
        """What the server is busy with, for the status bar."""
        self.state = state
        for opened in self.files:
            if opened.settled:
                status.send(self, opened)

    def _settled(self, opened: Opened) -> None:
        if opened.uri not in self._last_shown:
            self.garbage.expect()
        for page in opened.pages.values():
            diagnostics.push(self, page.told)
        status.send(self, opened)
        self.show_problems()
        self._trace(opened)
        shown = tuple((page.result_id, list(page.hints.figures)) for page in opened.pages.values())
        version, before = self._last_shown.get(opened.uri, (None, shown))
        self._last_shown[opened.uri] = (opened.version, shown)
        if version != opened.version:
            self._look_at_others_soon(opened)
        elif before != shown:
            self._refresh_clients()

    def _look_at_others_soon(self, edited: Opened) -> None:
        """What imports an edited file may mean something else now; look when nobody types for a moment."""
        if self._others_due is not None:
            self._others_due.cancel()
        self._others_due = asyncio.get_running_loop().call_later(OTHERS_SECONDS, self._look_at_others, edited)

    def _look_at_others(self, edited: Opened) -> None:
        self.files.look_again(one for one in self.files if one is not edited and one.folder is edited.folder)

    def _trace(self, opened: Opened) -> None:
        """What a client that traces wants to know."""
        if self.protocol.trace == types.TraceValue.Off:
            return
        calls = sum(len(page.hints) for page in opened.pages.values())
        message = f"Read {opened.uri}, version {opened.version}: {calls} calls"
        self.log_trace(types.LogTraceParams(message))

    @property
    def scratch(self) -> Path:
        """A folder for pages that the client is asked to open; it goes with the server."""
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="energy-lsp-")
        return Path(self._scratch.name)

    # what goes wrong

    def show_problems(self) -> None:
        """Show each problem once; the log has them all."""
        for folder in self.folders:
            problems, folder.problems = folder.problems, []
            for problem in problems:
                self.show_once(problem)

    def show_once(self, problem: str) -> None:
        """One message to the user for each kind of problem."""
        if problem not in self._shown:
            self._shown.add(problem)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, problem))
        self.window_log_message(types.LogMessageParams(types.MessageType.Warning, problem))

    def _job_failed(self, problem: BaseException) -> None:
        self.show_once(f"energy-lsp had a problem and goes on ({type(problem).__name__}); see its log.")

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """Errors of notifications go to the log, and once to the user."""
        logger.error("%s", error)
        if issubclass(source, FeatureNotificationError):
            self._job_failed(error)


def ignore(result: object) -> None:
    """For requests whose answer says nothing."""


class ClientProcess:
    """The process that `initialize` named. One that was never visible (another machine) is not watched."""

    def __init__(self, process_id: int | None) -> None:
        self._id = process_id if os.name != "nt" and process_id is not None and _lives(process_id) else None

    def is_gone(self) -> bool:
        """True when the process could be seen before and cannot be now."""
        return self._id is not None and not _lives(self._id)


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
