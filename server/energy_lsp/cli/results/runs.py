"""`energy-lsp runs`: what was measured, run by run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from energy_data.database.database import Database
from energy_data.database.pruning import delete_runs
from energy_data.database.summaries import program_of
from energy_data.model import Measurement, Run
from energy_data.problems import Problem
from energy_data.project_places import place_of
from energy_data.untrusted.printable import json_text, visible
from energy_lsp.cli.group import Suggesting
from energy_lsp.cli.results.report import open_page, summarise
from energy_lsp.cli.run_argument import choose_run, measured_database, run_or_file
from energy_lsp.runs.difference import Difference, call_changes, phase_changes
from energy_lsp.runs.history import Moment, call_history, program_history, program_name, same_program, total
from energy_lsp.terminal.echo import echo, say

LISTED = 20
_db = click.option(
    "--db",
    type=click.Path(path_type=Path),
    default=None,
    help="Energy database; default: this machine's own.",
)
_format = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)


class ListOrCommand(Suggesting):
    """A group that lists runs when no command is given, and shows the run that is named in place of one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`runs` and `runs --last 5` are `runs list`, `runs latest` is `runs show latest`."""
        if ctx.resilient_parsing:  # somebody completes what they write
            return super().parse_args(ctx, args)
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        elif args[0] == "latest" or args[0][:1].isdigit():
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group(cls=ListOrCommand)
def runs() -> None:
    """List measured runs, look at one, open its report, compare two, follow a program or a call over commits.

    RUN is the id of a run, the beginning of one, "latest", or a measured file (its last run).
    """


@runs.command("list")
@click.argument("program", default="")
@click.option("--last", type=click.IntRange(min=1), default=LISTED, show_default=True, help="So many.")
@_format
@_db
def list_runs(program: str, last: int, form: str, db: Path | None) -> None:
    """List the last runs, the newest first; of a PROGRAM alone where one is named."""
    with Database.read(measured_database(db)) as database:
        found = database.runs()
    if program:
        name = Path(program).name
        found = [run for run in found if name == program_name(run) or program in run.command]
    if not found:
        what = f"No run of {program} is" if program else "Nothing is"
        raise Problem(f"{what} in the database yet: start with `energy-lsp measure {program or 'FILE'}`.")
    shown = found[-last:][::-1]
    if form == "json":
        echo(json_text([_run_json(run) for run in shown], indent=2))
        return
    from energy_lsp.terminal.runs_table import print_runs  # JSON needs no screen

    print_runs(shown)
    if len(found) > last:
        say(f"… and {len(found) - last} older ones: --last {len(found)} shows all.")
    say(
        "`energy-lsp runs show RUN` has more, `runs open RUN` the report, `runs compare RUN RUN` what differs."
    )


def _run_json(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "started": run.started,
        "command": run.command,
        "project": str(place_of(run) or run.project),
        "entry": program_of(run.command),
        "joules": total(run),
        "seconds": run.seconds,
        "estimated": run.estimated,
        "meter": run.meter,
        "machine": run.machine.label,
        "commit": run.commit,
        "branch": run.branch,
        "status": run.status,
        "error": run.error,
    }


@runs.command()
@click.argument("run", default="latest")
@_db
def show(run: str, db: Path | None) -> None:
    """Print one RUN in short: how much, where it went, the costliest calls and layers."""
    with Database.read(measured_database(db)) as database:
        summarise(run_or_file(run, database), database)


@runs.command("open")
@click.argument("run", default="latest")
@_db
def open_(run: str, db: Path | None) -> None:
    """Open the report of a RUN in the browser; where there is none, say where the page lies."""
    with Database.read(measured_database(db)) as database:
        open_page(run_or_file(run, database), database)


@runs.command()
@click.argument("before")
@click.argument("after", default="latest")
@_format
@_db
def compare(before: str, after: str, form: str, db: Path | None) -> None:
    """Show what differs between two runs: the whole, its phases, its calls. Nothing is measured."""
    with Database.read(measured_database(db)) as database:
        first, second = run_or_file(before, database), run_or_file(after, database)
        if first.id == second.id:
            raise Problem("That is one run twice: name two. `energy-lsp runs` lists them.")
        phases = phase_changes(database.phases(first.id), database.phases(second.id))
        calls = call_changes(database.measurements(first.id), database.measurements(second.id))
    if form == "json":
        compared = {
            "phases": [_change_json(one) for one in phases],
            "calls": [_change_json(one) for one in calls],
        }
        echo(json_text({"before": _run_json(first), "after": _run_json(second), **compared}, indent=2))
        return
    from energy_lsp.terminal.runs_table import print_difference  # JSON needs no screen

    print_difference(first, second, phases, calls, _comparable(first, second))


def _comparable(before: Run, after: Run) -> str:
    """What speaks against comparing them."""
    if (before.machine.label, before.meter) != (after.machine.label, after.meter):
        return (
            "They were measured on different machines or with different meters: their joules do not compare."
        )
    if not same_program(before, after):
        return "They are of different programs."
    return ""


def _change_json(change: Difference) -> dict[str, Any]:
    return {
        "name": change.name,
        "place": change.place or None,
        "before": change.before,
        "after": change.after,
        "difference": change.difference,
    }


@runs.command()
@click.argument("program", metavar="RUN|FILE[:LINE]", default="latest")
@click.option(
    "--call", metavar="NAME", default="", help="Follow a call, such as fit, and not the whole program."
)
@_format
@_db
def history(program: str, call: str, form: str, db: Path | None) -> None:
    """Follow a program, or the call at a LINE of it, over its runs and commits, as a small chart."""
    path, _, line = program.rpartition(":")
    if not (path and line.isdecimal()):
        path, line = program, ""
    with Database.read(measured_database(db)) as database:
        chosen = run_or_file(path, database)
        moments = program_history(chosen, database.runs())
        what = f"{program_name(chosen)} on {chosen.machine.label}"
        if call or line:
            site = _site(database.measurements(chosen.id), call, int(line or 0), path)
            moments = call_history(site, moments, database)
            what = f"{site.api}, {site.file}:{site.line}, all its calls in a run, on {chosen.machine.label}"
    if not moments:
        raise Problem(f"{what} has no finished run yet: `energy-lsp runs` lists what there is.")
    if form == "json":
        echo(json_text([_moment_json(moment) for moment in moments], indent=2))
        return
    from energy_lsp.terminal.runs_table import print_history  # JSON needs no screen

    print_history(visible(what), moments)


def _site(calls: list[Measurement], name: str, line: int, program: str) -> Measurement:
    fitting = [
        call
        for call in calls
        if (not line or call.line == line) and (not name or call.api == name or call.api.endswith(f".{name}"))
    ]
    if not fitting:
        known = ", ".join(f"{one.api.rpartition('.')[2]} (line {one.line})" for one in calls[:8])
        raise Problem(
            f"No such call of {program} was measured; in its last run there were: {known or 'none'}."
        )
    return max(fitting, key=lambda one: one.seconds * one.count)


def _moment_json(moment: Moment) -> dict[str, Any]:
    run = moment.run
    return {
        "run": run.id,
        "started": run.started,
        "commit": run.commit or None,
        "joules": moment.joules,
        "count": moment.count or None,
        "estimated": run.estimated,
    }


@runs.command()
@click.argument("chosen", nargs=-1, required=True, metavar="RUN...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_db
def delete(chosen: tuple[str, ...], yes: bool, db: Path | None) -> None:
    """Delete runs with everything that was measured in them. To thin out many, see `energy-lsp db prune`."""
    path = measured_database(db)
    with Database.read(path) as database:
        found = {run.id: run for run in (choose_run(one, database.runs()) for one in chosen)}
    for run in found.values():
        say(f"{run.id}  {run.started[:16].replace('T', ' ')}  {visible(run.command)}", err=True)
    if not yes:
        click.confirm(
            f"Delete {'this run' if len(found) == 1 else f'these {len(found)} runs'}?", abort=True, err=True
        )
    with Database.open(path, create=False) as database:
        delete_runs(database, list(found))
    say(f"Deleted {len(found)} run{'s' if len(found) > 1 else ''}.")
