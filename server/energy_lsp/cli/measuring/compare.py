"""`energy-lsp compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from energy_data.untrusted.printable import json_text
from energy_lsp.cli.measuring.compared import as_json, print_compared
from energy_lsp.cli.options import Finite
from energy_lsp.cli.source_path import SourcePath
from energy_lsp.terminal.countdown import Countdown
from energy_lsp.terminal.echo import echo, say, warn

if TYPE_CHECKING:
    from energy_measure.comparison.programs import Outputs

TOLERANCE = 1e-3
"""Of `--outputs tolerance` where none is given: two frameworks add up in different orders."""
SCRIPT = SourcePath(dir_okay=False, path_type=Path)


@click.command()
@click.argument("before", type=SCRIPT, required=False)
@click.argument("after", type=SCRIPT, required=False)
@click.argument("arguments", nargs=-1, metavar="[-- ARGS]")
@click.option(
    "--matrix",
    type=SCRIPT,
    metavar="STUDY.toml",
    help="Compare models × frameworks × phases as a study says, to one page and one table.",
)
@click.option("--html", type=SCRIPT, metavar="FILE", help="With --matrix: the page.  [default: STUDY.html]")
@click.option(
    "--csv", "table", type=SCRIPT, metavar="FILE", help="With --matrix: the table.  [default: STUDY.csv]"
)
@click.option(
    "--profile", is_flag=True, help="Also tell each side's hot functions, from a run under cProfile."
)
@click.option(
    "--inside",
    is_flag=True,
    help="Compare layer by layer: two programs, which are measured, or two measured runs.",
)
@click.option(
    "--db",
    "database",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="With --inside: the energy database; default: this machine's own.",
)
@click.option("--pairs", type=click.IntRange(min=6), help="How many pairs to run.  [default: 15]")
@click.option("--quick", is_flag=True, help="A first look: 6 pairs.")
@click.option("--python", metavar="PYTHON", default="", help="Interpreter that runs both programs.")
@click.option("--before-python", metavar="PYTHON", default="", help="Interpreter of BEFORE alone.")
@click.option("--after-python", metavar="PYTHON", default="", help="Interpreter of AFTER alone.")
@click.option(
    "--before-env",
    multiple=True,
    metavar="NAME=VALUE",
    help="Environment variable of BEFORE; may be repeated.",
)
@click.option(
    "--after-env", multiple=True, metavar="NAME=VALUE", help="Environment variable of AFTER; may be repeated."
)
@click.option(
    "--outputs",
    type=click.Choice(["same", "tolerance", "differ"]),
    default="same",
    show_default=True,
    help="What both have to print: the same, numbers within --tolerance (1e-3 unless given), or what they like.",
)
@click.option(
    "--rest",
    type=Finite(0.05, 600),
    metavar="S",
    default=0.3,
    show_default=True,
    help="Idle time between runs.",
)
@click.option("--meter", default="auto", show_default=True, help="Meter to use; see energy-lsp doctor.")
@click.option(
    "--no-wait", is_flag=True, help="Leave with status 2 when somebody measures on this host already."
)
@click.option("--timeout", type=Finite(min=0, min_open=True), help="Seconds one run may take.")
@click.option(
    "--tolerance",
    type=Finite(min=0),
    default=0.0,
    help="By what part of their size, or of 1, printed floating-point numbers may differ: 1e-6.  [default: 0]",
)
@click.option("--integers", is_flag=True, help="Let whole numbers differ by the tolerance too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def compare(
    before: Path | None,
    after: Path | None,
    arguments: tuple[str, ...],
    matrix: Path | None,
    html: Path | None,
    table: Path | None,
    profile: bool,
    inside: bool,
    database: Path | None,
    pairs: int | None,
    quick: bool,
    python: str,
    before_python: str,
    after_python: str,
    before_env: tuple[str, ...],
    after_env: tuple[str, ...],
    outputs: Outputs,
    rest: float,
    meter: str,
    no_wait: bool,
    timeout: float | None,
    tolerance: float,
    integers: bool,
    form: str,
) -> None:
    """Measure whether AFTER needs less energy than BEFORE, two programs that print the same.

    Both run in interleaved pairs, with BEFORE against itself as a control in the same rounds. Arguments after
    -- go to both programs. Programs that print different things are refused with exit status 1; times that they
    print, and what progress bars showed on the way, are not compared.
    """
    from energy_measure.meters.cpu_time import set_active_watts
    from energy_measure.request import project_root, read_options

    root = project_root(matrix or before or Path.cwd())
    set_active_watts(read_options(root, note=warn).active_watts)
    if matrix is not None:
        from energy_lsp.cli.measuring.compare_matrix import compare_matrix

        if before or inside:
            raise click.UsageError("A study names its programs itself: give --matrix STUDY.toml alone.")
        compare_matrix(matrix, html, table, form=form, wait=not no_wait)
        return
    if html or table:
        raise click.UsageError("--html and --csv go with --matrix STUDY.toml.")
    if before is None or after is None:
        raise click.UsageError("Name two programs, BEFORE and AFTER, or a study with --matrix STUDY.toml.")
    if inside:
        from energy_lsp.cli.measuring.compare_inside import compare_inside

        measuring = {"database": database, "meter": meter, "python": python or None, "timeout": timeout}
        compare_inside(str(before), str(after), arguments, quick=quick, form=form, measuring=measuring)
        return
    for script in (before, after):
        if not script.exists():
            raise click.BadParameter(f"File '{script}' does not exist.")
    from energy_measure.comparison.pairs import PAIRS, QUICK_PAIRS, NotResolvedError
    from energy_measure.comparison.programs import (
        DifferentOutputs,
        ProgramPair,
        compare_programs,
        interpreter,
    )

    try:
        pair = ProgramPair(
            before,
            after,
            interpreter(before_python or python, before),
            arguments,
            timeout,
            tolerance or (TOLERANCE if outputs == "tolerance" else 0.0),
            integers,
            outputs,
            interpreter(after_python or python, after),
            variables(before_env),
            variables(after_env),
            rest,
            profile,
        )
        with Countdown() as countdown:
            found = compare_programs(
                pair,
                pairs=pairs or (QUICK_PAIRS if quick else PAIRS),
                meter=meter,
                progress=lambda done, of: countdown.tell(done / of, f"{done} of {of} pairs"),
                wait=not no_wait,
                on_wait=lambda sentence: say(sentence, err=True),
            )
    except DifferentOutputs as problem:
        echo(f"{problem}\n\n{problem.excerpt}", err=True)
        raise SystemExit(1) from None
    except NotResolvedError as problem:
        say(f"No comparison: {problem}.", err=True)
        raise SystemExit(1) from None
    if form == "json":
        echo(json_text(as_json(found, pair), indent=2))
    else:
        print_compared(found, pair)


def variables(texts: tuple[str, ...]) -> dict[str, str]:
    """`NAME=VALUE` texts as a table."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"{text!r} sets no variable: write NAME=VALUE.")
        found[name] = value
    return found
