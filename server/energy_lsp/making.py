"""Making pages: from a document to hints and diagnostics. Runs in the worker, or in `energy-lsp check`."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from energy_lsp.client import Client
from energy_lsp.costs import Costs
from energy_lsp.hint_list import NO_HINTS, Hints, Joined
from energy_lsp.hints import HOTSPOT, Hint
from energy_lsp.pages import Page, find_all, verdicts_of

if TYPE_CHECKING:
    from energy_code.analysis import Analysis
    from energy_code.document import Document
    from energy_code.notebook import Notebook
    from energy_lsp.folders import Folder
    from energy_lsp.settings import Settings

logger = logging.getLogger(__name__)

LARGEST_SOURCE = 4_000_000
"""Bytes. Nobody writes such files by hand, and reading one would keep the others waiting."""

T = TypeVar("T")


def make_page(
    uri: str,
    path: Path | None,
    document: Document,
    folder: Folder,
    client: Client,
    version: int | None,
    before: Page | None = None,
) -> Page:
    """Read a file and join everything known about its calls, which the page before may know already."""
    page = Page(uri, uri, version, document.lines, client, folder)
    if folder.excludes(path) or len(document.source) > LARGEST_SOURCE:
        return page
    return _filled(page, document.analysis, path, before)


def silent_page(uri: str, folder: Folder, client: Client, version: int | None) -> Page:
    """A page for a text that is not read, and has no places to speak of."""
    from energy_code.positions import Lines

    return Page(uri, uri, version, Lines(b""), client, folder)


def make_cell_pages(
    owner: str,
    notebook: Notebook,
    cells: Sequence[tuple[str, int, int | None]],
    folder: Folder,
    client: Client,
) -> list[Page]:
    """A page for each cell of a notebook, read as one program. A cell: its URI, number and version."""
    path = notebook.document.path
    whole = Page(owner, owner, None, notebook.document.lines, client, folder)
    if not folder.excludes(path) and len(notebook.document.source) <= LARGEST_SOURCE:
        whole = _filled(whole, notebook.analysis, path)
    ends = [*notebook.starts[1:], len(notebook.document.source) + 1]
    pages = []
    unsaid = whole.hints
    for place, (uri, number, version) in enumerate(cells):
        start, end = notebook.starts[place], ends[place]
        hints = whole.hints.between(start, end)
        page = replace(
            whole,
            uri=uri,
            version=version,
            lines=notebook.lines(notebook.numbers[place]),
            base=start,
            cell_number=number,
            hints=hints,
            speaks_for=unsaid if hints else NO_HINTS,
            hotspots=[one for one in whole.hotspots if start <= one.call.span.start_byte < end],
            findings=_between(whole.findings, start, end, lambda finding: finding.span.start_byte),
            functions=_between(whole.functions, start, end, lambda function: function.span.start_byte),
        )
        pages.append(page)
        unsaid = NO_HINTS if hints else unsaid
    return pages


def pages_on_disk(folder: Folder, path: Path, client: Client) -> list[Page]:
    """The pages of a file; none when it cannot be read."""
    try:
        return read_pages(folder, path, client)
    except Exception as problem:
        logger.warning("%s could not be read: %s", path, problem)
        return []


def read_pages(folder: Folder, path: Path, client: Client) -> list[Page]:
    """The pages of a file or notebook as it is on disk. Raises what reading it raises."""
    if path.suffix == ".ipynb":
        return make_notebook_pages(path, folder, client)
    document = folder.project.on_disk(path)
    return [make_page(path.as_uri(), path, document, folder, client, None)]


def make_notebook_pages(path: Path, folder: Folder, client: Client) -> list[Page]:
    """The pages of a notebook on disk; raises NotebookProblem for a file that is none."""
    from energy_code.notebook import Notebook

    notebook = Notebook.read(path.read_bytes(), path=path, project=folder.project)
    uri = path.as_uri()
    cells = [(f"{uri}#cell{number + 1}", number + 1, None) for number in notebook.numbers]
    return make_cell_pages(uri, notebook, cells, folder, client)


def _filled(page: Page, analysis: Analysis, path: Path | None, before: Page | None = None) -> Page:
    folder = page.folder
    left_out = folder.leaves_out(path)
    found = [
        finding
        for finding in find_all(analysis, folder)
        if left_out.isdisjoint((finding.rule.name, "*"))
        and not ignored(analysis.ignores, finding.span.start.row, finding.span.end.row, finding.rule.name)
    ]
    verdicts = verdicts_of(found, folder)
    # What was measured to make no difference, here or else where it was measured, is not suggested.
    findings = [finding for finding in found if verdicts[finding.rule.name, finding.mode].suggested]
    findings.sort(key=lambda finding: finding.span.start_byte)
    calls = analysis.calls
    costs = before.hints.costs if before is not None else None
    if costs is None or not costs.hold_for(analysis, folder):
        costs = Costs.of(analysis, folder, path, costs)
    analysis.let_go()
    hints = Hints(Joined(calls, calls.reached, costs, findings))
    return replace(
        page,
        hints=hints,
        speaks_for=hints,
        findings=findings,
        functions=analysis.functions,
        verdicts=verdicts,
        hotspots=hotspots(hints, folder.settings, analysis.ignores),
    )


def _between(items: Sequence[T], start: int, end: int, key: Callable[[T], int]) -> Sequence[T]:
    return items[bisect_left(items, start, key=key) : bisect_left(items, end, key=key)]


def hotspots(hints: Hints, settings: Settings, ignores: Mapping[int, frozenset[str]]) -> list[Hint]:
    """The calls worth a mark: the hungriest few, and all above the threshold."""
    if settings.hotspot_severity == "off":
        return []
    found: list[Hint] = []
    for joules, hint in hints.by_joules():
        if len(found) >= settings.hotspots and not 0 < settings.hotspot_joules <= joules:
            break
        if not ignored(ignores, hint.call.span.start.row, hint.call.span.end.row, HOTSPOT):
            found.append(hint)
    return found


def ignored(ignores: Mapping[int, frozenset[str]], first: int, last: int, rule: str) -> bool:
    """Whether a comment on the first or last line of a place names the rule, or all rules."""
    if not ignores:
        return False
    return any(not ignores.get(row, frozenset()).isdisjoint((rule, "*")) for row in {first, last})
