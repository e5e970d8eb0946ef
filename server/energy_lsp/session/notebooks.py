"""Notebooks: cells are kept in step with the client, and read together as one program."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.presentation.pipeline import make_cell_reports
from energy_lsp.session.open_file import Change, Made, Opened, changed_text, path_of
from energy_lsp.session.open_files import OpenFiles

if TYPE_CHECKING:
    from energy_code.workspace.notebook import Notebook
    from energy_lsp.workspace.client import Client
    from energy_lsp.workspace.folders import Folder

logger = logging.getLogger(__name__)

# The filter by notebook: lsprotocol cannot structure the one by cells, and clients built on it hang on it.
SYNC = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook=types.NotebookDocumentFilterNotebookType(notebook_type="jupyter-notebook"),
            cells=[types.NotebookCellLanguage(language="python")],
        )
    ]
)


@dataclass
class Cell:
    """One cell, short enough to be kept as a text: as of the last analysis, and the edits since."""

    uri: str
    text: str
    version: int = 0
    changes: list[Change] = field(default_factory=list)


class OpenNotebook(Opened):
    """A notebook; the client sends Python cells alone."""

    def __init__(self, uri: str, version: int, folder: Folder, cells: Sequence[Cell]) -> None:
        super().__init__(uri, version, folder)
        self.cells = list(cells)
        self.removed: dict[str, Cell] = {}
        """Cells that were taken out and not closed: the next notification may put them in again elsewhere."""
        self._notebook: Notebook | None = None

    @property
    def is_slow(self) -> bool:
        """Whether its last reading took too long."""
        return self._notebook is not None and self._notebook.document.is_cut_short

    def move_to(self, folder: Folder) -> None:
        """In the worker: read it anew from now on, in another folder."""
        self._notebook, self.folder = None, folder

    def make_reports(self, client: Client) -> Made:
        """Bring every cell up to date and read them as one program."""
        from energy_code.workspace.notebook import Notebook

        with self.lock:
            wanted = self.wanted
            waiting = [(cell, cell.changes, cell.version) for cell in self.cells]
            for cell in self.cells:
                cell.changes = []
        texts = []
        for number, (cell, changes, _) in enumerate(waiting):
            for change in changes:
                cell.text = changed_text(cell.text, change, client)
            texts.append((number, cell.text))
        if self._notebook is None:
            self._notebook = Notebook(texts, path=self.path, project=self.folder.project())
            if self.path is not None:
                self.folder.project().add(self.path.resolve(), self._notebook.document)
        else:
            self._notebook.update(texts)
        cells = [(cell.uri, number + 1, version) for number, (cell, _, version) in enumerate(waiting)]
        reports = make_cell_reports(self.uri, self._notebook, cells, self.folder, client)
        return wanted, {report.uri: report for report in reports}


def open_notebook(
    files: OpenFiles, notebook: types.NotebookDocument, texts: Sequence[types.TextDocumentItem]
) -> None:
    """The client opened a notebook."""
    by_uri = {text.uri: text for text in texts}
    cells = [
        Cell(cell.document, by_uri[cell.document].text, by_uri[cell.document].version)
        for cell in notebook.cells
        if cell.document in by_uri
    ]
    files.close(notebook.uri)
    files.begin(
        OpenNotebook(notebook.uri, notebook.version, files.folder_of(path_of(notebook.uri)), cells),
        [cell.uri for cell in cells],
    )


def change_notebook(
    files: OpenFiles, uri: str, version: int, change: types.NotebookDocumentChangeEvent
) -> None:
    """The client moved, added, removed or edited cells."""
    notebook = files.get(uri)
    if not isinstance(notebook, OpenNotebook) or change.cells is None:
        logger.info("Nothing to do for a change of %s", uri)
        return
    with notebook.lock:
        if change.cells.structure is not None:
            _restructure(notebook, change.cells.structure)
        by_uri = notebook.removed | {cell.uri: cell for cell in notebook.cells}
        for edited in change.cells.text_content or ():
            cell = by_uri.get(edited.document.uri)
            if cell is not None:
                cell.changes += edited.changes
                cell.version = edited.document.version
        notebook.version = version
        notebook.wanted += 1
    files.know_cells(notebook, [cell.uri for cell in notebook.cells])
    files.analyse(notebook)


def _restructure(notebook: OpenNotebook, structure: types.NotebookDocumentCellChangeStructure) -> None:
    known = notebook.removed | {cell.uri: cell for cell in notebook.cells}
    for opened in structure.did_open or ():
        known[opened.uri] = Cell(opened.uri, opened.text, opened.version)
    splice = structure.array
    added = [known[cell.document] for cell in splice.cells or () if cell.document in known]
    notebook.cells[splice.start : splice.start + splice.delete_count] = added
    gone = {cell.uri for cell in notebook.cells} | {closed.uri for closed in structure.did_close or ()}
    notebook.removed = {uri: cell for uri, cell in known.items() if uri not in gone}
