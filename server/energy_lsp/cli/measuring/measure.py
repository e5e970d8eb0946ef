"""`energy-lsp measure`: run a program under the meters and say what its API calls cost."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from energy_data.untrusted.printable import json_text, one_line
from energy_lsp.cli.options import Finite, variables_option
from energy_lsp.cli.source_path import SourcePath
from energy_lsp.terminal.echo import echo, say, warn

if TYPE_CHECKING:
    from energy_measure.request import MeasureRequest
    from energy_measure.session import MeasuredRun

INTERRUPTED = 130


@click.command()
@click.argument("path", type=SourcePath(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--entry",
    multiple=True,
    metavar="FILE",
    help="Entry point of a project folder; may be repeated. Default: scripts that nothing else imports.",
)
@click.option("--python", metavar="PYTHON", help="Interpreter to run with. Default: the project's own.")
@click.option(
    "--create-env",
    is_flag=True,
    help="Make a virtual environment from requirements.txt or pyproject.toml, and keep it.",
)
@click.option("--repeat", type=click.IntRange(min=1), help="Runs of the whole program. [default: 5]")
@click.option("--meter", metavar="auto|NAME", help="Meter to read; see `energy-lsp doctor`. [default: auto]")
@click.option(
    "--keep-arguments",
    is_flag=True,
    help="Store the values of the program's arguments too. Default: the names of its options alone.",
)
@variables_option
@click.option("--quick", is_flag=True, default=None, help="One run, short rests and replays: a first look.")
@click.option("--timeout", type=Finite(min=0), metavar="S", help="Longest that one run may take.")
@click.option("--period", "period_ms", type=Finite(1, 500), metavar="MS", help="Time between two samples.")
@click.option(
    "--active-watts",
    type=Finite(0, 1000, min_open=True, max_open=True),
    metavar="W",
    help="What one busy CPU draws above idle, where no sensor can be read; see `energy-lsp doctor`.",
)
@click.option(
    "--inside",
    type=click.Choice(["auto", "all", "off"]),
    help="Look inside of calls, for layers: windows of steps, every step, or not. [default: auto]",
)
@click.option(
    "--events",
    is_flag=True,
    default=None,
    help="Keep the start and end of every call, not of the longest 2,000 alone.",
)
@click.option(
    "--program-output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Where what the program prints goes. Default: standard error.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the result.",
)
@click.option(
    "--progress",
    type=click.Choice(["auto", "json", "none"]),
    default="auto",
    show_default=True,
    help="How to show progress on standard error; json: an object a line, for editors.",
)
@click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Energy database to write to; default: this machine's own.",
)
@click.option(
    "--no-wait",
    is_flag=True,
    help="Do not wait when somebody measures on this host already: say so and leave with status 2.",
)
@click.option(
    "--with-parent",
    is_flag=True,
    help="End when standard input closes: for programs that start a measurement and may be killed.",
)
@click.option(
    "--list",
    "listing",
    is_flag=True,
    help="List what would run, how long it took last time, and the interpreters that could run it. Runs nothing.",
)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder that file names are kept relative to. Default: the nearest repository or pyproject.toml.",
)
def measure(
    path: Path,
    form: str,
    progress: str,
    project: Path | None,
    create_env: bool,
    keep_arguments: bool,
    variables: tuple[tuple[str, str], ...],
    program_output: Path | None,
    database: Path | None,
    no_wait: bool,
    with_parent: bool,
    listing: bool,
    **given: Any,
) -> None:
    """Measure what the TensorFlow and Keras calls of PATH cost: a script, a notebook or a project folder.

    ARGUMENTS behind `--` go to the program. Exits with 1 when the program failed, with 2 when it could not
    be measured.
    """
    from energy_lsp.terminal.progress import progress_display
    from energy_measure.host.parent import end_with_standard_input
    from energy_measure.request import MeasureRequest, project_root, read_options
    from energy_measure.session import Interrupted
    from energy_measure.session import measure as run

    for number in (signal.SIGTERM, signal.SIGINT):  # a shell's background jobs begin with the latter ignored
        signal.signal(number, _interrupt)
    if with_parent:
        end_with_standard_input()
    root = project or project_root(path)
    os.environ.update(variables)  # only now: what this command itself imports is not the program's to choose
    try:
        options = read_options(root, note=warn, **given)
        request = MeasureRequest(path, root, options, create_env, program_output, database, keep_arguments)
        if listing:
            _list(request, form)
            return
        with progress_display(progress, shared=program_output is None) as (tell, announce):
            measured = run(request, tell, announce=announce, wait=not no_wait)
    except Interrupted as stop:
        lost = "the run under way is lost" if stop.finished else "the run was not finished"
        if not stop.finished and stop.measured.known:
            _print(stop.measured, form)
        say(f"Interrupted: {lost}, {stop}; nothing of the program is left running.", err=True)
        sys.exit(INTERRUPTED)
    except KeyboardInterrupt:
        say("Interrupted before the first run; nothing was kept.", err=True)
        sys.exit(INTERRUPTED)
    _print(measured, form)
    _teach(measured, path, root)
    sys.exit(1 if measured.failures else 0)


def _list(request: MeasureRequest, form: str) -> None:
    """What there is to choose from."""
    from energy_lsp.terminal.countdown import time_left
    from energy_measure.session.choices import choices

    found = choices(request)
    if form == "json":
        echo(json_text(found, indent=2))
        return
    echo("Programs:" if found["programs"] else "No program was found here.")
    for program in found["programs"]:
        before = time_left(program["seconds"]).removesuffix(" left")
        echo(f"  {one_line(program['file'])}" + (f"  {before} a run" if before else ""))
    echo("Interpreters:")
    for one in found["interpreters"]:
        has = [name for name in ("tensorflow", "keras") if one[name]]
        mark = "*" if one["path"] == found["python"] else " "
        echo(
            f"{mark} {one_line(one['path'])}  Python {one['version']}, {' and '.join(has) or 'no TensorFlow'}"
        )
    if found["problem"]:
        echo(one_line(found["problem"]), err=True)


def _print(measured: MeasuredRun, form: str) -> None:
    if form == "json":
        echo(json_text(measured.as_json(), indent=2))
    else:
        from energy_lsp.terminal.measure_table import print_table

        print_table(measured)
    for sentence in (*measured.problems, *measured.failures):
        say(one_line(sentence), err=True)


def _teach(measured: MeasuredRun, path: Path, root: Path) -> None:
    """Let the calibration of this machine, where there is one, learn from what was measured."""
    from energy_data.database.database import Database
    from energy_data.problems import Problem
    from energy_lsp.predicting.correction import correct

    stored = {each.run_id for each in measured.programs if each.program is not None}
    try:
        with Database.read(measured.database) as database:
            runs = [run for run in database.runs() if run.id in stored]
        if runs:
            environment = runs[-1].environment
            correct(measured.database, path, root, (environment.tensorflow, environment.keras))
    except (Problem, OSError, ValueError):
        pass  # what was measured is kept and shown; predictions stay as they were


def _interrupt(number: int, frame: FrameType | None) -> None:
    """A request to end is answered like Ctrl-C: with everything that was started ended first."""
    raise KeyboardInterrupt
