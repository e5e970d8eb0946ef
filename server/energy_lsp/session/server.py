"""The language server: it keeps the open files and their folders, and looks after what changes on disk."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from lsprotocol import types
from pygls.exceptions import FeatureNotificationError
from pygls.io_ import run_async
from pygls.lsp.server import LanguageServer

from energy_data.untrusted.printable import one_line
from energy_lsp.session import notebooks
from energy_lsp.session.garbage_collection import Garbage
from energy_lsp.session.open_file import Opened, path_of
from energy_lsp.session.open_files import OpenFiles
from energy_lsp.session.protocol import PARSE_ERROR, EnergyProtocol
from energy_lsp.session.worker import BACKGROUND, Worker
from energy_lsp.wire.encoding import converter
from energy_lsp.wire.streams import Bounded, Streams
from energy_lsp.wire.type_warmup import learn
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folders
from energy_lsp.workspace.settings import SECTION

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader
    from pygls.server import ServerErrors


logger = logging.getLogger(__name__)

NAME = "energy-lsp"

State = Literal["ready", "indexing", "measuring"]
OTHERS_SECONDS = 1.0
"""How long after an edit the other open files of the folder are read again."""
STOP_SECONDS = 1.0
"""How long tasks may take to end; reading in a thread never does."""
LOOK_SECONDS = 0.7
"""How often the databases' state on disk and the client's life are looked at."""


class RunningMeasurement(Protocol):
    """A program that is being measured (`features.programs.measuring.WorkDoneProgress`)."""

    token: types.ProgressToken | None
    cancelled: asyncio.Event


class EnergyServer(LanguageServer):
    """One client's server; what it offers registers itself with it (`serving.FEATURES`)."""

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
        self._over: asyncio.Future[int]
        self._stopped = threading.Event()
        self.client = Client()
        self.folders = Folders(options)
        self.garbage = Garbage()
        self.state: State = "ready"
        self.published: dict[str, tuple[str, int | None]] = {}
        self.measurement: RunningMeasurement | None = None
        self._client_process: ClientProcess | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_shown: dict[str, tuple[int | None, tuple[object, ...]]] = {}
        self._others_due: asyncio.TimerHandle | None = None
        self._shown: set[str] = set()
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self.on_report: list[Callable[[Opened], None]] = []
        """Called with what is open when its newest state was read."""
        self.on_state: list[Callable[[Opened], None]] = []
        """The same, and when what the server is busy with changes."""
        self.on_close: list[Callable[[Sequence[str]], None]] = []
        """Called with the texts that are no longer open."""
        self.on_end: list[Callable[[], Coroutine[Any, Any, None]]] = []
        """Run before the process ends."""
        self.protocol.host = self
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

    async def serve(self, connect: Callable[[EnergyServer], Coroutine[Any, Any, Streams]]) -> int:
        """Talk to one client until it says goodbye or goes away; the exit code of the process."""
        loop = asyncio.get_running_loop()
        over = self._over = loop.create_future()
        self.worker = Worker(loop, self._job_failed)
        self.files = OpenFiles(self.worker, self.folders, lambda: self.client, self._now_current)
        streams = await connect(self)
        self.protocol.set_writer(streams.writer)
        reading = asyncio.ensure_future(self._read(streams.reader))
        watching = asyncio.ensure_future(self._watch())
        try:
            code: int = await over
            return code
        finally:
            tasks = [reading, watching, *self._tasks]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=STOP_SECONDS)
            self.worker.stop()
            for stop in self.on_end:
                await stop()
            await streams.flush()
            if self._scratch is not None:
                self._scratch.cleanup()

    async def _read(self, reader: AsyncReader) -> None:
        """Let pygls read messages until the client closes its side."""
        try:
            await run_async(self._stopped, Bounded(reader), self.protocol, logger, self.report_server_error)
        except Exception as problem:
            logger.warning("The client's stream broke: %s", problem)
        self.end(0 if self.protocol.was_shut_down else 1)

    def end(self, code: int) -> None:
        """Leave with this exit code; the first one counts."""
        self._stopped.set()
        if not self._over.done():
            self._over.set_result(code)

    def client_gone(self) -> None:
        """The client no longer reads."""
        logger.info("The client is gone")
        self.end(1)

    def begin(self, params: types.InitializeParams) -> None:
        """Learn what the client can do and which folders it has open."""
        self._client_process = ClientProcess(params.process_id)
        encoding = self.protocol.workspace.position_encoding or "utf-16"
        self.client = Client.of(params.capabilities, str(getattr(encoding, "value", encoding)))
        if not self.client.pulls_diagnostics:
            for method in (types.TEXT_DOCUMENT_DIAGNOSTIC, types.WORKSPACE_DIAGNOSTIC):
                self.protocol.fm.features.pop(method, None)
        options: Any = params.initialization_options
        options = options if isinstance(options, dict) else {}
        if options.get("trusted") is False:
            self.folders.trusted = False
        if isinstance(section := options.get(SECTION), dict):
            self.folders.default_options = section
        uris = [folder.uri for folder in params.workspace_folders or ()]
        if not uris and params.root_uri:
            uris = [params.root_uri]
        for uri in uris:
            if path := path_of(uri):
                self.folders.add(path)
        for method in (*self.protocol.fm.builtin_features, *self.protocol.fm.features):
            self.worker.submit(("learn", method), partial(learn, method), ignore, BACKGROUND)

    async def _watch(self) -> None:
        """Look at the databases on disk, and whether the client's process still lives."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._client_process is not None and self._client_process.is_gone():
                logger.warning("The client's process is gone")
                self.end(1)
            self.look_at_databases()
            self.garbage.collect()

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
        """Make the reports again, and ask clients that hold results to fetch them."""
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
            for closing in self.on_close:
                closing(list(closed.reports))

    def set_state(self, state: State) -> None:
        """What the server is busy with, for the status bar."""
        self.state = state
        for opened in self.files:
            if opened.is_current:
                self._show_state(opened)

    def _show_state(self, opened: Opened) -> None:
        for show in self.on_state:
            show(opened)

    def _now_current(self, opened: Opened) -> None:
        for show in self.on_report:
            show(opened)
        self._show_state(opened)
        self.show_problems()
        self._trace(opened)
        shown = tuple(
            (report.diagnostics.result_id, list(report.hints.figures)) for report in opened.reports.values()
        )
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
        calls = sum(len(report.hints) for report in opened.reports.values())
        message = f"Read {opened.uri}, version {opened.version}: {calls} calls"
        self.log_trace(types.LogTraceParams(message))

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
        """One message to the user for each kind of problem, of one line whatever it names."""
        problem = one_line(problem)
        if problem not in self._shown:
            self._shown.add(problem)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, problem))
        self.window_log_message(types.LogMessageParams(types.MessageType.Warning, problem))

    def _job_failed(self, problem: BaseException) -> None:
        self.show_once(f"energy-lsp had a problem and goes on ({type(problem).__name__}); see its log.")

    def report_server_error(self, error: Exception, source: ServerErrors) -> None:
        """What is no JSON is refused; errors of notifications go to the log, and once to the user."""
        logger.error("%s", error)
        if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError)):
            self.protocol.refuse(None, PARSE_ERROR, "The message is not JSON.")
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
