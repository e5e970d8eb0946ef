"""From a document to its report, stage by stage: analysis → figures → findings → report → encoded.

`energy_code` analyses; `figures` says what is known of each call; `findings` what the rules suggest; `file_report` has both
with the places of the text; `diagnostics` encodes it. Runs in the worker, or in `energy-lsp check`.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from energy_code.analysis.ignore_comments import ignored
from energy_lsp.presentation.figures.calls import Figures
from energy_lsp.presentation.figures.hints import NO_HINTS, Hint, Hints, Joined
from energy_lsp.presentation.reports.file import FileReport
from energy_lsp.presentation.reports.findings import findings_of
from energy_lsp.presentation.words.calls import HOTSPOT
from energy_lsp.workspace.client import Client

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis
    from energy_code.workspace.document import Document
    from energy_code.workspace.notebook import Notebook
    from energy_lsp.presentation.figures.layers import NotebookLayers
    from energy_lsp.workspace.folders import Folder
    from energy_lsp.workspace.settings import Settings

logger = logging.getLogger(__name__)

LARGEST_SOURCE = 4_000_000
"""Bytes. Nobody writes such files by hand, and reading one would keep the others waiting."""

T = TypeVar("T")


def make_report(
    uri: str,
    path: Path | None,
    document: Document,
    folder: Folder,
    client: Client,
    version: int | None,
) -> FileReport:
    """Read a file and join everything known about its calls."""
    report = FileReport(uri, uri, version, document.lines(), client, folder)
    if folder.excludes(path) or len(document.source) > LARGEST_SOURCE:
        return report
    filled = _filled(report, document.analyse(), path)
    if document.is_cut_short and not document.gave_way:
        name = path.name if path is not None else "A file"
        folder.notify(
            [f"{name} takes too long to read: some of its calls are not looked at and get no hints."]
        )
    return filled


def silent_report(uri: str, folder: Folder, client: Client, version: int | None) -> FileReport:
    """A report for a text that is not read, and has no places to speak of."""
    from energy_code.text.lines import Lines

    return FileReport(uri, uri, version, Lines(b""), client, folder)


def make_cell_reports(
    owner: str,
    notebook: Notebook,
    cells: Sequence[tuple[str, int, int | None]],
    folder: Folder,
    client: Client,
) -> list[FileReport]:
    """A report for each cell of a notebook, read as one program. A cell: its URI, number and version."""
    path = notebook.document.path
    whole = FileReport(owner, owner, None, notebook.document.lines(), client, folder)
    if not folder.excludes(path) and len(notebook.document.source) <= LARGEST_SOURCE:
        whole = _filled(whole, notebook.analyse(), path)
    ends = [*notebook.starts[1:], len(notebook.document.source) + 1]
    reports = []
    unsaid = whole.hints
    layers = _notebook_layers(whole, notebook, cells)
    for place, (uri, number, version) in enumerate(cells):
        start, end = notebook.starts[place], ends[place]
        hints = whole.hints.between(start, end)
        report = replace(
            whole,
            uri=uri,
            version=version,
            lines=notebook.lines(notebook.numbers[place]),
            base=start,
            cell_number=number,
            place_of_cell=place,
            notebook=layers,
            hints=hints,
            speaks_for=unsaid if hints else NO_HINTS,
            hotspots=[one for one in whole.hotspots if start <= one.call.span.start_byte < end],
            findings=_between(whole.findings, start, end, lambda finding: finding.span.start_byte),
            functions=_between(whole.functions, start, end, lambda function: function.span.start_byte),
        )
        reports.append(report)
        unsaid = NO_HINTS if hints else unsaid
    return reports


def _notebook_layers(
    whole: FileReport, notebook: Notebook, cells: Sequence[tuple[str, int, int | None]]
) -> NotebookLayers | None:
    """What is inside of the calls of a notebook, or nothing."""
    if whole.inside is None:
        return None
    from energy_lsp.presentation.figures.layers import NotebookLayers

    lines = notebook.document.lines()
    places = [
        (uri, number, lines.point(start).row)
        for (uri, number, _), start in zip(cells, notebook.starts, strict=True)
    ]
    return NotebookLayers(whole.inside, whole.file, lines.texts(), places)


def reports_on_disk(folder: Folder, path: Path, client: Client) -> list[FileReport]:
    """The reports of a file; none when it cannot be read."""
    try:
        return read_reports(folder, path, client)
    except Exception as problem:
        logger.warning("%s could not be read: %s", path, problem)
        return []


def read_reports(folder: Folder, path: Path, client: Client) -> list[FileReport]:
    """The reports of a file or notebook as it is on disk. Raises what reading it raises."""
    if path.suffix == ".ipynb":
        return make_notebook_reports(path, folder, client)
    document = folder.project().on_disk(path)
    return [make_report(path.as_uri(), path, document, folder, client, None)]


def make_notebook_reports(path: Path, folder: Folder, client: Client) -> list[FileReport]:
    """The reports of a notebook on disk; raises NotebookProblem for a file that is none."""
    from energy_code.workspace.notebook import Notebook

    notebook = Notebook.read(folder.project().read(path), path=path, project=folder.project())
    uri = path.as_uri()
    cells = [(f"{uri}#cell{number + 1}", number + 1, None) for number in notebook.numbers]
    return make_cell_reports(uri, notebook, cells, folder, client)


def _filled(report: FileReport, analysis: Analysis, path: Path | None) -> FileReport:
    """The stages one after the other; encoding is left to whoever sends the report."""
    folder = report.folder
    calls = analysis.calls()
    findings, verdicts = findings_of(analysis, folder, path)
    figures = Figures.of(analysis, folder, path)
    analysis.let_go()
    hints = Hints(Joined(*figures.joined_with(calls), figures, findings))
    return replace(
        report,
        hints=hints,
        inside=folder.inside(path),
        program=folder.program(path) if findings else None,
        file=folder.relative(path) or "",
        speaks_for=hints,
        findings=findings,
        functions=analysis.functions(),
        verdicts=verdicts,
        hotspots=hotspots(hints, folder.settings, analysis.ignores()),
    )


def _between(items: Sequence[T], start: int, end: int, key: Callable[[T], int]) -> Sequence[T]:
    return items[bisect_left(items, start, key=key) : bisect_left(items, end, key=key)]


def hotspots(hints: Hints, settings: Settings, ignores: Mapping[int, frozenset[str]]) -> list[Hint]:
    """The calls worth a mark, of those that were measured here: the costliest few, and all above the threshold."""
    if settings.hotspot_severity == "off":
        return []
    found: list[Hint] = []
    for joules, hint in hints.by_joules():
        if len(found) >= settings.hotspots and not 0 < settings.hotspot_joules <= joules:
            break
        if not ignored(ignores, hint.call.span.start.row, hint.call.span.end.row, HOTSPOT):
            found.append(hint)
    return found
