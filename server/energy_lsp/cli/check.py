"""`energy-lsp check`: the editor's hints in a terminal and in CI."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from energy_lsp.cli.options import given, setting_options
from energy_lsp.joules import joules

if TYPE_CHECKING:
    from energy_lsp.checking.items import FileResult

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
    "estimates",
)
def check(
    paths: tuple[Path, ...], form: str, fix: bool, exit_zero: bool, statistics: bool, **options: Any
) -> None:
    """Print the energy hints of Python files and notebooks in PATHS.

    Exits with 1 when a substitution rule applies or the known energy is over the budget, with 2 when
    something could not be checked.
    """
    from energy_lsp.checking import run

    chosen = given(options)
    _check_rule_names(chosen)
    for problem in run.problems_of(paths, chosen):
        click.echo(f"Warning: {problem}", err=True)
    files = run.find_files(paths)
    results = _check_all(files, chosen, fix)
    _print(results, form, statistics)
    code = _verdict(results, run.budget_of(paths, chosen))
    sys.exit(0 if exit_zero else code)


def _check_rule_names(chosen: dict[str, object]) -> None:
    from energy_code import rules

    for option in ("select", "ignore"):
        names = chosen.get(option, ())
        assert isinstance(names, tuple)
        for name in names:
            if name not in rules.ALL:
                raise click.BadParameter(
                    f"there is no rule {name!r}; see `energy-lsp rules`.", param_hint=f"--{option}"
                )


def _check_all(files: Sequence[Path], options: dict[str, object], fix: bool) -> list[FileResult]:
    from energy_lsp.checking.run import check_files

    if len(files) < MANY or not sys.stderr.isatty():
        return check_files(files, options, fix, lambda what, done, total: None)
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

        return check_files(files, options, fix, show)


def _print(results: list[FileResult], form: str, statistics: bool) -> None:
    from energy_lsp.checking import formats

    if form == "json":
        click.echo(formats.as_json(results))
    elif form == "github":
        if lines := formats.as_github(results):
            click.echo(lines)
    elif form == "sarif":
        from energy_lsp.checking.sarif import as_sarif

        click.echo(as_sarif(results, Path.cwd()))
    else:
        from energy_lsp import terminal
        from energy_lsp.checking import text

        console = terminal.console()
        text.print_items(console, results)
        text.print_summary(console, results, statistics)


def _verdict(results: list[FileResult], budget: float) -> int:
    known = sum(result.joules for result in results)
    for result in results:
        if result.problem:
            click.echo(f"{result.file} {result.problem}", err=True)
    if 0 < budget < known:
        click.echo(f"Over the budget: {joules(known)} known, {joules(budget)} allowed.", err=True)
    if any(result.problem for result in results):
        return 2
    found = any(item.is_finding for result in results for item in result.items)
    return 1 if found or 0 < budget < known else 0
