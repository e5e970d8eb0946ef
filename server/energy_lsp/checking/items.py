"""What `check` reports: one item for each finding and hotspot, and what each file's calls cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from energy_lsp.hints import HOTSPOT, HOTSPOT_PAGE, Hint, cost, provenance

if TYPE_CHECKING:
    from energy_code.calls import Span
    from energy_code.rules import Finding
    from energy_lsp.pages import Page


@dataclass(frozen=True, slots=True)
class Item:
    """One place to look at. Lines and columns count from 1, columns in characters, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    rule: str
    message: str
    fix: str
    """`none`, `safe` or `review`."""
    url: str
    severity: str
    source: str
    """The line of the source."""
    cell: int | None = None
    """For notebooks: the cell, counted from 1."""
    hint: dict[str, Any] = field(default_factory=dict)
    """The figures: what JSON carries beyond the place and the message."""

    @property
    def is_finding(self) -> bool:
        """Findings make `check` fail; hotspots only inform, a budget is there to limit them."""
        return self.rule != HOTSPOT


@dataclass(frozen=True, slots=True)
class CallCost:
    """A call in the table of the hungriest."""

    api: str
    file: str
    line: int
    joules: float
    estimated: bool
    where: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """All about one file."""

    file: str
    items: tuple[Item, ...] = ()
    calls: tuple[CallCost, ...] = ()
    unknown: int = 0
    fixed: int = 0
    problem: str = ""

    @property
    def joules(self) -> float:
        """Known joules of all calls."""
        return sum(call.joules for call in self.calls)


def result_of(pages: list[Page], file: str, fixed: int) -> FileResult:
    """Everything that `check` says about one file or notebook."""
    items: list[Item] = []
    calls: list[CallCost] = []
    unknown = 0
    for page in pages:
        cell = page.cell_number if page.is_cell else None
        items += [_of_finding(page, finding, file, cell) for finding in page.findings]
        items += [_of_hotspot(page, hint, file, cell) for hint in page.hotspots]
        calls += [_cost(page, hint, file, cell) for hint in page.hints if hint.known_joules is not None]
        unknown += page.total.unknown
    items.sort(key=lambda item: (item.cell or 0, item.line, item.column, item.rule))
    return FileResult(file, tuple(items), tuple(calls), unknown, fixed)


def _of_finding(page: Page, finding: Finding, file: str, cell: int | None) -> Item:
    hint = next((one for one in page.hints if finding in one.findings), None)
    rule = finding.rule
    severity = page.folder.settings.rule_severity
    message = f"{finding.message}: {page.verdict_of(finding).text}"
    return _item(page, finding.span, file, cell, rule.name, message, finding.safety, rule.url, severity, hint)


def _of_hotspot(page: Page, hint: Hint, file: str, cell: int | None) -> Item:
    assert hint.figure is not None
    message = f"{hint.call.api}: {cost(hint)}. {provenance(hint.figure)}"
    severity = page.folder.settings.hotspot_severity
    return _item(page, hint.call.name, file, cell, HOTSPOT, message, "none", HOTSPOT_PAGE, severity, hint)


def _item(
    page: Page,
    span: Span,
    file: str,
    cell: int | None,
    rule: str,
    message: str,
    fix: str,
    url: str,
    severity: str,
    hint: Hint | None,
) -> Item:
    line, column = page.place(span.start_byte)
    end_line, end_column = page.place(span.end_byte)
    return Item(
        file=file,
        line=line + 1,
        column=column + 1,
        end_line=end_line + 1,
        end_column=end_column + 1,
        rule=rule,
        message=message,
        fix=fix,
        url=url,
        severity=severity,
        source=page.line(line),
        cell=cell,
        hint=figures(hint),
    )


def figures(hint: Hint | None) -> dict[str, Any]:
    """The hint's figures in the words of the JSON format."""
    if hint is None:
        return {}
    figure = hint.figure
    known: dict[str, Any] = {"api": hint.call.api, "times": hint.call.runs.times}
    if figure is not None:
        known |= {
            "joules": figure.total,
            "low": figure.low,
            "high": figure.high,
            "below": figure.below,
            "total_joules": hint.known_joules,
            "devices": dict(figure.devices),
            "layer": figure.layer,
            "estimated": figure.estimated,
            "machine": figure.machine,
            "meter": figure.meter,
            "date": figure.date,
            "runs": figure.runs,
        }
    return known


def _cost(page: Page, hint: Hint, file: str, cell: int | None) -> CallCost:
    assert hint.figure is not None
    assert hint.known_joules is not None
    place = f"{file}:cell {cell}" if cell is not None else file
    line = page.row(hint.call.span.start_byte) + 1
    return CallCost(hint.call.api, file, line, hint.known_joules, hint.figure.estimated, f"{place}:{line}")
