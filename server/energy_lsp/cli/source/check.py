"""`energy-lsp check`: the editor's hints in a terminal and in CI."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from energy_data.paths import absolute
from energy_data.untrusted.printable import one_line, visible
from energy_lsp.cli.group import nearest
from energy_lsp.cli.options import given, setting_options
from energy_lsp.presentation.notation.units import joules
from energy_lsp.terminal.echo import echo, say

if TYPE_CHECKING:
    from energy_lsp.checking.items import FileResult
    from energy_lsp.checking.run import CheckScope

MANY = 200
"""From so many files on, progress is shown."""


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How to print what was found.",
)
@click.option("--fix", is_flag=True, help="Apply the fixes that are safe.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever was found.")
@click.option(
    "--predicted",
    is_flag=True,
    help="Count predictions into the budget too, for calls that were never measured.",
)
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option(
    "--db", "database", metavar="PATH", help="Energy database to read; default: this machine's own."
)
@setting_options(
    "select",
    "ignore",
    "exclude",
    "budget",
    "hotspots",
    "hotspot_joules",
    "hotspot_severity",
    "rule_severity",
    "smallest_share",
    "estimates",
)
def check(
    paths: tuple[Path, ...],
    form: str,
    fix: bool,
    exit_zero: bool,
    predicted: bool,
    statistics: bool,
    **options: Any,
) -> None:
    """Print the energy hints of Python files and notebooks in PATHS.

    Exits with 1 when a substitution rule applies or the known energy is over the budget, with 2 when
    something could not be checked.
    """
    from energy_lsp.checking import run
    from energy_lsp.workspace.python_files import find_files

    chosen = given(options)
    if "database" in chosen:
        chosen["database"] = str(absolute(Path(str(chosen["database"])).expanduser()))
    _check_rule_names(chosen)
    for problem in run.problems_of(paths, chosen):
        say(f"Warning: {one_line(problem)}", err=True)
    files = run.kept(find_files(paths), paths, chosen)
    results = _check_all(files, chosen, run.CheckScope(tuple(absolute(path) for path in paths), fix))
    _print(results, form, statistics)
    code = _verdict(results, run.budget_of(paths, chosen), _predicted(paths, chosen) if predicted else None)
    sys.exit(0 if exit_zero else code)


def _check_rule_names(chosen: dict[str, object]) -> None:
    from energy_code import rules

    for option in ("select", "ignore"):
        names = chosen.get(option, ())
        assert isinstance(names, tuple)
        for name in names:
            if name not in rules.ALL:
                near = nearest(name, rules.ALL, "energy-lsp rules list")
                raise click.BadParameter(f"there is no rule {name!r}. {near}", param_hint=f"--{option}")


def _check_all(files: Sequence[Path], options: dict[str, object], scope: CheckScope) -> list[FileResult]:
    from energy_lsp.checking.run import check_files

    if len(files) < MANY or not sys.stderr.isatty():
        return check_files(files, options, scope, lambda what, done, total: None)
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TimeRemainingColumn

    columns = (SpinnerColumn(), "{task.description}", MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                for earlier in tasks.values():
                    progress.update(earlier, visible=False)
                tasks[what] = progress.add_task(what)
            progress.update(tasks[what], completed=done, total=total)

        return check_files(files, options, scope, show)


def _print(results: list[FileResult], form: str, statistics: bool) -> None:
    from energy_lsp.checking import formats

    if form == "json":
        echo(formats.as_json(results))
    elif form == "github":
        if lines := formats.as_github(results):
            echo(lines, commands=True)
    elif form == "sarif":
        from energy_lsp.checking.sarif import as_sarif

        echo(as_sarif(results, Path.cwd()))
    else:
        from energy_lsp.checking import text
        from energy_lsp.terminal.console import Screen

        screen = Screen()
        text.print_items(screen, results)
        text.print_summary(screen, results, statistics)


def _predicted(paths: Sequence[Path], chosen: dict[str, object]) -> float:
    """Joules that are predicted of calls that were never measured; says so when there is no calibration."""
    from energy_lsp.predicting.program import predicted_joules

    database = chosen.get("database")
    amount, note = predicted_joules(paths, Path(str(database)) if database else None)
    if note:
        say(note, err=True)
    return amount


def _verdict(results: list[FileResult], budget: float, predicted: float | None = None) -> int:
    from energy_lsp.checking.text import account_of

    sums = account_of(results).machines
    known = max((one.joules for one in sums), default=0.0)
    words = "measured"
    if predicted is not None:
        words = f"({joules(known)} measured, {joules(predicted)} predicted of calls that were never measured)"
        known += predicted
        if not 0 < budget < known:
            say(f"{joules(known)} {words}.", err=True)
    for result in results:
        if result.problem:
            say(f"{visible(result.file)} {one_line(result.problem)}", err=True)
    if 0 < budget < known:
        say(f"Over the budget: {joules(known)} {words}, {joules(budget)} allowed.", err=True)
    if any(result.problem for result in results):
        return 2
    found = any(item.is_finding for result in results for item in result.items)
    return 1 if found or 0 < budget < known else 0
