"""The terminal: annotated source, then a table with the costliest calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from energy_data.untrusted.printable import one_line, visible
from energy_lsp.checking.items import CallCost, FileResult, Item
from energy_lsp.presentation.account import NOTHING, Account, MachineSum
from energy_lsp.presentation.units import counted, marked

COSTLIEST = 10
STYLES = {"error": "bold red", "warning": "yellow", "information": "cyan", "hint": "green"}


def print_items(console: Console, results: Sequence[FileResult]) -> None:
    """Each item with its line of source and a mark under the place."""
    for result in results:
        for item in result.items:
            _print_item(console, item)


def _print_item(console: Console, item: Item) -> None:
    style = STYLES.get(item.severity, "cyan")
    file = visible(item.file)
    place = f"{file} cell {item.cell}" if item.cell is not None else file
    head = Text.assemble(
        (f"{place}:{item.line}:{item.column}", "bold"),
        " ",
        (item.rule, style),
        " ",
        one_line(item.message),
    )
    if item.fix != "none":
        head.append(" [fix]" if item.fix == "safe" else " [fix for review]", "dim")
    console.print(head, soft_wrap=True)
    source = visible(item.source.rstrip())
    if not source:
        return
    gutter = f"{item.line:>5} | "
    last = item.end_column if item.end_line == item.line else len(source) + 1
    console.print(Text(gutter, "dim") + Text(source), soft_wrap=True)
    marks = " " * (item.column - 1) + "^" * max(1, last - item.column)
    console.print(Text(" " * 5 + " | ", "dim") + Text(marks, style), soft_wrap=True)


def print_summary(console: Console, results: Sequence[FileResult], statistics: bool) -> None:
    """How much, how many, and the costliest calls."""
    account = account_of(results)
    for one in account.machines:
        calls = [call for result in results for call in result.calls if call.machine == one.key]
        console.print(_table(sorted(calls, key=lambda call: -call.joules), one))
    if statistics:
        counts = Counter(item.rule for result in results for item in result.items)
        table = Table(
            "Rule", "Places", title="Statistics", title_justify="left", box=SIMPLE_HEAD, pad_edge=False
        )
        for rule, count in counts.most_common():
            table.add_row(visible(rule), str(count))
        console.print(table)
    console.print(_sentence(results), soft_wrap=True)


def account_of(results: Sequence[FileResult]) -> Account:
    """What all files together took."""
    return sum((result.account for result in results), NOTHING)


def _table(calls: Sequence[CallCost], machine: MachineSum) -> Table:
    by = "" if machine.key.source == "here" else f" on {machine.key.machine}, measured by the team"
    title = f"Costliest calls{visible(by)}"
    table = Table("Energy", "Share", title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for column in ("Call", "Where"):  # a narrow terminal folds them: the line number is what people look for
        table.add_column(column, overflow="fold")
    for call in calls[:COSTLIEST]:
        share = f"{min(1.0, call.joules / machine.joules) * 100:.0f}%" if machine.joules > 0 else ""
        table.add_row(
            marked(call.joules, machine.key.estimated), share, visible(call.api), visible(call.where)
        )
    return table


def _sentence(results: Sequence[FileResult]) -> str:
    findings = sum(item.is_finding for result in results for item in result.items)
    fixable = sum(item.fix == "safe" for result in results for item in result.items)
    fixed = sum(result.fixed for result in results)
    parts = [counted(len(results), "file"), counted(findings, "finding")]
    if fixed:
        parts.append(f"{fixed} fixed")
    if fixable:
        parts.append(f"{fixable} fixable with --fix")
    account = account_of(results)
    if account.counted or account.left_out:
        parts.append(account.label.removeprefix("⚡ "))
    return ", ".join(parts) + "."
