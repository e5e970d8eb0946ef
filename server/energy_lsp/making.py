"""Making pages: from a document to hints and diagnostics. Runs in the worker, or in `energy-lsp check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.client import Client
from energy_lsp.diagnosis import HOTSPOT, diagnose
from energy_lsp.hints import Hint
from energy_lsp.pages import Page, find_all, hints_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from energy_code.document import Document

    from energy_lsp.folders import Folder
    from energy_lsp.settings import Settings


def make_page(
    uri: str, path: Path | None, document: Document, folder: Folder, client: Client, version: int | None
) -> Page:
    """Read a document and join everything known about its calls."""
    page = Page(uri, uri, version, document, client.encoding, folder)
    if folder.excludes(path):
        return page
    analysis = document.analysis
    findings = [
        finding
        for finding in find_all(analysis, folder)
        if not ignored(analysis.ignores, finding.span.start.row, finding.span.end.row, finding.rule.name)
    ]
    hints = hints_of(analysis.calls, findings, folder, path)
    page = replace(
        page,
        hints=hints,
        findings=findings,
        functions=analysis.functions,
        evidence={name: folder.evidence(name) for name in {finding.rule.name for finding in findings}},
        hotspots=hotspots(hints, folder.settings, analysis.ignores),
    )
    diagnostics, result_id = diagnose(page, client)
    return replace(page, diagnostics=diagnostics, result_id=result_id)


def hotspots(hints: Sequence[Hint], settings: Settings, ignores: Mapping[int, frozenset[str]]) -> list[Hint]:
    """The calls worth a mark: the hungriest few, and all above the threshold."""
    if settings.hotspot_severity == "off":
        return []
    known = [
        (joules, hint)
        for hint in hints
        if (joules := hint.known_joules) is not None
        and joules > 0
        and not ignored(ignores, hint.call.span.start.row, hint.call.span.end.row, HOTSPOT)
    ]
    known.sort(key=lambda item: (-item[0], item[1].call.span.start_byte))
    return [
        hint
        for rank, (joules, hint) in enumerate(known)
        if rank < settings.hotspots or 0 < settings.hotspot_joules <= joules
    ]


def ignored(ignores: Mapping[int, frozenset[str]], first: int, last: int, rule: str) -> bool:
    """Whether a comment on the first or last line of a place names the rule, or all rules."""
    return any(not ignores.get(row, frozenset()).isdisjoint((rule, "*")) for row in {first, last})


@dataclass(frozen=True)
class CellText:
    """A notebook's cell as the worker sees it: its text by itself, for positions."""

    uri: str
    number: int
    document: Document
    version: int | None


def make_cell_pages(
    owner: str, path: Path | None, cells: Sequence[CellText], folder: Folder, client: Client
) -> list[Page]:
    """Read the cells of a notebook as one program; a page for each."""
    raise NotImplementedError


def make_notebook_pages(path: Path, folder: Folder, client: Client) -> list[Page]:
    """The pages of a notebook on disk."""
    raise NotImplementedError
