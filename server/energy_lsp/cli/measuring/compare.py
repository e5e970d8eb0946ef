"""`energy-lsp compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from energy_data.untrusted.printable import json_text, visible
from energy_lsp.terminal.countdown import Countdown
from energy_lsp.terminal.echo import echo, say

if TYPE_CHECKING:
    from energy_measure.comparison.effects import Effect, Spread
    from energy_measure.comparison.programs import ComparedPrograms, Outputs, ProgramPair

TOLERANCE = 1e-3
"""Of `--outputs tolerance` where none is given: two frameworks add up in different orders."""
SCRIPT = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("before", type=SCRIPT)
@click.argument("after", type=SCRIPT)
@click.argument("arguments", nargs=-1, metavar="[-- ARGS]")
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
    type=click.FloatRange(0.05, 600),
    metavar="S",
    default=0.3,
    show_default=True,
    help="Idle time between runs.",
)
@click.option("--meter", default="auto", show_default=True, help="Meter to use; see energy-lsp doctor.")
@click.option(
    "--no-wait", is_flag=True, help="Leave with status 2 when somebody measures on this host already."
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds one run may take.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
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
    before: Path,
    after: Path,
    arguments: tuple[str, ...],
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
        echo(json_text(_as_json(found, pair), indent=2))
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


def _effect_json(effect: Effect) -> dict[str, Any]:
    return {
        "name": effect.name,
        "unit": effect.unit,
        "before": _spread_json(effect.before),
        "after": _spread_json(effect.after),
        "p": effect.p_value,
        "p_holm": effect.p_holm,
        "a12": effect.a12,
        "a12_magnitude": effect.a12_magnitude,
        "cliffs_delta": effect.cliffs_delta,
        "magnitude": effect.magnitude,
    }


def _spread_json(spread: Spread) -> dict[str, Any]:
    return {
        "mean": spread.mean,
        "median": spread.median,
        "interval": {"low": spread.interval.low, "high": spread.interval.high},
    }


def _as_json(found: ComparedPrograms, pair: ProgramPair) -> dict[str, Any]:
    result = found.comparison
    before, after = pair.before, pair.after
    return {
        "before": {"program": str(before), "joules": result.joules_before, "seconds": result.seconds_before},
        "after": {"program": str(after), "joules": result.joules_after, "seconds": result.seconds_after},
        "ratio": result.ratio,
        "interval": {"low": result.low, "high": result.high},
        "p": result.p_value,
        "a12": result.a12,
        "control_ratio": result.control_ratio,
        "differs": result.differs,
        "pairs": result.pairs,
        "runs": {"before": result.before, "after": result.after, "control": result.control},
        "same_output": None if pair.outputs == "differ" else True,
        "outputs": pair.outputs,
        "metrics": {"before": found.metrics[0], "after": found.metrics[1]},
        "effects": [_effect_json(effect) for effect in found.effects.respects],
        "spearman_energy_time": {
            "before": found.effects.spearman_before,
            "after": found.effects.spearman_after,
        },
        "times_not_compared": found.printed.times,
        "greatest_difference": found.printed.difference,
        "meter": found.meter,
        "estimated": found.estimated,
        "machine": found.machine,
    }


def print_compared(found: ComparedPrograms, pair: ProgramPair) -> None:
    """Both sides, how sure and how large the difference is, and what it means."""
    # Only for people: JSON needs no screen.
    from energy_lsp.presentation.units import duration, whole
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    result, screen = found.comparison, Screen()
    first, second = visible(pair.before.name), visible(pair.after.name)
    sides = Table([Column(""), Column(first, "number"), Column(second, "number")])
    sides.add("energy", whole(result.joules_before), whole(result.joules_after))
    sides.add("time", duration(result.seconds_before), duration(result.seconds_after))
    sides.print(screen)
    screen.say(
        f"after / before   {result.ratio:.3f}  (95% interval {result.low:.3f} to {result.high:.3f})",
        indent="    ",
    )
    screen.say(f"before / before  {result.control_ratio:.3f}  (control in the same run)", indent="    ")
    screen.say(
        f"{result.pairs} pairs, p {_probability(result.p_value)} (Wilcoxon), A12 {result.a12:.2f}",
        indent="    ",
    )
    kind = ", estimated from CPU time" if found.estimated else ""
    screen.say(
        f"Net joules per run; meter {visible(found.meter)}{kind}; {visible(found.machine)}. {_printed(found, pair)}"
    )
    respects = Table(
        [
            Column("", "name"),
            Column("before", "number"),
            Column("after", "number"),
            Column("p (Holm)", "number", drop=1),
            Column("Cliff's δ", "number", drop=2),
            Column("size"),
            Column("A12", "number", drop=3),
        ]
    )
    for effect in found.effects.respects:
        respects.add(
            effect.name,
            f"{effect.before.median:.3g} {effect.unit}",
            f"{effect.after.median:.3g} {effect.unit}",
            _probability(effect.p_holm),
            f"{effect.cliffs_delta:+.2f}",
            effect.magnitude,
            f"{effect.a12:.2f}",
        )
    if respects.rows:
        respects.print(screen)
    screen.say(_verdict(found, second))


def _printed(found: ComparedPrograms, pair: ProgramPair) -> str:
    if pair.outputs == "differ":
        sides = [", ".join(f"{name} {value:g}" for name, value in side.items()) for side in found.metrics]
        return f"What they print was not compared: {sides[0] or 'no numbers'} | {sides[1] or 'no numbers'}."
    words = "Both print the same"
    if found.printed.times:
        words += ", times apart"
    if found.printed.difference:
        words += f", numbers within {found.printed.difference:.1g} of their size"
    return f"{words}."


def _probability(p_value: float) -> str:
    return "< 0.0001" if p_value < 0.0001 else f"{p_value:.2g}"


def _verdict(found: ComparedPrograms, after: str) -> str:
    result = found.comparison
    if not result.differs:
        return "No measurable difference here."
    change = (result.ratio - 1.0) * 100
    margin = max(1, round((result.high - result.low) / 2 * 100))
    sign = "−" if change < 0 else "+"
    return f"{after}: {sign}{abs(change):.0f}% ± {margin} energy here."
