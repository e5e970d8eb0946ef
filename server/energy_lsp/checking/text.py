"""The terminal: annotated source, then a table with the hungriest calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from energy_lsp.checking.items import CallCost, FileResult, Item
from energy_lsp.hints import marked

HUNGRIEST = 10
STYLES = {"error": "bold red", "warning": "yellow", "information": "cyan", "hint": "green"}


def print_items(console: Console, results: Sequence[FileResult]) -> None:
    """Each item with its line of source and a mark under the place."""
    for result in results:
        for item in result.items:
            _print_item(console, item)


def _print_item(console: Console, item: Item) -> None:
    style = STYLES.get(item.severity, "cyan")
    place = f"{item.file}:cell {item.cell}" if item.cell is not None else item.file
    head = Text.assemble(
        (f"{place}:{item.line}:{item.column}", "bold"),
        " ",
        (item.rule, style),
        " ",
        item.message,
    )
    if item.fix != "none":
        head.append(" [fix]" if item.fix == "safe" else " [fix for review]", "dim")
    console.print(head, soft_wrap=True)
    source = item.source.rstrip().expandtabs(1)
    if not source:
        return
    gutter = f"{item.line:>5} | "
    last = item.end_column if item.end_line == item.line else len(source) + 1
    console.print(Text(gutter, "dim") + Text(source), soft_wrap=True)
    marks = " " * (item.column - 1) + "^" * max(1, last - item.column)
    console.print(Text(" " * 5 + " | ", "dim") + Text(marks, style), soft_wrap=True)


def print_summary(console: Console, results: Sequence[FileResult], statistics: bool) -> None:
    """How much, how many, and the hungriest calls."""
    calls = sorted((call for result in results for call in result.calls), key=lambda call: -call.joules)
    if calls:
        console.print(_table(calls))
    if statistics:
        counts = Counter(item.rule for result in results for item in result.items)
        table = Table(
            "Rule", "Places", title="Statistics", title_justify="left", box=SIMPLE_HEAD, pad_edge=False
        )
        for rule, count in counts.most_common():
            table.add_row(escape(rule), str(count))
        console.print(table)
    console.print(_sentence(results), soft_wrap=True)


def _table(calls: Sequence[CallCost]) -> Table:
    table = Table(
        "Energy", "Share", title="Hungriest calls", title_justify="left", box=SIMPLE_HEAD, pad_edge=False
    )
    for column in ("Call", "Where"):  # a narrow terminal folds them: the line number is what people look for
        table.add_column(column, overflow="fold")
    whole = sum(call.joules for call in calls)
    for call in calls[:HUNGRIEST]:
        share = f"{call.joules / whole * 100:.0f}%" if whole > 0 else ""
        table.add_row(marked(call.joules, call.estimated), share, escape(call.api), escape(call.where))
    return table


def _sentence(results: Sequence[FileResult]) -> str:
    findings = sum(item.is_finding for result in results for item in result.items)
    fixable = sum(item.fix == "safe" for result in results for item in result.items)
    fixed = sum(result.fixed for result in results)
    calls = [call for result in results for call in result.calls]
    unknown = sum(result.unknown for result in results)
    parts = [
        f"{count} {what}{'' if count == 1 else 's'}"
        for count, what in ((len(results), "file"), (findings, "finding"))
    ]
    if fixed:
        parts.append(f"{fixed} fixed")
    if fixable:
        parts.append(f"{fixable} fixable with --fix")
    if calls:
        energy = marked(sum(call.joules for call in calls), any(call.estimated for call in calls))
        parts.append(f"{energy} known")
    parts.append(f"{unknown} calls of unknown cost")
    return ", ".join(parts) + "."
