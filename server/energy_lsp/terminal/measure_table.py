"""The end of a measurement in a terminal: the costliest calls, their sum against the whole."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from energy_data.paths import standard_database
from energy_data.untrusted.printable import visible
from energy_lsp.presentation.units import interval, joules
from energy_lsp.terminal import console as terminal

if TYPE_CHECKING:
    from rich.console import Console

    from energy_measure.results import MeasuredCall, MeasuredProgram
    from energy_measure.session import Measured, MeasuredRun

SHOWN = 15


def print_table(measured: MeasuredRun) -> None:
    """Everything a person wants to know right after measuring."""
    console = terminal.console()
    how = "estimated by" if measured.estimated else "measured with"
    for one in measured.programs:
        if one.program is not None and one.status != "finished":
            how_it_ended = "failed" if one.status == "failed" else "was not finished"
            console.print(
                f"{visible(one.command)} {how_it_ended}: {_plain(one.error or one.failure)}", soft_wrap=True
            )
    if any(one.program is not None for one in measured.programs):
        console.print(f"\nEnergy above idle, {how} {measured.meter} on {measured.machine.label}.")
    for one in measured.programs:
        if one.program is not None:
            _print_program(console, one, one.program)
    if measured.known:
        console.print(
            "See them in the code: `energy-lsp check PATH`, or open the file in an editor with the "
            "energy-lsp extension; an open editor refreshes by itself.\n"
            f"Report: `{_report_command(measured)}`.",
            soft_wrap=True,
        )


def _report_command(measured: MeasuredRun) -> str:
    """What writes the page of the last run; the database is named where it is not found by itself."""
    command = ["energy-lsp", "report", measured.programs[-1].run_id, "--html", "report.html"]
    named = [] if measured.database == standard_database() else ["--db", str(measured.database)]
    return shlex.join([*command, *named])


def _print_program(console: Console, measured: Measured, program: MeasuredProgram) -> None:
    runs = "1 run" if program.repeats == 1 else f"{program.repeats} runs"
    table = Table(
        title=f"{visible(measured.command)} ({runs})", title_justify="left", box=SIMPLE_HEAD, pad_edge=False
    )
    for name in ("call", "place"):
        table.add_column(name, overflow="fold")
    for name in ("runs", "per call", "95% interval", "all", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("how", no_wrap=True)
    for call in program.calls[:SHOWN]:
        table.add_row(*_row(call, program))
    console.print(table)
    if len(program.calls) > SHOWN:
        console.print(f"… and {len(program.calls) - SHOWN} more.")
    _print_sum(console, program)


def _row(call: MeasuredCall, program: MeasuredProgram) -> tuple[str, ...]:
    how = "tracing" if call.tracing else call.method
    name = "tf." + call.site.api[11:] if call.site.api.startswith("tensorflow.") else call.site.api
    place = (_plain(name), visible(call.site.place.rpartition("/")[2]), f"{call.count}×")
    if not call.resolved:
        below = call.interval.high
        bound = f"under {joules(below)}" if math.isfinite(below) and below > 0 else "unknown"
        return (*place, bound, "unresolved", "", "", how)
    share = call.run_joules / program.total if program.total > 0 else 0.0
    known = call.interval_covers != "sampling"  # what the meter leaves open in one run is no interval of runs
    spread = interval(call.interval.low, call.interval.high) if known else "one run"
    return (*place, joules(call.total), spread, joules(call.run_joules), f"{share:.0%}", how)


def _one_run(program: MeasuredProgram) -> str:
    """What the intervals of a single run are."""
    spreads = [call.usual_spread for call in program.calls if call.usual_spread is not None]
    if not spreads:
        return "One run: nothing is known yet of how much runs differ on this machine."
    return f"One run, with the spread that runs usually have on this machine with this meter (± {max(spreads):.0%})."


def _print_phases(console: Console, program: MeasuredProgram) -> None:
    """Where the whole of it went; the parts that say most about a phase beside it."""
    accounted = program.total - program.unaccounted
    console.print(
        f"As they ran, calls account for {joules(accounted)}; {joules(program.unaccounted)} is unaccounted for by them."
    )
    table = Table(title="Where it went", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("phase")
    for name in ("energy", "share", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("most of it", overflow="fold")
    for name, share in program.phases.items():
        if share.joules == 0.0 and name != "unexplained":
            continue
        part = share.joules / program.total if program.total > 0 else 0.0
        most = sorted(share.detail.items(), key=lambda item: -item[1])[:3]
        listed = ", ".join(f"{_plain(part)} {joules(value)}" for part, value in most if value > 0)
        table.add_row(name, joules(share.joules), f"{part:.1%}", f"{share.seconds:.2f}", listed)
    console.print(table)


def _print_sum(console: Console, program: MeasuredProgram) -> None:
    spread = ""
    if program.repeats > 1:
        spread = f" (95% {interval(program.interval.low, program.interval.high)}"
        spread += f", varies by {program.variation:.1%})" if math.isfinite(program.variation) else ")"
    console.print(f"Whole program: {joules(program.total)} in {program.seconds:.2f} s{spread}.")
    _print_phases(console, program)
    if any(call.method == "replayed" for call in program.calls):
        console.print(
            "A replayed call is shown as it costs when it is repeated: its first run in the program may have cost more.",
            soft_wrap=True,
        )
    if program.outliers:
        listed = ", ".join(str(number + 1) for number in program.outliers)
        console.print(f"Far from the others, and part of the mean all the same: run {listed}.")
    if program.repeats == 1:
        console.print(
            f"{_one_run(program)} `--repeat 5` shows how much runs of this program differ.",
            soft_wrap=True,
        )
    elif any(call.method == "replayed" and call.interval_runs == 1 for call in program.calls):
        console.print(
            "Replayed calls were replayed in one run.",
            soft_wrap=True,
        )
    console.print()


def _plain(text: str) -> str:
    """Text of the measured program without what a terminal would obey."""
    return escape("".join(character if character.isprintable() else "?" for character in text))
