"""Measured runs for people: one in a list, two compared, and a program's history as a page of Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from energy_lsp.presentation.markup import Markdown
from energy_lsp.presentation.pictures import Point, history_picture
from energy_lsp.presentation.units import duration, marked

if TYPE_CHECKING:
    from energy_data.model import Measurement, Phase, Run

MOST_ROWS = 20
MOST_POINTS = 40
Site = tuple[str, str, str, int]
"""API, file, function, and which of the equal ones."""


def entry_of(run: Run) -> str:
    """The program that ran, as people call it."""
    return run.command.removeprefix("python ")


def joules_of(run: Run) -> float | None:
    """Of the whole program; None where it was not measured as one."""
    return sum(part.value for part in run.joules.values()) if run.joules else None


def run_summary(run: Run, phases: Sequence[Phase]) -> dict[str, Any]:
    """One run in a list."""
    total = joules_of(run)
    return {
        "id": run.id,
        "entry": entry_of(run),
        "project": run.project,
        "started": run.started,
        "seconds": run.seconds,
        "joules": total,
        "text": "" if total is None else marked(total, run.estimated),
        "estimated": run.estimated,
        "status": run.status,
        "error": run.error,
        "commit": run.commit,
        "machine": run.machine.label,
        "meter": run.meter,
        "phases": [
            {
                "name": phase.name,
                "joules": phase.joules,
                "seconds": phase.seconds,
                "text": marked(phase.joules, run.estimated),
                "share": phase.joules / total if total else 0.0,
            }
            for phase in phases
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
    lines = [f"# {markup.text(entry_of(before))}: two runs", ""]
    if (before.machine.label, before.meter) != (after.machine.label, after.meter):
        lines += ["**Different machines or meters: the difference says nothing about the program.**", ""]
    estimated = before.estimated or after.estimated
    lines += ["| | before | after | change |", "|---|---:|---:|---:|"]
    rows: list[tuple[str, float | None, float | None]] = [
        ("**whole program**", joules_of(before), joules_of(after))
    ]
    first, second = ({phase.name: phase.joules for phase in phases[run.id]} for run in (before, after))
    rows += [(name, first.get(name), second.get(name)) for name in dict.fromkeys([*first, *second])]
    lines += [_row(name, old, new, estimated) for name, old, new in rows if (old or 0) > 0 or (new or 0) > 0]
    lines += [f"| time | {duration(before.seconds)} | {duration(after.seconds)} | |", ""]
    old_calls, new_calls = _by_site(calls[before.id]), _by_site(calls[after.id])
    sites = sorted(
        old_calls.keys() | new_calls.keys(),
        key=lambda site: -abs(old_calls.get(site, 0.0) - new_calls.get(site, 0.0)),
    )[:MOST_ROWS]
    lines += ["## Calls that changed most", "", "| call | before | after | change |", "|---|---:|---:|---:|"]
    lines += [
        _row(f"{markup.code(api)} {markup.text(file)}", old_calls.get(site), new_calls.get(site), estimated)
        for site in sites
        for api, file, *_ in [site]
    ]
    lines += ["", f"Before: {_about(before, markup)}", "", f"After: {_about(after, markup)}", ""]
    lines.append(
        "Two single runs differ by chance too; `energy-lsp compare` repeats both in turns and says whether it is more."
    )
    return "\n".join(lines) + "\n"


def history_page(runs: Sequence[Run]) -> str:
    """The runs of one program, oldest first, as a small chart and a table."""
    markup = Markdown()
    shown = [run for run in runs if joules_of(run) is not None][-MOST_POINTS:]
    lines = [f"# {markup.text(entry_of(runs[-1]))}: {len(shown)} runs", ""]
    points = [
        Point(joules_of(run) or 0.0, run.commit[:7] or run.started[5:10], run.estimated) for run in shown
    ]
    lines += [history_picture(points), "", "| run | commit | joules | time | |", "|---|---|---:|---:|---|"]
    for run in reversed(shown):
        ending = "" if run.status == "finished" else run.status
        lines.append(
            f"| {markup.text(run.started[:16].replace('T', ' '))} | {markup.text(run.commit[:7])} "
            f"| {marked(joules_of(run) or 0.0, run.estimated)} | {duration(run.seconds)} | {ending} |"
        )
    machines = {(run.machine.label, run.meter) for run in shown}
    if len(machines) > 1:
        lines += ["", "The runs come from different machines or meters: their joules are not one curve."]
    return "\n".join(lines) + "\n"


def _row(name: str, old: float | None, new: float | None, estimated: bool) -> str:
    cells = ["" if value is None else marked(value, estimated) for value in (old, new)]
    change = f"{new / old - 1:+.0%}" if old and new is not None and old > 0 else ""
    return f"| {name} | {cells[0]} | {cells[1]} | {change.replace('-', '−')} |"


def _by_site(calls: Sequence[Measurement]) -> dict[Site, float]:
    """Joules of one run by call, without those nested in it; lines move between commits, so they do not count."""
    found: dict[Site, float] = {}
    for call in sorted(calls, key=lambda one: one.line):
        number = 0
        while (site := (call.api, call.file, call.function, number)) in found:
            number += 1
        own = call.exclusive_joules
        each = own if own is not None else sum(part.value for part in call.joules.values())
        found[site] = max(0.0, each) * call.count
    return found


def _about(run: Run, markup: Markdown) -> str:
    parts = [run.started[:16].replace("T", " "), run.commit[:7], run.machine.label, run.meter]
    return markup.text(" · ".join(part for part in parts if part))
