"""`energy-lsp campaign`: measure many projects, on this machine or on many."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from energy_data.paths import absolute
from energy_data.problems import Problem
from energy_data.untrusted.printable import json_text
from energy_data.untrusted.writing import write_file
from energy_lsp.cli.group import Suggesting
from energy_lsp.presentation.notation.markup import Plain
from energy_lsp.presentation.notation.units import counted
from energy_lsp.terminal.echo import echo, say

if TYPE_CHECKING:
    from energy_measure.campaign.engine import CampaignProgress, Tell
    from energy_measure.campaign.results import JobOutcome

INTERRUPTED = 130


class PlanOrCommand(Suggesting):
    """A group whose first argument may also be a plan: `campaign PLAN.toml` is `campaign run PLAN.toml`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` in front of what is not a command."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=PlanOrCommand)
def campaign() -> None:
    """Measure many projects with one command: `energy-lsp campaign PLAN.toml`.

    Needs the extra `campaign`: pip install "energy-lsp[campaign]".
    """


@campaign.command("run")
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    default="",
    help="Dask scheduler to run on, such as tcp://host:8786. Default: workers on this machine.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Worker processes on this machine; one at a time measures, the others build environments.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print what became of the jobs.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a report over all projects.",
)
def run(plan: Path, scheduler: str, workers: int, form: str, html: Path | None) -> None:
    """Measure the projects of PLAN (TOML) and merge what comes out into one database.

    The same command goes on where an earlier one ended: what is measured is not measured again. Exits with 0 when
    every job was measured, with 1 when some were not, with 2 when the campaign could not begin.
    """
    # The engine of campaigns loads Dask, which takes a second.
    from energy_measure.campaign.engine import SchedulerLost, run_campaign
    from energy_measure.campaign.plan import read_plan

    signal.signal(signal.SIGTERM, _interrupt)
    wanted = read_plan(plan)
    again = "run the same command again to continue"
    try:
        with _progress() as tell:
            outcomes = run_campaign(
                wanted, scheduler=scheduler, workers=workers, tell=tell, announce=_announce
            )
    except SchedulerLost as lost:
        echo(f"The scheduler at {scheduler} is gone; {lost}: {again}.", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        echo(f"Interrupted; what was measured is kept: {again}.", err=True)
        sys.exit(INTERRUPTED)
    if form == "json":
        echo(json_text(_as_json(wanted.name, wanted.database, outcomes), indent=2))
    else:
        _print(wanted.name, wanted.database, outcomes)
    if html is not None:
        _write_report(html, wanted.name, wanted.database, outcomes)
    sys.exit(0 if all(outcome.measured for outcome in outcomes) else 1)


def _as_json(name: str, database: Path, outcomes: list[JobOutcome]) -> dict[str, Any]:
    return {
        "campaign": name,
        "database": str(database),
        "measured": sum(outcome.measured for outcome in outcomes),
        "jobs": [
            {
                "key": outcome.job.key,
                "project": outcome.job.project,
                "entry": outcome.job.entry,
                "repeat": outcome.job.repeat,
                "backend": outcome.job.backend,
                "host": outcome.host,
                "measured": outcome.measured,
                "failure": outcome.failure,
                "problems": list(outcome.problems),
                "runs": list(outcome.runs),
            }
            for outcome in outcomes
        ],
    }


def _print(name: str, database: Path, outcomes: list[JobOutcome]) -> None:
    from energy_lsp.presentation.notation.units import duration, joules
    from energy_lsp.report.campaign import failures, project_rows
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    plain, screen = Plain(), Screen()
    table = Table(
        [
            Column("project", "name"),
            Column("runs", "number", drop=1),
            Column("net energy of a run", "number"),
            Column("time", "number", drop=2),
            Column("costliest call", "name", drop=3),
        ]
    )
    for row in project_rows(database, outcomes):
        energy = ("≈ " if row.estimated else "") + joules(row.joules) if row.joules is not None else ""
        time = duration(row.seconds) if row.seconds is not None else ""
        texts = (row.project, f"{row.measured} of {row.jobs}", energy, time, row.costliest)
        table.add(*(plain.text(text) for text in texts))
    table.print(screen)
    failed = failures(outcomes)
    if failed:
        why = Table([Column("not measured", "name"), Column("why", "prose")])
        for what, reason in failed:
            why.add(plain.text(what), plain.text(reason))
        why.print(screen)
    done = sum(outcome.measured for outcome in outcomes)
    screen.say(f"{plain.text(name)}: {done} of {len(outcomes)} jobs measured, in {plain.text(str(database))}")


def _write_report(html: Path, name: str, database: Path, outcomes: list[JobOutcome]) -> None:
    from energy_lsp.report.campaign import write_report

    write_report(html, name, database, outcomes)
    echo(f"Report: {html}")


def _announce(line: str) -> None:
    echo(Plain().text(line), err=True)


@contextmanager
def _progress() -> Iterator[Tell]:
    """A bar on a terminal, a line a job elsewhere."""
    plain = Plain()
    if not sys.stderr.isatty():

        def line(progress: CampaignProgress) -> None:
            echo(f"[{progress.done}/{progress.jobs}] {plain.text(progress.message)}", err=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    with Bar(BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task("jobs", total=None)

        def advance(progress: CampaignProgress) -> None:
            bar.update(task, completed=progress.done, total=progress.jobs)
            bar.console.print(Text(plain.text(progress.message)))

        yield advance


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@campaign.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PLAN",
    help="Where the plan goes. Default: standard output.",
)
def find(folder: Path, output: Path | None) -> None:
    """Write a plan for a FOLDER of repositories: those that use TensorFlow 2 or Keras and say what they require.

    The others stand at the end of the plan, each with why it was left out.
    """
    from energy_measure.campaign.find import find_projects, plan_text

    found, left_out = find_projects(folder)
    text = plan_text(folder, found, left_out, relative_to=absolute(output or Path("plan.toml")).parent)
    if output is None:
        echo(text, nl=False)
    else:
        _write(output, text)
    say(f"{counted(len(found), 'project')} found, {len(left_out)} left out.", err=True)
    sys.exit(0 if found else 1)


def _write(path: Path, text: str) -> None:
    try:
        write_file(path, text)
    except OSError as error:
        raise Problem(f"{path} cannot be written ({error.strerror}): name another file.") from error
