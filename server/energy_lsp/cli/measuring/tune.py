"""`energy-lsp tune`: which changes save energy in this program, proven on copies of it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType

import click

from energy_data.untrusted.printable import json_text, visible
from energy_data.untrusted.reading import read_source
from energy_data.untrusted.writing import inside, write_file
from energy_lsp.cli.options import Finite, variables_option
from energy_lsp.cli.source_path import SourcePath
from energy_lsp.terminal.echo import echo, say, warn

INTERRUPTED = 130


@click.command()
@click.argument("script", type=SourcePath(exists=True, path_type=Path))
@click.argument("arguments", nargs=-1, metavar="[-- ARGS]")
@click.option("--budget", type=Finite(min=0.5), default=15.0, show_default=True, help="Minutes it may take.")
@click.option(
    "--apply", "apply_", is_flag=True, help="Write the proven changes that leave results equal to your files."
)
@click.option(
    "--patch", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write them as a patch."
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a report with a plot of results against energy.",
)
@click.option("--only", metavar="NAME", default="", help="Try this candidate alone.")
@click.option("--skip", metavar="NAME", multiple=True, help="Leave this candidate out; may be given again.")
@click.option(
    "--line", type=click.IntRange(min=1), metavar="N", help="With --only: at this line of SCRIPT alone."
)
@click.option("--python", metavar="PYTHON", default="", help="Interpreter that runs the program.")
@variables_option
@click.option("--meter", default="auto", show_default=True, help="Meter to use; see energy-lsp doctor.")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder that is copied for each trial. Default: the nearest repository or pyproject.toml.",
)
@click.option(
    "--relative",
    type=Finite(min=0),
    default=0.01,
    show_default=True,
    help="Numbers this close are equal.",
)
@click.option(
    "--absolute",
    type=Finite(min=0),
    default=0.001,
    show_default=True,
    help="Or this close, in their own unit.",
)
@click.option(
    "--no-wait", is_flag=True, help="Leave with status 2 when somebody measures on this host already."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
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
    help="Energy database that keeps what was proven; default: this machine's own.",
)
@click.option(
    "--with-parent",
    is_flag=True,
    help="End when standard input closes: for programs that start tuning and may be killed.",
)
def tune(
    script: Path,
    arguments: tuple[str, ...],
    budget: float,
    apply_: bool,
    patch: Path | None,
    html: Path | None,
    only: str,
    skip: tuple[str, ...],
    line: int | None,
    python: str,
    variables: tuple[tuple[str, str], ...],
    meter: str,
    project: Path | None,
    relative: float,
    absolute: float,
    no_wait: bool,
    form: str,
    progress: str,
    database: Path | None,
    with_parent: bool,
) -> None:
    """Try what may save energy in SCRIPT, each on a copy of the project, and prove what does.

    The fixes of rules, compiling, threads, batches and precision are explored in short; what looks good is confirmed in
    interleaved runs with a control. Results are compared: equal, within the noise of seeds, a trade-off, or different.
    Arguments after -- go to the program. Ctrl-C gives what is known by then, and status 130. Exits with 2 when the
    program could not be tuned; the sentence says why.
    """
    from energy_data.paths import user_database
    from energy_lsp.terminal.progress import progress_display
    from energy_measure.host.parent import end_with_standard_input
    from energy_measure.meters.cpu_time import set_active_watts
    from energy_measure.request import project_root, read_options
    from energy_measure.session import Progress
    from energy_measure.tuning.likeness import Tolerance
    from energy_measure.tuning.session import TuneRequest
    from energy_measure.tuning.session import tune as run

    for number in (signal.SIGTERM, signal.SIGINT):  # a shell's background jobs begin with the latter ignored
        signal.signal(number, _interrupt)
    if with_parent:
        end_with_standard_input()
    os.environ.update(variables)  # only now, as in `measure`
    root = (project or project_root(script)).resolve()
    options = read_options(root, note=warn, python=python)
    set_active_watts(options.active_watts)
    request = TuneRequest(
        script,
        root,
        arguments,
        budget,
        options.python,
        meter,
        Tolerance(relative, absolute),
        only,
        line or 0,
        not no_wait,
        database or user_database(),
        skip,
        tuple(path for path in (patch, html) if path is not None),
    )
    try:
        with progress_display(progress, shared=False) as (tell, announce):
            result = run(request, lambda *progress: tell(Progress(*progress)), on_wait=announce)
    except KeyboardInterrupt:
        echo("Interrupted before the program had run twice: nothing is known, nothing was changed.", err=True)
        sys.exit(INTERRUPTED)
    if not result.untouched:
        named = ", ".join(visible(name) for name in result.changed[:3])
        more = f" and {len(result.changed) - 3} more" if len(result.changed) > 3 else ""
        say(
            f"Changed in {visible(root)} meanwhile: {named}{more}. Unless you did that, the program writes to absolute "
            "paths; let it write to relative ones, which are tried on copies. Nothing was applied.",
            err=True,
        )
        apply_ = False
    if patch is not None:
        write_file(patch, result.patch.encode("utf-8", "surrogateescape"))
    if html is not None:
        from energy_lsp.report.tuning import write_tune_report

        write_tune_report(html, script.name, result)
        echo(f"Report: {visible(html)}", err=True)
    if apply_:
        _apply(root, result.applied)
    if form == "json":
        echo(json_text(result.as_json(), indent=2))
    else:
        from energy_lsp.terminal.tune_table import print_tuned

        print_tuned(result, apply_)
    sys.exit(INTERRUPTED if result.tuned.interrupted else 0)


def _apply(root: Path, files: object) -> None:
    assert isinstance(files, dict)
    for name, (before, after) in files.items():
        target = inside(root / name, [root])
        if target is None:
            echo(f"{visible(name)} leads out of the project and stays as it is.", err=True)
        elif read_source(target) == before:
            write_file(target, after, exact=True)
        else:
            echo(f"{visible(name)} was edited meanwhile and stays as it is.", err=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """A request to end is answered like Ctrl-C: with what is known, and everything that was started ended."""
    raise KeyboardInterrupt
