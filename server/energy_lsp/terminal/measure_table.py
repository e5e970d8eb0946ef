"""The end of a measurement in a terminal: the costliest calls, their sum against the whole."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING

from energy_data.paths import standard_database
from energy_data.untrusted.printable import one_line, visible
from energy_lsp.presentation.notation.units import (
    column_unit,
    counted,
    fine_percent,
    in_unit,
    interval,
    joules,
    share_text,
    whole,
)
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.table import Column, Table

if TYPE_CHECKING:
    from energy_measure.results import MeasuredCall, MeasuredProgram
    from energy_measure.session import Measured, MeasuredRun

SHOWN = 15
HOW = {"in place": "as it ran", "replayed": "repeated alone", "imported": "imported"}
"""How a figure was found, in words that explain themselves."""
SMALL_CALL, AT_LEAST = 0.01, 3
"""Calls below this part of the whole are told together; but so many are always shown."""


def print_table(measured: MeasuredRun) -> None:
    """Everything a person wants to know right after measuring."""
    screen = Screen()
    how = "estimated by" if measured.estimated else "measured with"
    for one in measured.programs:
        if one.program is not None and one.status != "finished":
            how_it_ended = "failed" if one.status == "failed" else "was not finished"
            screen.say(f"{visible(one.command)} {how_it_ended}: {one_line(one.error or one.failure)}")
    if any(one.program is not None for one in measured.programs):
        screen.line()
        screen.say(f"Energy above idle, {how} {measured.meter} on {visible(measured.machine.label)}.")
    for one in measured.programs:
        if one.program is not None:
            _print_program(screen, one, one.program, "≈ " if measured.estimated else "")
    if measured.known:
        screen.say("In the code: `energy-lsp check PATH`, or an editor with the energy-lsp extension.")
        screen.whole(f"Report: `{_report_command(measured)}`.")


def _report_command(measured: MeasuredRun) -> str:
    """What writes the page of the last run; the database is named where it is not found by itself."""
    command = ["energy-lsp", "report", measured.programs[-1].run_id, "--html", "report.html"]
    named = [] if measured.database == standard_database() else ["--db", str(measured.database)]
    return shlex.join([*command, *named])


def _print_program(screen: Screen, measured: Measured, program: MeasuredProgram, mark: str) -> None:
    large = [call for call in program.calls if _share(call, program) >= SMALL_CALL]
    shown = program.calls[: min(SHOWN, max(AT_LEAST, len(large)))]
    each = column_unit([call.total for call in shown if call.resolved])
    every = column_unit([call.run_joules for call in shown if call.resolved])
    table = Table(
        [
            Column("call", "name"),
            Column("place", "name"),
            Column("calls", "number", drop=3),
            Column(f"{mark}per call, {each}", "number", drop=2),
            Column("95% interval", "number", drop=5),
            Column(f"{mark}all, {every}", "number"),
            Column("share", "number", drop=1),
            Column("how", drop=4),
        ],
        f"{visible(measured.command)} ({counted(program.repeats, 'run')}), with shares of the whole program",
    )
    for call in shown:
        table.add(*_row(call, program, each, every))
    table.print(screen)
    if rest := program.calls[len(shown) :]:
        together = sum(call.run_joules for call in rest if call.resolved)
        screen.say(f"… and {counted(len(rest), 'call')} more with {mark}{joules(together)} together.")
    _print_sum(screen, program, mark)


def _share(call: MeasuredCall, program: MeasuredProgram) -> float:
    """Of the whole program; nothing for what the meter could not tell."""
    return call.run_joules / program.total if call.resolved and program.total > 0 else 0.0


def _row(call: MeasuredCall, program: MeasuredProgram, each: str, every: str) -> tuple[str, ...]:
    how = "while tracing" if call.tracing else HOW[call.method]
    name = "tf." + call.site.api[11:] if call.site.api.startswith("tensorflow.") else call.site.api
    place = (one_line(name), visible(call.site.place.rpartition("/")[2]), str(call.count))
    if not call.resolved:
        below = call.interval.high
        bound = f"below {joules(below)}" if math.isfinite(below) and below > 0 else "too little to tell"
        return (*place, "", bound, "too little", "", how)
    known = call.interval_covers != "sampling"  # what the meter leaves open in one run is no interval of runs
    spread = interval(call.interval.low, call.interval.high) if known else "one run"
    return (
        *place,
        in_unit(call.total, each),
        spread,
        in_unit(call.run_joules, every),
        share_text(_share(call, program)),
        how,
    )


def _one_run(program: MeasuredProgram) -> str:
    """What the intervals of a single run are."""
    spreads = [call.usual_spread for call in program.calls if call.usual_spread is not None]
    if not spreads:
        return "One run: nothing is known yet of how much runs differ on this machine."
    return f"One run, with the spread that runs usually have on this machine with this meter (± {max(spreads):.0%})."


def _print_phases(screen: Screen, program: MeasuredProgram, mark: str) -> None:
    """Where the whole of it went; the parts that say most about a phase beside it."""
    accounted = program.total - program.unaccounted
    screen.say(
        f"Calls took {mark}{joules(max(accounted, 0.0))} of it as they ran; the other "
        f"{mark}{joules(max(program.unaccounted, 0.0))} went into what is around them."
    )
    unit = column_unit(share.joules for share in program.phases.values())
    table = Table(
        [
            Column("phase"),
            Column(f"energy, {unit}", "number"),
            Column("share", "number"),
            Column("seconds", "number", drop=2),
            Column("most of it", "prose", drop=1),
        ],
        "Where it went",
    )
    for name, share in program.phases.items():
        if share.joules == 0.0 and name != "unexplained":
            continue
        part = share.joules / program.total if program.total > 0 else 0.0
        most = sorted(share.detail.items(), key=lambda item: -item[1])[:3]
        listed = ", ".join(f"{one_line(part)} {joules(value)}" for part, value in most if value > 0)
        table.add(name, in_unit(share.joules, unit), fine_percent(part), f"{share.seconds:.2f}", listed)
    table.print(screen)
    if any(share.joules < 0 for share in program.phases.values()):
        screen.say("≈ 0: less than the meter can tell from nothing.")


def _print_sum(screen: Screen, program: MeasuredProgram, mark: str) -> None:
    spread = ""
    if program.repeats > 1:
        spread = f" (95% {interval(program.interval.low, program.interval.high)}"
        spread += f", varies by {program.variation:.1%})" if math.isfinite(program.variation) else ")"
    screen.say(f"Whole program: {mark}{whole(program.total)} in {program.seconds:.2f} s{spread}.")
    _print_phases(screen, program, mark)
    if any(call.method == "replayed" for call in program.calls):
        screen.say(
            "A call that was repeated alone has the figure of its repetitions: its first run may have cost more."
        )
    if program.outliers:
        listed = ", ".join(str(number + 1) for number in program.outliers)
        screen.say(f"Far from the others, and part of the mean all the same: run {listed}.")
    if program.repeats == 1:
        screen.say(f"{_one_run(program)} `--repeat 5` shows how much runs of this program differ.")
    elif any(call.method == "replayed" and call.interval_runs == 1 for call in program.calls):
        screen.say("Calls were repeated alone in one of the runs.")
    screen.line()
