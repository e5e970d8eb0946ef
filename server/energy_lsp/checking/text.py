"""The terminal: annotated source, then a table with the costliest calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.text import Text

from energy_data.untrusted.printable import one_line, visible
from energy_lsp.checking.items import CallCost, FileResult, Item
from energy_lsp.presentation.figures.account import NOTHING, Account, MachineSum
from energy_lsp.presentation.notation.units import column_unit, counted, in_unit, joules, share_text
from energy_lsp.presentation.words.calls import HOTSPOT
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.table import Column, Table

COSTLIEST = 10
SMALLEST_SHARE = 0.01
"""Calls below this share of all are told together: they are not where to look."""
LEFT_OF_MARK = 8
"""Characters of a long line that are shown before the place that is marked."""
STYLES = {"error": "bold red", "warning": "yellow", "information": "cyan", "hint": "green"}


def print_items(screen: Screen, results: Sequence[FileResult]) -> None:
    """Each item with its line of source and a mark under the place; where the figures come from is said once."""
    items = [item for result in results for item in result.items]
    sources = [item.provenance for item in items if item.provenance]
    common = tuple(part for part in sources[0] if all(part in one for one in sources)) if sources else ()
    for item in items:
        _print_item(screen, item, [part for part in item.provenance if part not in common])
    if common:
        which = "Hotspot" if len(sources) == 1 else "Hotspots"
        said = visible(" · ".join(common)).replace("at this call site", "at the call itself")
        screen.say(f"{which}: {said[:1].lower()}{said[1:]}.", style="dim")


def _print_item(screen: Screen, item: Item, apart: Sequence[str]) -> None:
    style = STYLES.get(item.severity, "cyan")
    file = visible(item.file)
    place = f"{file} cell {item.cell}" if item.cell is not None else file
    tail = "" if item.fix == "none" else " [fix]" if item.fix == "safe" else " [fix for review]"
    begin = f"{place}:{item.line}:{item.column}"
    message = one_line(" · ".join([item.short or item.message, *apart]))
    lines = screen.wrapped(f"{begin} {item.rule} {message}{tail}", indent="    ")
    for number, line in enumerate(lines):
        shown = Text(line)
        if number == 0 and line.startswith(begin):
            shown.stylize("bold", 0, len(begin))
            shown.stylize(style, len(begin), len(begin) + len(item.rule) + 1)
        screen.raw(shown)
    source = visible(item.source.rstrip())
    if not source:
        return
    gutter = f"{item.line:>5} | "
    last = item.end_column if item.end_line == item.line else len(source) + 1
    excerpt, column, last = _excerpt(source, item.column, last, screen.room(len(gutter)))
    screen.raw(Text(gutter, "dim") + Text(excerpt))
    marks = " " * (column - 1) + "^" * max(1, last - column)
    screen.raw(Text(" " * 5 + " | ", "dim") + Text(marks, style))


def _excerpt(source: str, column: int, last: int, room: int | None) -> tuple[str, int, int]:
    """As much of a line as there is room for, with the marked place in it; columns count from 1."""
    if room is None or len(source) <= room:
        return source, column, last
    begin = max(0, min(column - 1 - LEFT_OF_MARK, len(source) - room))
    excerpt = source[begin : begin + room]
    if begin:
        excerpt = "…" + excerpt[1:]
    if begin + room < len(source):
        excerpt = excerpt[:-1] + "…"
    return excerpt, column - begin, min(last - begin, len(excerpt) + 1)


def print_summary(screen: Screen, results: Sequence[FileResult], statistics: bool) -> None:
    """How much, how many, and the costliest calls."""
    account = account_of(results)
    for one in account.machines:
        calls = [call for result in results for call in result.calls if call.machine == one.key]
        _print_costliest(screen, sorted(calls, key=lambda call: -call.joules), one)
    if statistics:
        counts = Counter(item.rule for result in results for item in result.items)
        table = Table([Column("rule", "name"), Column("places", "number")], "Statistics")
        for rule, count in counts.most_common():
            table.add(visible(rule), str(count))
        table.print(screen)
    screen.say(_sentence(results))
    if any(item.rule != HOTSPOT for result in results for item in result.items):
        screen.say("`energy-lsp rules show RULE` has what a saving rests on.")


def account_of(results: Sequence[FileResult]) -> Account:
    """What all files together took."""
    return sum((result.account for result in results), NOTHING)


def _print_costliest(screen: Screen, calls: Sequence[CallCost], machine: MachineSum) -> None:
    """The calls that a machine measured, costliest first; what is small is one line."""
    by = "" if machine.key.source == "here" else f" on {machine.key.machine}, measured by the team"
    large = [call for call in calls if call.joules >= SMALLEST_SHARE * machine.joules]
    shown = (large or calls)[:COSTLIEST]
    unit = column_unit(call.joules for call in shown)
    mark = "≈ " if machine.key.estimated else ""
    columns = [
        Column(f"{mark}energy, {unit}", "number"),
        Column("of all calls", "number", drop=1),
        Column("call", "name"),
        Column("where", "name"),
    ]
    table = Table(columns, f"Costliest calls{visible(by)}{' (estimated)' if mark else ''}")
    for call in shown:
        share = share_text(min(1.0, call.joules / machine.joules)) if machine.joules > 0 else ""
        table.add(in_unit(call.joules, unit), share, visible(call.api), visible(call.where))
    table.print(screen)
    if rest := len(calls) - len(shown):
        most = f"{mark}{joules(calls[len(shown)].joules)}"
        screen.say(f"… and {counted(rest, 'call')} more of at most {most} each.")
        screen.line()


def _sentence(results: Sequence[FileResult]) -> str:
    findings = sum(item.is_finding for result in results for item in result.items)
    fixable = sum(item.fix == "safe" for result in results for item in result.items)
    fixed = sum(result.fixed for result in results)
    negligible = sum(item.negligible for result in results for item in result.items)
    parts = [counted(len(results), "file"), counted(findings, "finding")]
    if negligible:
        parts.append(f"{negligible} negligible")
    if fixed:
        parts.append(f"{fixed} fixed")
    if fixable:
        parts.append(f"{fixable} fixable with --fix")
    account = account_of(results)
    if account.counted or account.left_out:
        parts.append(account.label.removeprefix("⚡ "))
    return ", ".join(parts) + "."
