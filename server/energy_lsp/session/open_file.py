"""A file that the client has open: edits are collected on the loop; the worker applies them and makes a new report."""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import to_fs_path

from energy_lsp.presentation.pipeline import LARGEST_SOURCE, make_report, silent_report
from energy_lsp.presentation.reports.diagnostics import Impacts, with_diagnostics
from energy_lsp.presentation.reports.file import FileReport
from energy_lsp.presentation.reports.impact import impact_of
from energy_lsp.workspace.folders import Folder

if TYPE_CHECKING:
    from energy_code.text.lines import Lines
    from energy_code.workspace.document import Document
    from energy_lsp.session.worker import Worker
    from energy_lsp.workspace.client import Client

logger = logging.getLogger(__name__)

Change = types.TextDocumentContentChangeEvent
Made = tuple[int, Mapping[str, FileReport]]
"""What `wanted` was when reports were begun, and the reports."""
LONGEST_FORESEEN = 20_000
"""Bytes of a program beyond which what a finding is worth in it is predicted in hovers and by `check` alone: going through
the program for its shapes takes about 10 ms for so many. Inlay hints, which come next, ask the same."""


def impacts(report: FileReport) -> Impacts:
    """How to tell what findings are worth: with what is predicted, where that is quickly had at every key."""
    short = len(report.source) <= LONGEST_FORESEEN and not report.is_cell
    if not short or not report.findings or report.program_joules is not None:
        return impact_of
    # At start it would be loaded for nothing.
    from energy_lsp.predicting.impact import Foreseen

    return Foreseen([report]).impact


class Opened(ABC):
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
            return made, {uri: with_diagnostics(report, impacts(report)) for uri, report in reports.items()}
        except Exception as problem:
            return wanted, self.no_reports(problem)

    def no_reports(self, problem: Exception) -> Mapping[str, FileReport]:
        """For what could not be read; the user learns why."""
        logger.error("Reading %s failed", self.uri, exc_info=problem)
        self.folder.notify([f"Some code could not be read and gets no hints ({type(problem).__name__})."])
        return {}

    @abstractmethod
    def make_reports(self, client: Client) -> Made:
        """What each kind of file does to show its newest state."""

    @property
    @abstractmethod
    def is_slow(self) -> bool:
        """Whether its last reading took too long."""

    @abstractmethod
    def move_to(self, folder: Folder) -> None:
        """In the worker: read it anew from now on, in another folder."""


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
        return wanted, {self.uri: self._report(self._document, client, version)}

    def _take_changes(self) -> tuple[Sequence[Change], int, int]:
        """The edits that wait, the version after them, and what is wanted with them."""
        with self.lock:
            changes, self._changes = self._changes, []
            return changes, self.version, self.wanted

    def _report(self, document: Document, client: Client, version: int) -> FileReport:
        return make_report(self.uri, self.path, document, self.folder, client, version)

    def _open(self, text: str) -> Document:
        """The document, known to the project, so that what imports this file sees the editor's text."""
        if self.path is not None:
            return self.folder.project().open(self.path, text)
        from energy_code.workspace.document import Document

        return Document(text)


def apply_change(document: Document, change: Change, client: Client) -> None:
    """One content change of a file."""
    if isinstance(change, types.TextDocumentContentChangeWholeDocument):
        document.replace(change.text)
        return
    start, end = _byte_range(document.lines(), change.range, client)
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
    start, end = _byte_range(Lines(source), change.range, client)
    replacement = change.text.encode("utf-8", "surrogatepass")
    return (source[:start] + replacement + source[end:]).decode("utf-8", "surrogatepass")


def _byte_range(lines: Lines, where: types.Range, client: Client) -> tuple[int, int]:
    start = lines.byte_offset(where.start.line, where.start.character, client.encoding)
    return start, max(start, lines.byte_offset(where.end.line, where.end.character, client.encoding))


def path_of(uri: str) -> Path | None:
    """The file behind a URI; None for unsaved and virtual ones."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else None
