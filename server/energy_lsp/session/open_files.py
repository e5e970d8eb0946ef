"""All that the client has open, who reads each of them, and when their reports are ready."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.presentation.reports.file import FileReport
from energy_lsp.session.open_file import Change, Opened, OpenFile, path_of
from energy_lsp.session.worker import BACKGROUND, OPEN
from energy_lsp.wire.encoding import Encoded
from energy_lsp.workspace.folders import Folder, Folders

if TYPE_CHECKING:
    from energy_lsp.session.worker import Worker
    from energy_lsp.workspace.client import Client

logger = logging.getLogger(__name__)

NOTHING = Encoded("[]")


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
            project = opened.folder.project()
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
