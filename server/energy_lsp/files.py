"""What the client has open. Edits are collected on the loop; the worker applies them and makes new pages.

Only the worker touches a file's document while edits wait, only the loop while none do: the two never meet.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import to_fs_path

from energy_lsp.encoding import Encoded
from energy_lsp.folders import Folder, Folders
from energy_lsp.making import LARGEST_SOURCE, make_page, silent_page
from energy_lsp.pages import Page
from energy_lsp.worker import BACKGROUND, OPEN

if TYPE_CHECKING:
    from energy_code.document import Document
    from energy_code.positions import Lines
    from energy_lsp.client import Client
    from energy_lsp.worker import Worker

logger = logging.getLogger(__name__)

Change = types.TextDocumentContentChangeEvent
NOTHING = Encoded("[]")


class Opened:
    """A file or a notebook that the client has open: what it shows is in `pages`, one for each text."""

    def __init__(self, uri: str, version: int, folder: Folder) -> None:
        self.uri = uri
        self.version = version
        self.folder = folder
        self.path = path_of(uri)
        self.pages: Mapping[str, Page] = {}
        self.wanted = 1
        """Grows with each edit and each refresh."""
        self.made = 0
        """What `wanted` was when the pages were begun."""
        self.waiting: list[asyncio.Future[None]] = []
        self.lock = threading.Lock()

    @property
    def settled(self) -> bool:
        """True when the pages show the newest state."""
        return self.made == self.wanted

    def make(self, client: Client) -> tuple[int, Mapping[str, Page]]:
        """In the worker: apply what waits and make the pages; none for what cannot be read."""
        wanted = self.wanted
        try:
            made, pages = self.make_pages(client)
            for page in pages.values():
                page.encode()
            return made, pages
        except Exception as problem:
            logger.exception("Reading %s failed", self.uri)
            self.folder.tell([f"Some code could not be read and gets no hints ({type(problem).__name__})."])
            return wanted, {}

    def make_pages(self, client: Client) -> tuple[int, Mapping[str, Page]]:
        """What each kind of file does to show its newest state."""
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

    def change(self, version: int, changes: Sequence[Change]) -> None:
        """Keep edits for the worker."""
        with self.lock:
            self._changes += changes
            self.version = version
            self.wanted += 1

    def make_pages(self, client: Client) -> tuple[int, Mapping[str, Page]]:
        """Bring the document up to date and read it."""
        with self.lock:
            changes, self._changes = self._changes, []
            version, wanted = self.version, self.wanted
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
        page = make_page(self.uri, self.path, self._document, self.folder, client, version)
        return wanted, {self.uri: page}

    def _open(self, text: str) -> Document:
        """The document, known to the project, so that what imports this file sees the editor's text."""
        if self.path is not None:
            return self.folder.project.open(self.path, text)
        from energy_code.document import Document

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
    from energy_code.positions import Lines

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
    ) -> None:
        self._worker = worker
        self._folders = folders
        self._client = client
        self._settled = settled
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

    def settled_page(self, uri: str) -> Page | None:
        """The newest page of a file or cell; None when it is not open, or not ready."""
        opened = self._opened.get(uri)
        return opened.pages.get(uri) if opened is not None and opened.settled else None

    async def page(self, uri: str) -> Page | None:
        """The newest page of a file or cell, waiting until it is ready; None when it is not open."""
        opened = await self._ready(uri)
        return opened.pages.get(uri) if opened is not None else None

    async def answer(self, uri: str, ask: Callable[[Page], Encoded]) -> Encoded:
        """A list that is asked of a whole page, in the worker: it may look at every call."""
        page = await self.page(uri)
        if page is None:
            return NOTHING
        answer: Encoded = await self._worker.run(lambda: ask(page))
        return answer

    async def pages(self, uri: str) -> list[Page]:
        """The newest pages of a file (one) or notebook (one for each cell)."""
        opened = await self._ready(uri)
        return list(opened.pages.values()) if opened is not None else []

    async def _ready(self, uri: str) -> Opened | None:
        opened = self._opened.get(uri)
        while opened is not None and not opened.settled:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            opened.waiting.append(future)
            await future
            opened = self._opened.get(uri)
        return opened

    def _receive(self, result: tuple[Opened, int, Mapping[str, Page]]) -> None:
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
