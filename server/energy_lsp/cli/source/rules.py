"""`energy-lsp rules`: what the rules are, why, and what they save on this machine."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from energy_code.rule_engine.evidence.pages import rule_page
from energy_code.rule_engine.evidence.verdict import Verdict, saving_text, verdict
from energy_code.rule_engine.evidence.workload import SIZES, Size
from energy_code.rule_engine.rule import Rule
from energy_code.rules import ALL
from energy_data.database.store import EnergyStore
from energy_data.problems import Problem
from energy_data.untrusted.printable import json_text
from energy_data.untrusted.writing import write_file
from energy_lsp.cli.group import Suggesting, nearest
from energy_lsp.presentation.notation.units import counted
from energy_lsp.terminal.countdown import Countdown
from energy_lsp.terminal.echo import echo, say

if TYPE_CHECKING:
    from energy_data.model import RuleEvidence
    from energy_measure.comparison.rule_cases import Planned, Refused

_db = click.option(
    "--db",
    type=click.Path(path_type=Path),
    help="Database file; default: ENERGY_LSP_DB, or energy.db in the user's data folder.",
)


def offered(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The rules that a shell may complete a name to."""
    return [name for name in ALL if name.startswith(incomplete)]


@click.group(cls=Suggesting)
def rules() -> None:
    """List the substitution rules, explain them, measure what they save here."""


@rules.command("list")
@_db
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A table, or a JSON list.",
)
def list_rules(db: Path | None, output: str) -> None:
    """All rules with what is known of their saving."""
    store = _store(db)
    if output == "json":
        echo(json_text([_row(rule, store) for rule in ALL.values()], indent=2))
        return
    from energy_lsp.terminal.rules_table import print_rules  # JSON needs no screen

    print_rules((rule, _verdict(rule, store)) for rule in ALL.values())


@rules.command()
@click.argument("rule", shell_complete=offered)
@_db
def show(rule: str, db: Path | None) -> None:
    """The page of one rule: why it saves, when both sides are equal, what was measured."""
    found = _rule(rule)
    from energy_lsp.terminal.rules_table import print_page  # other commands need no screen

    print_page(rule_page(found, _store(db).evidence(found.name)))


@rules.command()
@click.argument("names", metavar="[RULE]...", nargs=-1, shell_complete=offered)
@click.option("--quick", is_flag=True, help="Medium inputs alone.")
@click.option(
    "--size", "sizes", type=click.Choice(SIZES), multiple=True, help="Inputs of this size. May be repeated."
)
@click.option("--pairs", type=click.IntRange(min=15), default=15, show_default=True, help="Pairs per case.")
@click.option("--meter", default="auto", show_default=True, help="A meter that `energy-lsp doctor` lists.")
@click.option(
    "--export", type=click.Path(path_type=Path, dir_okay=False), help="Also write JSON lines to this file."
)
@_db
def measure(
    names: tuple[str, ...],
    quick: bool,
    sizes: tuple[Size, ...],
    pairs: int,
    meter: str,
    export: Path | None,
    db: Path | None,
) -> None:
    """Compare both sides of rules (all unless some are named) under the meters, and keep the evidence."""
    chosen = [_rule(name) for name in names] or sorted(ALL.values(), key=lambda rule: not rule.saves)
    from energy_measure.comparison import rule_cases as measuring

    if not measuring.tensorflow_is_there():
        raise Problem(
            "TensorFlow is not installed next to energy-lsp: install energy-lsp into the environment "
            "of your project and run this there."
        )
    planned = measuring.plan(chosen, ("medium",) if quick else sizes or SIZES)
    found, refused = _measured(planned, pairs, meter)
    if export is not None:
        _write(export, [f"{line}\n" for line in measuring.as_lines(found)])
    _keep(found, db)
    for row in found:
        say(f"{_title(row.rule, row.size, row.mode)} {saving_text(row)}", indent="    ")
    unmeasured = len(planned) - len(found) - len(refused)
    interrupted = f" Interrupted: {unmeasured} not measured." if unmeasured else ""
    say(f"{counted(len(found), 'comparison')} kept, {len(refused)} refused.{interrupted}")
    for item in refused:
        say(f"  {item.words}", err=True, indent="    ")
    if not found:
        raise SystemExit(1)


def _write(path: Path, lines: list[str]) -> None:
    try:
        write_file(path, lines)
    except OSError as error:
        raise Problem(f"{path} cannot be written ({error.strerror}): name another file.") from error


def _title(rule: str, size: str, mode: str) -> str:
    return f"{rule:22} {size:7} {mode:6}"


def _measured(planned: Sequence[Planned], pairs: int, meter: str) -> tuple[list[RuleEvidence], list[Refused]]:
    from energy_measure.comparison import rule_cases as measuring

    counter = itertools.count(1)
    with Countdown() as countdown:
        countdown.tell(0.0, counted(len(planned), "comparison"))

        def report(case: Planned, result: RuleEvidence | Refused) -> None:
            words = (
                "refused" if isinstance(result, measuring.Refused) else f"{result.ratio:.2f} times the energy"
            )
            done = next(counter)
            what = f"{done} of {len(planned)}: {case.rule.name}, {case.size}, {case.mode}: {words}"
            countdown.tell(done / len(planned), what)

        return measuring.measure(planned, pairs=pairs, meter=meter, report=report)


def _keep(found: list[RuleEvidence], db: Path | None) -> None:
    from energy_data.database.database import Database
    from energy_data.paths import user_database

    with Database.open(db or user_database()) as database:
        database.add_evidence(found)


def _rule(name: str) -> Rule:
    found = ALL.get(name)
    if found is None:
        raise Problem(f"There is no rule {name!r}. {nearest(name, ALL, 'energy-lsp rules list')}")
    return found


def _store(db: Path | None) -> EnergyStore:
    return EnergyStore.open(db, Path.cwd())


def _verdict(rule: Rule, store: EnergyStore) -> Verdict:
    return verdict(store.evidence(rule.name), "eager" if "eager" in rule.modes else "graph")


def _row(rule: Rule, store: EnergyStore) -> dict[str, object]:
    return {
        "name": rule.name,
        "title": rule.title,
        "category": rule.category,
        "safety": rule.safety if rule.saves else "none",
        "modes": sorted(rule.modes),
        "saves": rule.saves,
        "url": rule.url,
        "saving": _verdict(rule, store).text,
    }
