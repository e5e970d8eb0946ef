"""Measured runs for people: one in a list, two compared, and a program's history as a page of Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from energy_data.database.summaries import program_of
from energy_data.project_places import place_of
from energy_data.untrusted.printable import one_line, visible
from energy_lsp.presentation.notation.markup import Markdown
from energy_lsp.presentation.notation.pictures import HistoryPoint, history_picture
from energy_lsp.presentation.notation.units import counted, duration, marked
from energy_lsp.runs.difference import Difference, call_changes, phase_changes
from energy_lsp.runs.history import Moment, program_name, total

if TYPE_CHECKING:
    from energy_data.model import Measurement, Phase, Run

MOST_ROWS = 20
MOST_POINTS = 40


def ending(run: Run) -> str:
    """The first line about a run that did not end well, with the program's last error; empty for one that did."""
    if run.status == "finished":
        return ""
    how = "The program failed" if run.status == "failed" else "The program was stopped before its end"
    error = f": {one_line(run.error).rstrip('.')}" if run.error else ""
    return f"{how}{error}. What follows is the part that ran."


def run_summary(run: Run, phases: Sequence[Phase]) -> dict[str, Any]:
    """One run in a list."""
    spent = total(run)
    return {
        "id": run.id,
        "entry": visible(program_of(run.command)),
        "project": visible(place_of(run) or run.project),
        "started": run.started,
        "seconds": run.seconds,
        "joules": spent,
        "text": "" if spent is None else marked(spent, run.estimated),
        "estimated": run.estimated,
        "status": run.status,
        "error": one_line(run.error),
        "commit": visible(run.commit),
        "machine": visible(run.machine.label),
        "meter": visible(run.meter),
        "phases": [
            {
                "name": phase.name,
                "joules": phase.joules,
                "seconds": phase.seconds,
                "text": marked(phase.joules, run.estimated),
                "share": phase.joules / spent if spent else 0.0,
            }
            for phase in sorted(phases, key=lambda one: -one.joules)
            if phase.joules > 0
        ],
    }


def comparison_page(
    before: Run,
    after: Run,
    phases: Mapping[str, Sequence[Phase]],
    calls: Mapping[str, Sequence[Measurement]],
) -> str:
    """Two runs side by side: the whole, the phases, and the calls that changed most."""
    markup = Markdown()
    names = dict.fromkeys(program_name(run) for run in (before, after))
    lines = [f"# {markup.text(' and '.join(names))}: two runs", ""]
    if (before.machine.label, before.meter) != (after.machine.label, after.meter):
        lines += ["**Different machines or meters: the difference says nothing about the program.**", ""]
    estimated = before.estimated or after.estimated
    head = ["| | before | after | change |", "|---|---:|---:|---:|"]
    whole = Difference("**whole program**", "", total(before), total(after))
    rows = [whole, *phase_changes(phases[before.id], phases[after.id])]
    lines += [*head, *(_row(row.name, row, estimated) for row in rows)]
    lines += [f"| time | {duration(before.seconds)} | {duration(after.seconds)} | |", ""]
    changed = call_changes(calls[before.id], calls[after.id])[:MOST_ROWS]
    lines += ["## Calls that changed most", "", *head]
    lines += [_row(f"{markup.code(one.name)} {markup.text(one.place)}", one, estimated) for one in changed]
    lines += ["", f"Before: {_about(before, markup)}", "", f"After: {_about(after, markup)}", ""]
    lines.append(
        "Two single runs differ by chance too; `energy-lsp compare` repeats both in turns and says whether it is more."
    )
    return "\n".join(lines) + "\n"


def history_page(run: Run, moments: Sequence[Moment], call: str = "") -> str:
    """The runs of one program on one machine, oldest first, as a small chart and a table; or one call in them."""
    markup = Markdown()
    shown = [one for one in moments if one.joules is not None][-MOST_POINTS:]
    about = (
        f"{markup.code(call)} in {markup.text(program_name(run))}" if call else markup.text(program_name(run))
    )
    lines = [f"# {about}: {counted(len(shown), 'run')}", ""]
    lines += [f"{markup.text(run.machine.label)} · {markup.text(run.meter)}", ""]
    points = [
        HistoryPoint(
            one.joules or 0.0,
            one.run.commit[:7] or one.run.started[5:16].replace("T", " "),
            one.run.estimated,
        )
        for one in shown
    ]
    lines += [history_picture(points), "", "| run | commit | joules | time |", "|---|---|---:|---:|"]
    lines += [
        f"| {markup.text(one.run.started[:16].replace('T', ' '))} | {markup.text(one.run.commit[:7])} "
        f"| {marked(one.joules or 0.0, one.run.estimated)} | {duration(one.run.seconds)} |"
        for one in reversed(shown)
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, change: Difference, estimated: bool) -> str:
    old, new = change.before, change.after
    cells = ["" if value is None else marked(value, estimated) for value in (old, new)]
    ratio = f"{new / old - 1:+.0%}".replace("-", "−") if old and new is not None and old > 0 else ""
    return f"| {name} | {cells[0]} | {cells[1]} | {ratio} |"


def _about(run: Run, markup: Markdown) -> str:
    parts = [run.started[:16].replace("T", " "), run.commit[:7], run.machine.label, run.meter]
    return markup.text(" · ".join(part for part in parts if part))
