"""What the client has open. Edits are collected on the loop; the worker applies them and makes new reports."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import to_fs_path

from energy_lsp.presentation.pipeline import LARGEST_SOURCE, make_report, silent_report
from energy_lsp.presentation.reports.diagnostics import with_diagnostics
from energy_lsp.presentation.reports.file import FileReport
from energy_lsp.session.worker import BACKGROUND, OPEN
from energy_lsp.wire.encoding import Encoded
from energy_lsp.workspace.folders import Folder, Folders

if TYPE_CHECKING:
    from energy_code.text.lines import Lines
    from energy_code.workspace.document import Document
    from energy_lsp.session.worker import Worker
    from energy_lsp.workspace.client import Client

logger = logging.getLogger(__name__)

Change = types.TextDocumentContentChangeEvent
Made = tuple[int, Mapping[str, FileReport]]
"""What `wanted` was when reports were begun, and the reports."""
NOTHING = Encoded("[]")


class Opened:
    """A file or a notebook that the client has open: what it shows is in `reports`, one for each text."""

    def __init__(self, uri: str, version: int, folder: Folder) -> None:
        self.uri = uri
        self.version = version
        self.folder = folder
        self.path = path_of(uri)
        self.reports: Mapping[str, FileReport] = {}
        self.wanted = 1
        """Grows with each edit and each refresh."""
        self.made = 0
        """What `wanted` was when the reports were begun."""
        self.waiting: list[asyncio.Future[None]] = []
        self.apart: Worker | None = None
        """Who reads it, if it takes so long that others would wait."""
        self.lock = threading.Lock()

    @property
    def is_current(self) -> bool:
        """True when the reports show the newest state."""
        return self.made == self.wanted

    def make(self, client: Client) -> Made:
        """In the worker: apply what waits and make the reports; none for what cannot be read."""
        wanted = self.wanted
        try:
            made, reports = self.make_reports(client)
            return made, {uri: with_diagnostics(report) for uri, report in reports.items()}
        except Exception as problem:
            return wanted, self.no_reports(problem)

    def no_reports(self, problem: Exception) -> Mapping[str, FileReport]:
        """For what could not be read; the user learns why."""
        logger.error("Reading %s failed", self.uri, exc_info=problem)
        self.folder.notify([f"Some code could not be read and gets no hints ({type(problem).__name__})."])
        return {}

    def make_reports(self, client: Client) -> Made:
        """What each kind of file does to show its newest state."""
        raise NotImplementedError

    @property
    def is_slow(self) -> bool:
        """Whether its last reading took too long."""
        raise NotImplementedError

    def move_to(self, folder: Folder) -> None:
        """In the worker: read it anew from now on, in another folder."""
        raise NotImplementedError


class OpenFile(Opened):
    """One Python file."""

    def __init__(self, uri: str, version: int, folder: Folder, text: str) -> None:
        super().__init__(uri, version, folder)
        self._text = text
        self._changes: list[Change] = []
        self._unapplied: list[Change] = []
        """Edits of a text that is too large to be read, and stays so with them."""
        self._document: Document | None = None

    @property
    def is_slow(self) -> bool:
        """Whether its last reading took too long."""
        return self._document is not None and self._document.is_cut_short

    def move_to(self, folder: Folder) -> None:
        """In the worker: read it anew from now on, in another folder."""
        if self._document is not None:
            self._text = self._document.source.decode("utf-8", "surrogatepass")
            self._document = None
        self.folder = folder

    def change(self, version: int, changes: Sequence[Change]) -> None:
        """Keep edits for the worker."""
        with self.lock:
            self._changes += changes
            self.version = version
            self.wanted += 1

    def make_reports(self, client: Client) -> Made:
        """Bring the document up to date and read it."""
        changes, version, wanted = self._take_changes()
        if self._document is None:
            self._unapplied += changes
            if may_fit(len(self._text), self._unapplied):
                for change in self._unapplied:
                    self._text = changed_text(self._text, change, client)
                self._unapplied.clear()
            if len(self._text) > LARGEST_SOURCE:
                self.folder.notify([f"{Path(self.uri).name} is too large to read and gets no hints."])
                return wanted, {self.uri: silent_report(self.uri, self.folder, client, version)}
            self._document = self._open(self._text)
            self._text = ""
        else:
            for change in changes:
                apply_change(self._document, change, client)
        return wanted, {self.uri: self._page(self._document, client, version)}

    def _take_changes(self) -> tuple[Sequence[Change], int, int]:
        """The edits that wait, the version after them, and what is wanted with them."""
        with self.lock:
            changes, self._changes = self._changes, []
            return changes, self.version, self.wanted

    def _page(self, document: Document, client: Client, version: int) -> FileReport:
        return make_report(self.uri, self.path, document, self.folder, client, version)

    def _open(self, text: str) -> Document:
        """The document, known to the project, so that what imports this file sees the editor's text."""
        if self.path is not None:
            return self.folder.project.open(self.path, text)
        from energy_code.workspace.document import Document

        return Document(text)


def apply_change(document: Document, change: Change, client: Client) -> None:
    """One content change of a file."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        document.replace(change.text)
        return
    start, end = _stretch(document.lines, change.range, client)
    document.edit(start, end, change.text.encode("utf-8", "surrogatepass"))


def may_fit(size: int, changes: Iterable[Change]) -> bool:
    """Whether a text of so many characters can be small enough to be read after some changes."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return True
        start, end = change.range.start, change.range.end
        if start.line != end.line:
            return True
        size -= end.character - start.character
    return size <= LARGEST_SOURCE


def changed_text(text: str, change: Change, client: Client) -> str:
    """A text after one content change."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        return change.text
    from energy_code.text.lines import Lines

    source = text.encode("utf-8", "surrogatepass")
    start, end = _stretch(Lines(source), change.range, client)
    replacement = change.text.encode("utf-8", "surrogatepass")
    return (source[:start] + replacement + source[end:]).decode("utf-8", "surrogatepass")


def _stretch(lines: Lines, where: types.Range, client: Client) -> tuple[int, int]:
    start = lines.byte_offset(where.start.line, where.start.character, client.encoding)
    return start, max(start, lines.byte_offset(where.end.line, where.end.character, client.encoding))


class OpenFiles:
    """All that is open, by the URI of the file, the notebook or the cell."""

    def __init__(
        self,
        worker: Worker,
        folders: Folders,
        client: Callable[[], Client],
        on_current: Callable[[Opened], None],
    ) -> None:
        self._worker = worker
        self._folders = folders
        self._client = client
        self._on_current = on_current
        self._opened: dict[str, Opened] = {}

    def __iter__(self) -> Iterator[Opened]:
        return iter(set(self._opened.values()))

    def get(self, uri: str) -> Opened | None:
        """The open file, notebook, or notebook of a cell."""
        return self._opened.get(uri)

    def open(self, uri: str, version: int, text: str) -> None:
        """The client opened a file; opening it twice replaces it."""
        self.close(uri)
        self.begin(OpenFile(uri, version, self.folder_of(path_of(uri)), text))

    def begin(self, opened: Opened, cells: Iterable[str] = ()) -> None:
        """Keep something that was opened, under its own URI and those of its cells."""
        self._opened[opened.uri] = opened
        self.know_cells(opened, cells)
        self.analyse(opened)

    def know_cells(self, opened: Opened, cells: Iterable[str]) -> None:
        """Which cells a notebook has now."""
        others = {uri: one for uri, one in self._opened.items() if one is not opened or uri == opened.uri}
        self._opened = others | dict.fromkeys(cells, opened)

    def folder_of(self, path: Path | None) -> Folder:
        """The workspace folder of a file."""
        return self._folders.of(path)

    def rehome(self) -> None:
        """Folders came or went: find each file's folder again and show it anew."""
        for opened in self:
            if opened.apart is None:
                opened.folder = self.folder_of(opened.path)
        self.refresh()

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """The client edited a file."""
        opened = self._opened.get(uri)
        if not isinstance(opened, OpenFile):
            logger.warning("Ignoring a change of %s, which is not open", uri)
            return
        if version <= opened.version:
            logger.warning("%s: version %s follows version %s", uri, version, opened.version)
        opened.change(version, changes)
        self.analyse(opened)

    def close(self, uri: str) -> Opened | None:
        """The client closed a file or notebook."""
        opened = self._opened.get(uri)
        if opened is None or opened.uri != uri:
            return None
        self._worker_of(opened).forget(("open", uri))
        if opened.apart is not None:
            opened.apart.stop()
        if (path := opened.path) is not None:
            folder = self.folder_of(path)
            self._worker.submit(("close", uri), lambda: folder.changed(path), lambda _: None)
        self._opened = {key: value for key, value in self._opened.items() if value is not opened}
        _release(opened)
        return opened

    def analyse(self, opened: Opened, priority: int = OPEN) -> None:
        """Make the reports anew, in the worker; the newest state wins."""
        self._worker_of(opened).submit(
            ("open", opened.uri),
            lambda: (opened, *opened.make(self._client())),
            self._receive,
            priority,
        )

    def _worker_of(self, opened: Opened) -> Worker:
        return opened.apart if opened.apart is not None else self._worker

    def _set_apart(self, opened: Opened) -> None:
        """Let a file that takes long be read where nobody waits for it: in a thread of its own, with the folder as it is
        on disk. For the others it is empty."""
        opened.apart = self._worker.another()
        if (path := opened.path) is not None:
            project = opened.folder.project
            self._worker.submit(("apart", opened.uri), lambda: project.open(path, ""), lambda _: None)
        self._move_apart(opened)
        self.analyse(opened)

    def _move_apart(self, opened: Opened) -> None:
        folder = self.folder_of(opened.path).apart()
        self._worker_of(opened).submit(("move", opened.uri), lambda: opened.move_to(folder), lambda _: None)

    def look_again(self, opened: Iterable[Opened]) -> None:
        """What reports depend on may have changed: nobody waits to learn that it did."""
        for one in list(opened):
            self.analyse(one, BACKGROUND)

    def refresh(self, opened: Iterable[Opened] | None = None) -> None:
        """Something that reports depend on changed: the database, the settings, another file."""
        for one in list(self if opened is None else opened):
            with one.lock:
                one.wanted += 1
            if one.apart is not None:
                self._move_apart(one)
            self.analyse(one)

    async def report(self, uri: str) -> FileReport | None:
        """The newest report of a file or cell, waiting until it is ready; None when it is not open."""
        opened = await self._ready(uri)
        return opened.reports.get(uri) if opened is not None else None

    async def answer(self, uri: str, ask: Callable[[FileReport], Encoded]) -> Encoded:
        """A list that is asked of a whole report, in the worker: it may look at every call."""
        report = await self.report(uri)
        if report is None:
            return NOTHING
        opened = self._opened.get(uri)
        worker = self._worker_of(opened) if opened is not None else self._worker
        answer: Encoded = await worker.run(lambda: ask(report))
        return answer

    async def reports(self, uri: str) -> list[FileReport]:
        """The newest reports of a file (one) or notebook (one for each cell)."""
        opened = await self._ready(uri)
        return list(opened.reports.values()) if opened is not None else []

    async def _ready(self, uri: str) -> Opened | None:
        opened = self._opened.get(uri)
        while opened is not None and not opened.is_current:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            opened.waiting.append(future)
            await future
            opened = self._opened.get(uri)
        return opened

    def _receive(self, result: tuple[Opened, int, Mapping[str, FileReport]]) -> None:
        opened, made, reports = result
        if self._opened.get(opened.uri) is not opened:
            return
        before = opened.reports
        opened.made, opened.reports = made, reports
        if opened.is_current:
            _release(opened)
            self._on_current(opened)
        if opened.is_slow and opened.apart is None:
            self._set_apart(opened)
        elif opened.apart is not None:
            self.folder_of(opened.path).notify(opened.folder.problems)
        del before  # only now: thousands of objects go with it, and the client has its diagnostics


def _release(opened: Opened) -> None:
    waiting, opened.waiting = opened.waiting, []
    for future in waiting:
        if not future.done():
            future.set_result(None)


def path_of(uri: str) -> Path | None:
    """The file behind a URI; None for unsaved and virtual ones."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else None
