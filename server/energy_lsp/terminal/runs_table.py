"""Measured runs in a terminal: a list, one of them in short, two side by side, and a history as a small chart."""

from __future__ import annotations

from collections.abc import Sequence

from energy_data.model import Measurement, Part, Phase, Run
from energy_data.untrusted.printable import one_line, visible
from energy_lsp.inside.groups import grouped
from energy_lsp.presentation.notation.units import (
    bar,
    column_unit,
    counted,
    fine_percent,
    in_unit,
    joules,
    share_text,
    whole,
)
from energy_lsp.presentation.words.runs import ending
from energy_lsp.runs.difference import Difference
from energy_lsp.runs.history import Moment, of_run, program_name, total
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.table import Column, Table

CALLS, LAYERS, CHANGES = 8, 5, 15
SMALLEST_SHARE = 0.001
"""Calls that changed by less than this part of the run are told together."""
ENDINGS = {"finished": "", "failed": "failed", "partial": "stopped early"}
BLOCKS = "▁▂▃▄▅▆▇█"


def print_runs(runs: Sequence[Run]) -> None:
    """A row a run, the newest first."""
    screen = Screen()
    totals = [total(run) for run in runs]
    unit = column_unit(totals)
    table = Table(
        [
            Column("run", "name"),
            Column("when (UTC)", drop=2),
            Column("program", "name"),
            Column(f"energy, {unit}", "number"),
            Column("time, s", "number", drop=3),
            Column("commit", drop=4),
            Column("how", drop=5),
            Column(""),  # a run that failed is not a cheap one, however narrow the screen
        ]
    )
    for run, joules_ in zip(runs, totals, strict=True):
        energy = "" if joules_ is None else ("≈ " if run.estimated else "") + in_unit(joules_, unit)
        table.add(
            run.id,
            _when(run),
            visible(program_name(run)),
            energy,
            f"{run.seconds:.1f}",
            run.commit[:10],
            visible(run.meter),
            ENDINGS[run.status],
        )
    table.print(screen)
    if any(run.estimated for run in runs):
        screen.say("≈: estimated from CPU time, no energy sensor was read.")


def print_summary(
    run: Run,
    measurements: Sequence[Measurement],
    phases: Sequence[Phase],
    parts: Sequence[Part],
    history: Sequence[Moment],
) -> None:
    """One run in short: how much, where it went, the costliest calls and layers, how it compares with earlier ones."""
    screen = Screen()
    mark = "≈ " if run.estimated else ""
    if text := ending(run):
        screen.say(text)
    screen.say(f"{visible(run.command)} · {_when(run)} UTC · run {run.id}", style="bold")
    how = "estimated from CPU time by" if run.estimated else "measured with"
    all_ = total(run)
    amount = f"{mark}{whole(all_)}" if all_ is not None else "Unknown energy"
    screen.say(
        f"{amount} in {run.seconds:.2f} s, {how} {visible(run.meter)} on {visible(run.machine.label)}."
    )
    if phases and all_:
        _phases(screen, phases, all_)
    _calls(screen, measurements, all_)
    if parts:
        groups = grouped(parts, "layer")[:LAYERS]
        text = ", ".join(f"{one_line(group.name)} {group.share:.0%}" for group in groups)
        screen.say(f"Inside of calls, by layer: {text}.")
    known = [moment.joules for moment in history if moment.joules is not None]
    if len(known) > 1:
        screen.say(
            f"Runs of this program: {sparkline(known[-40:])}  {joules(min(known))} to {joules(max(known))}."
        )


def _when(run: Run) -> str:
    return run.started[:16].replace("T", " ")


def _phases(screen: Screen, phases: Sequence[Phase], all_: float) -> None:
    unit = column_unit(phase.joules for phase in phases)
    table = Table(
        [
            Column("where it went"),
            Column(f"energy, {unit}", "number"),
            Column("share", "number"),
            Column("", drop=1),
        ]
    )
    for phase in sorted(phases, key=lambda phase: -phase.joules):
        share = max(phase.joules, 0.0) / all_
        if share >= 0.001 or phase.name == "unexplained":
            table.add(phase.name, in_unit(phase.joules, unit), fine_percent(share), bar(share))
    table.print(screen)


def _calls(screen: Screen, measurements: Sequence[Measurement], all_: float | None) -> None:
    known = [(value, call) for call in measurements if (value := of_run(call)) is not None]
    known.sort(key=lambda one: -one[0])
    unit = column_unit(value for value, _ in known[:CALLS])
    table = Table(
        [
            Column("costliest calls", "name"),
            Column("place", "name"),
            Column("calls", "number", drop=2),
            Column(f"all, {unit}", "number"),
            Column("share", "number", drop=1),
        ]
    )
    for value, call in known[:CALLS]:
        share = share_text(value / all_) if all_ else ""
        place = visible(f"{call.file.rpartition('/')[2]}:{call.line}")
        table.add(one_line(call.api), place, str(call.count), in_unit(value, unit), share)
    if table.rows:
        table.print(screen)
    if len(known) > CALLS:
        rest = sum(value for value, _ in known[CALLS:])
        screen.say(f"… and {counted(len(known) - CALLS, 'call')} more with {joules(rest)} together.")


def print_difference(
    before: Run, after: Run, phases: Sequence[Difference], calls: Sequence[Difference], comparable: str
) -> None:
    """Two runs side by side."""
    screen = Screen()
    mark = "≈ " if before.estimated or after.estimated else ""
    one, other = total(before), total(after)
    unit = column_unit([one, other])
    sides = Table(
        [
            Column("run", "name"),
            Column("program", "name"),
            Column("when (UTC)", drop=1),
            Column("commit", drop=2),
            Column(f"{mark}energy, {unit}", "number"),
            Column("time, s", "number"),
        ]
    )
    for run, amount in ((before, one), (after, other)):
        energy = "" if amount is None else in_unit(amount, unit)
        sides.add(
            run.id, visible(program_name(run)), _when(run), run.commit[:10], energy, f"{run.seconds:.2f}"
        )
    sides.print(screen)
    if one and other is not None:
        screen.say(f"The second took {_percent(one, other)} energy. {comparable}")
    least = SMALLEST_SHARE * max(one or 0.0, other or 0.0)
    changed = [change for change in calls if abs(change.difference) >= least][:CHANGES]
    for title, changes in (("Where it went", phases), ("Calls that changed most", changed)):
        if changes:
            _changes(title, changes).print(screen)
    if rest := len(calls) - len(changed):
        most = abs(calls[len(changed)].difference)
        screen.say(f"{counted(rest, 'call')} changed by {joules(most)} or less.")
    screen.say(
        "Two runs say nothing of chance: `energy-lsp compare BEFORE.py AFTER.py` runs both in turns and says how sure it is."
    )


def _changes(title: str, changes: Sequence[Difference]) -> Table:
    unit = column_unit(value for change in changes for value in (change.before, change.after))
    table = Table(
        [
            Column("", "name"),
            Column("place", "name", drop=2),
            Column(f"before, {unit}", "number", drop=1),
            Column(f"after, {unit}", "number"),
            Column("difference", "number"),
        ],
        title,
    )
    for change in changes:
        difference = in_unit(abs(change.difference), unit)
        sign = "+" if change.difference > 0 else "−" if change.difference < 0 else ""
        table.add(
            one_line(change.name),
            visible(change.place),
            "not there" if change.before is None else in_unit(change.before, unit),
            "not there" if change.after is None else in_unit(change.after, unit),
            "≈ 0" if difference.startswith("<") else sign + difference,
        )
    return table


def _percent(before: float, after: float) -> str:
    change = round((after / before - 1) * 100)
    return "as much" if not change else f"{abs(change)}% {'more' if change > 0 else 'less'}"


def print_history(what: str, moments: Sequence[Moment]) -> None:
    """A bar a run, over time and commits."""
    screen = Screen()
    known = [moment.joules for moment in moments if moment.joules is not None]
    most = max(known, default=0.0)
    unit = column_unit(known)
    mark = "≈ " if any(moment.run.estimated for moment in moments) else ""
    screen.say(what, style="bold")
    table = Table(
        [
            Column("when (UTC)"),
            Column("commit", drop=2),
            Column("run", "name", drop=3),
            Column(f"{mark}energy, {unit}", "number"),
            Column("", drop=1),
            Column("change", "number"),
        ]
    )
    last: float | None = None
    for moment in moments:
        value = moment.joules
        change = "" if value is None or not last else f"{(value / last - 1) * 100:+.0f}%"
        table.add(
            _when(moment.run),
            moment.run.commit[:10] or "none",
            moment.run.id,
            "did not run, or too little to tell" if value is None else in_unit(value, unit),
            "█" * round(20 * value / most) if value and most else "",
            change,
        )
        last = value or last
    table.print(screen)
    if len(known) > 1:
        screen.say(
            f"{sparkline(known)}  {joules(min(known))} to {joules(most)} in {counted(len(known), 'run')}."
        )


def sparkline(values: Sequence[float]) -> str:
    """One character a value, from nothing to the largest."""
    most = max(values, default=0.0)
    if most <= 0:
        return BLOCKS[0] * len(values)
    return "".join(BLOCKS[min(7, max(0, round(7 * value / most)))] for value in values)
