"""What `check` reports: one item for each finding and hotspot, and what each file's calls cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from energy_lsp.predicting.impact import Foreseen
from energy_lsp.predicting.same_shapes import nearest
from energy_lsp.presentation.figures.account import NOTHING, Account, counts, machine_of
from energy_lsp.presentation.reports.impact import finding_in_full, severity_of
from energy_lsp.presentation.reports.overlaps import key, not_in_addition, overlaps
from energy_lsp.presentation.words.calls import (
    HOTSPOT,
    HOTSPOT_PAGE,
    cost,
    hotspot_in_full,
    provenance,
    provenance_parts,
)

if TYPE_CHECKING:
    from energy_code.model import Span
    from energy_code.rules import Finding
    from energy_lsp.presentation.figures.account import MachineKey
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.presentation.reports.impact import Impact

NO_IMPACT = dict.fromkeys(
    ("saved_joules", "saved_share", "program_joules", "saving_origin", "saving_at_most")
)


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
    negligible: bool = False
    """Saves less here than the smallest share of a run's energy that makes a problem."""
    impact: float | None = None
    """Joules that it saves in one run."""
    short: str = ""
    """The message without where the figure comes from, for a terminal; empty where both are one."""
    provenance: tuple[str, ...] = ()
    """Where the figure of a hotspot comes from, in parts."""
    hint: dict[str, Any] = field(default_factory=dict)
    """The figures: what JSON carries beyond the place and the message."""

    @property
    def is_finding(self) -> bool:
        """Findings make `check` fail; hotspots, and what saves next to nothing here, only inform."""
        return self.rule != HOTSPOT and not self.negligible


@dataclass(frozen=True, slots=True)
class CallCost:
    """A call in the table of the costliest: measured where it stands."""

    api: str
    joules: float
    machine: MachineKey
    where: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """All about one file."""

    file: str
    items: tuple[Item, ...] = ()
    calls: tuple[CallCost, ...] = ()
    account: Account = NOTHING
    fixed: int = 0
    problem: str = ""


def result_of(reports: list[FileReport], file: str, fixed: int) -> FileResult:
    """Everything that `check` says about one file or notebook."""
    items: list[Item] = []
    calls: list[CallCost] = []
    account = sum((report.account() for report in reports), NOTHING)
    foreseen = Foreseen(reports)
    for report in reports:
        cell = report.cell_number if report.is_cell else None
        worth = [(finding, foreseen.impact(report, finding)) for finding in report.findings]
        shared = overlaps(report, worth)
        items += [
            _of_finding(report, finding, file, cell, account, impact, shared.get(key(finding)))
            for finding, impact in worth
        ]
        items += [_of_hotspot(report, hint, file, cell, account) for hint in report.hotspots]
        calls += [_cost(report, hint, file, cell) for hint in report.hints if counts(hint.figure)]
    items.sort(key=lambda item: (-(item.impact or 0.0), item.cell or 0, item.line, item.column, item.rule))
    return FileResult(file, tuple(ranked(items)), tuple(calls), account, fixed)


def ranked(items: Iterable[Item]) -> list[Item]:
    """Findings in the order they are in, then hotspots, the costliest first."""

    def rank(item: Item) -> tuple[bool, float]:
        return not item.is_finding, 0.0 if item.is_finding else -(item.hint.get("total_joules") or 0.0)

    return sorted(items, key=rank)


def _of_finding(
    report: FileReport,
    finding: Finding,
    file: str,
    cell: int | None,
    account: Account,
    impact: Impact | None,
    instead: Finding | None,
) -> Item:
    rule = finding.rule
    message, severity = finding_in_full(report, finding, impact), severity_of(report, impact)
    message += not_in_addition(instead)
    shown = energy_of_finding(report, finding, account)
    shown |= impact.as_json() if impact is not None else NO_IMPACT
    shown |= {"evidence": report.verdict_of(finding).text}
    shown |= {"same_calls_as": instead.rule.name if instead is not None else None}
    item = _item(
        report, finding.span, file, cell, rule.name, message, finding.safety(), rule.url, severity, shown
    )
    if impact is None:
        return item
    negligible = impact.is_below(report.folder.settings.smallest_share)
    return replace(item, negligible=negligible, impact=impact.joules if impact.differs else 0.0)


def _of_hotspot(report: FileReport, hint: Hint, file: str, cell: int | None, account: Account) -> Item:
    assert hint.figure is not None
    message = f"{hint.call.api}: {cost(hint)}. {provenance(hint.figure)}"
    severity = report.folder.settings.hotspot_severity
    shown = figures(hint, account)
    # From where the call begins, as `measure` tells its place, to the end of its name.
    called = hint.call.span._replace(end_byte=hint.call.name.end_byte, end=hint.call.name.end)
    item = _item(report, called, file, cell, HOTSPOT, message, "none", HOTSPOT_PAGE, severity, shown)
    return replace(
        item,
        short=hotspot_in_full(hint, shown["share"], report.whole),
        provenance=provenance_parts(hint.figure),
    )


def energy_of_finding(report: FileReport, finding: Finding, account: Account) -> dict[str, Any]:
    """What a finding would change took: the figures of its call, or the sum over all calls that it touches."""
    touched = report.calls_changed_by(finding)
    measured = [hint for hint in touched if counts(hint.figure)]
    hint = next((one for one in report.hints if finding in one.findings), None)
    if len(measured) == 1 and (hint is None or hint.figure is None or not counts(hint.figure)):
        hint = measured[0]
    shown = figures(nearest(report, hint), account) if hint is not None else {}
    if len(measured) > 1:
        main = Account.of((one.figure, one.times) for one in measured)
        shown |= {
            **dict.fromkeys(("joules", "low", "high", "covers", "below", "first_joules")),
            "devices": {},
            "total_joules": main.joules,
            "share": _share(main.joules, account),
            "estimated": main.estimated,
            "origin": "site",
        }
    return shown


def _item(
    report: FileReport,
    span: Span,
    file: str,
    cell: int | None,
    rule: str,
    message: str,
    fix: str,
    url: str,
    severity: str,
    shown: dict[str, Any],
) -> Item:
    line, column = report.place(span.start_byte)
    end_line, end_column = report.place(span.end_byte)
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
        source=report.line(line),
        cell=cell,
        hint=shown,
    )


def figures(hint: Hint, account: Account) -> dict[str, Any]:
    """The hint's figures in the words of the JSON format."""
    figure = hint.figure
    known: dict[str, Any] = {
        "api": hint.call.api,
        "times": hint.times,
        "times_from": hint.times_from,
        "origin": figure.origin if figure else None,
        "source": figure.source if figure else None,
        "layer": figure.source if figure else None,
    }
    if figure is None:
        return known
    about_this_call = figure.origin != "api"
    total = hint.known_joules
    counted = counts(figure) and account.main is not None and machine_of(figure) == account.main.key
    return known | {
        "kind": figure.kind,
        "joules": hint.joules_per_call,
        "low": figure.low,
        "high": figure.high,
        "covers": figure.covers if about_this_call else "",
        "below": figure.below,
        "total_joules": total,
        "first_joules": figure.first if about_this_call else None,
        "share": _share(total, account) if counted else None,
        "devices": dict(figure.devices) if about_this_call else {},
        "estimated": figure.estimated,
        "machine": figure.machine,
        "meter": figure.meter,
        "date": figure.date,
        "runs": figure.runs,
        "edited": figure.edited,
        "run_status": figure.run_status,
    }


def _share(joules: float | None, account: Account) -> float | None:
    """Of what the main machine measured in the file."""
    return min(1.0, joules / account.joules) if joules is not None and account.joules > 0 else None


def _cost(report: FileReport, hint: Hint, file: str, cell: int | None) -> CallCost:
    assert hint.figure is not None
    assert hint.known_joules is not None
    place = f"{file} cell {cell}" if cell is not None else file
    line = report.row(hint.call.span.start_byte) + 1
    return CallCost(hint.call.api, hint.known_joules, machine_of(hint.figure), f"{place}:{line}")
