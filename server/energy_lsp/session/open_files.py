"""What the client has open. Edits are collected on the loop; the worker applies them and makes new pages.

Edits of comments and blank lines in short files only move what is known. While the worker rests, the loop follows
them itself: it tells the diagnostics in their new places at once, and makes the new page when nobody asks for anything. The
worker and the loop never meet in a document: the worker lets the loop do such a job, or it does not.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pygls.uris import to_fs_path

from energy_lsp.presentation.diagnostics import EncodedDiagnostics, Mark
from energy_lsp.presentation.file_report import FileReport
from energy_lsp.presentation.pipeline import LARGEST_SOURCE, make_page, silent_page
from energy_lsp.session.folders import Folder, Folders, UnaskedError
from energy_lsp.session.worker import BACKGROUND, OPEN
from energy_lsp.wire.encoding import Encoded

if TYPE_CHECKING:
    from energy_code.text.lines import Lines
    from energy_code.workspace.document import Document, Moved
    from energy_lsp.session.client import Client
    from energy_lsp.session.worker import Worker

logger = logging.getLogger(__name__)

Change = types.TextDocumentContentChangeEvent
Made = tuple[int, Mapping[str, FileReport]]
"""What `wanted` was when pages were begun, and the pages."""
SHORT = 16_384
"""Bytes of a text, some 450 lines, up to which the loop may follow an edit: parsing all of it would take 2 ms."""
LATER = 0.005
"""How long after telling the diagnostics a page is made that nobody asks for: first the client may want them."""
NOTHING = Encoded("[]")


class Opened:
    """A file or a notebook that the client has open: what it shows is in `pages`, one for each text."""

    def __init__(self, uri: str, version: int, folder: Folder) -> None:
        self.uri = uri
        self.version = version
        self.folder = folder
        self.path = path_of(uri)
        self.pages: Mapping[str, FileReport] = {}
        self.wanted = 1
        """Grows with each edit and each refresh."""
        self.made = 0
        """What `wanted` was when the pages were begun."""
        self.waiting: list[asyncio.Future[None]] = []
        self.lock = threading.Lock()

    @property
    def told(self) -> EncodedDiagnostics | None:
        """The diagnostics of the newest text, where they are known before its page."""
        return None

    def complete(self, client: Client) -> Made | None:
        """On the loop: the page of such a text; None when it is left to the worker."""
        return None

    @property
    def settled(self) -> bool:
        """True when the pages show the newest state."""
        return self.made == self.wanted

    def make(self, client: Client) -> Made:
        """In the worker: apply what waits and make the pages; none for what cannot be read."""
        wanted = self.wanted
        try:
            made, pages = self.make_pages(client)
            for page in pages.values():
                _ = page.told  # encoded here, not on the loop
            return made, pages
        except Exception as problem:
            return wanted, self.no_pages(problem)

    def no_pages(self, problem: Exception) -> Mapping[str, FileReport]:
        """For what could not be read, and why is told."""
        logger.error("Reading %s failed", self.uri, exc_info=problem)
        self.folder.tell([f"Some code could not be read and gets no hints ({type(problem).__name__})."])
        return {}

    def make_pages(self, client: Client) -> Made:
        """What each kind of file does to show its newest state."""
        raise NotImplementedError


class Followed(NamedTuple):
    """What is known of a text after an edit that only moved it."""

    wanted: int
    marks: Sequence[Mark]
    told: EncodedDiagnostics


class OpenFile(Opened):
    """One Python file."""

    def __init__(self, uri: str, version: int, folder: Folder, text: str) -> None:
        super().__init__(uri, version, folder)
        self._text = text
        self._changes: list[Change] = []
        self._unapplied: list[Change] = []
        """Edits of a text that is too large to be read, and stays so with them."""
        self._document: Document | None = None
        self._followed: Followed | None = None

    def change(self, version: int, changes: Sequence[Change]) -> None:
        """Keep edits for the worker."""
        with self.lock:
            self._changes += changes
            self.version = version
            self.wanted += 1

    def make_pages(self, client: Client) -> Made:
        """Bring the document up to date and read it."""
        changes, version, wanted = self._take_changes()
        if self._document is None:
            self._unapplied += changes
            if may_fit(len(self._text), self._unapplied):
                for change in self._unapplied:
                    self._text = changed_text(self._text, change, client)
                self._unapplied.clear()
            if len(self._text) > LARGEST_SOURCE:
                self.folder.tell([f"{Path(self.uri).name} is too large to read and gets no hints."])
                return wanted, {self.uri: silent_page(self.uri, self.folder, client, version)}
            self._document = self._open(self._text)
            self._text = ""
        else:
            for change in changes:
                apply_change(self._document, change, client)
        return wanted, {self.uri: self._page(self._document, client, version)}

    def follow(self, client: Client) -> EncodedDiagnostics | None:
        """Follow edits that only move the diagnostics, and tell where they are; None when there is more to find out."""
        document, marks = self._document, self._marks_before()
        if document is None or marks is None or self._size_with_changes(document) > SHORT:
            return None
        changes, version, wanted = self._take_changes()
        for change in changes:
            apply_change(document, change, client)
        moved = document.move()
        if moved is None or self._says_more(document, moved):
            return None
        lines = document.lines
        marks = [mark.moved(moved.shift) for mark in marks]
        told = EncodedDiagnostics.of(
            self.uri, version, marks, lambda byte: lines.position(byte, client.encoding)
        )
        self._followed = Followed(wanted, marks, told)
        return told

    def _marks_before(self) -> Sequence[Mark] | None:
        """What was marked before the edit that waits; None when that is not known, or another one waits too."""
        before, page = self.wanted - 1, self.pages.get(self.uri)
        if page is None:
            return None
        if self._followed is not None and self._followed.wanted == before:
            return self._followed.marks
        return page.marks if self.made == before else None

    def _says_more(self, document: Document, moved: Moved) -> bool:
        """Whether an edit without code can change diagnostics: by what it says, or by the lines that it moves."""
        before, after = moved.lines
        if b"energy:" in before or b"energy:" in after:
            return True
        if self.pages[self.uri].hints.figures.rows and before.count(b"\n") != after.count(b"\n"):
            return True
        return document.remembered is not None and document.remembered.minds(moved.lines)

    @property
    def told(self) -> EncodedDiagnostics | None:
        """The diagnostics of the newest text, where they are known before its page."""
        followed = self._followed
        return followed.told if followed is not None and followed.wanted == self.wanted else None

    def complete(self, client: Client) -> Made | None:
        """The page of a text whose diagnostics were told; None when a database has to be asked."""
        wanted = self.wanted
        assert self._document is not None
        try:
            with self.folder.cached_only():
                page = self._page(self._document, client, self.version)
            _ = page.told
        except UnaskedError:
            return None
        except Exception as problem:
            return wanted, self.no_pages(problem)
        return wanted, {self.uri: page}

    def _take_changes(self) -> tuple[Sequence[Change], int, int]:
        """The edits that wait, the version after them, and what is wanted with them."""
        with self.lock:
            changes, self._changes = self._changes, []
            return changes, self.version, self.wanted

    def _size_with_changes(self, document: Document) -> int:
        return len(document.source) + sum(len(change.text) for change in self._changes)

    def _page(self, document: Document, client: Client, version: int) -> FileReport:
        before = self.pages.get(self.uri)
        return make_page(self.uri, self.path, document, self.folder, client, version, before)

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
        settled: Callable[[Opened], None],
        told: Callable[[EncodedDiagnostics], None],
    ) -> None:
        self._worker = worker
        self._folders = folders
        self._client = client
        self._settled = settled
        self._told = told
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
        try:
            told = self._worker.do_now(partial(opened.follow, self._client()))
        except Exception:
            logger.exception("%s could not be followed and is read again", uri)
            told = None
        if told is None:
            self.analyse(opened)
            return
        self._told(told)
        asyncio.get_running_loop().call_later(LATER, self._complete, opened, opened.wanted)

    def _complete(self, opened: Opened, wanted: int) -> None:
        """Make the page whose diagnostics were told."""
        if opened.wanted != wanted or opened.settled or self._opened.get(opened.uri) is not opened:
            return
        made = self._worker.do_now(partial(opened.complete, self._client()))
        if made is not None:
            self._receive((opened, *made))
        else:
            self.analyse(opened)

    def close(self, uri: str) -> Opened | None:
        """The client closed a file or notebook."""
        opened = self._opened.get(uri)
        if opened is None or opened.uri != uri:
            return None
        self._worker.forget(("open", uri))
        if (path := opened.path) is not None:
            folder = opened.folder
            self._worker.submit(("close", uri), lambda: folder.changed(path), lambda _: None)
        self._opened = {key: value for key, value in self._opened.items() if value is not opened}
        _release(opened)
        return opened

    def analyse(self, opened: Opened, priority: int = OPEN) -> None:
        """Make the pages anew, in the worker; the newest state wins."""
        self._worker.submit(
            ("open", opened.uri),
            lambda: (opened, *opened.make(self._client())),
            self._receive,
            priority,
        )

    def look_again(self, opened: Iterable[Opened]) -> None:
        """What pages depend on may have changed: nobody waits to learn that it did."""
        for one in list(opened):
            self.analyse(one, BACKGROUND)

    def refresh(self, opened: Iterable[Opened] | None = None) -> None:
        """Something that pages depend on changed: the database, the settings, another file."""
        for one in list(self if opened is None else opened):
            with one.lock:
                one.wanted += 1
            self.analyse(one)

    def told(self, uri: str) -> EncodedDiagnostics | None:
        """The newest diagnostics of a file or cell; None when it is not open, or they are not ready."""
        opened = self._opened.get(uri)
        if opened is None or not opened.settled:
            return opened.told if opened is not None else None
        page = opened.pages.get(uri)
        return page.told if page is not None else None

    async def page(self, uri: str) -> FileReport | None:
        """The newest page of a file or cell, waiting until it is ready; None when it is not open."""
        opened = await self._ready(uri)
        return opened.pages.get(uri) if opened is not None else None

    async def answer(self, uri: str, ask: Callable[[FileReport], Encoded]) -> Encoded:
        """A list that is asked of a whole page, in the worker: it may look at every call."""
        page = await self.page(uri)
        if page is None:
            return NOTHING
        answer: Encoded = await self._worker.run(lambda: ask(page))
        return answer

    async def pages(self, uri: str) -> list[FileReport]:
        """The newest pages of a file (one) or notebook (one for each cell)."""
        opened = await self._ready(uri)
        return list(opened.pages.values()) if opened is not None else []

    async def _ready(self, uri: str) -> Opened | None:
        opened = self._opened.get(uri)
        if opened is not None and opened.told is not None:
            self._complete(opened, opened.wanted)
        while opened is not None and not opened.settled:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            opened.waiting.append(future)
            await future
            opened = self._opened.get(uri)
        return opened

    def _receive(self, result: tuple[Opened, int, Mapping[str, FileReport]]) -> None:
        opened, made, pages = result
        if self._opened.get(opened.uri) is not opened:
            return
        before = opened.pages
        opened.made, opened.pages = made, pages
        if opened.settled:
            _release(opened)
            self._settled(opened)
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
