"""`energy-lsp compare`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from energy_measure.program_comparison import ComparedPrograms

SCRIPT = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("before", type=SCRIPT)
@click.argument("after", type=SCRIPT)
@click.argument("arguments", nargs=-1, metavar="[-- ARGS]")
@click.option("--pairs", type=click.IntRange(min=6), help="How many pairs to run.  [default: 15]")
@click.option("--quick", is_flag=True, help="A first look: 6 pairs.")
@click.option("--python", metavar="PYTHON", default="", help="Interpreter that runs both programs.")
@click.option("--meter", default="auto", show_default=True, help="Meter to use; see energy-lsp doctor.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds one run may take.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    help="By what part of their size printed numbers may differ, such as 1e-6.  [default: 0]",
)
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
    pairs: int | None,
    quick: bool,
    python: str,
    meter: str,
    timeout: float | None,
    tolerance: float,
    form: str,
) -> None:
    """Measure whether AFTER needs less energy than BEFORE, two programs that print the same.

    Both run in interleaved pairs, with BEFORE against itself as a control in the same rounds. Arguments after
    -- go to both programs. Programs that print different things are refused with exit status 1; times that they
    print, and what progress bars showed on the way, are not compared.
    """
    from energy_measure.comparison import PAIRS, QUICK_PAIRS, NotResolvedError
    from energy_measure.program_comparison import DifferentOutputs, ProgramPair, compare_programs, interpreter

    try:
        pair = ProgramPair(before, after, interpreter(python, before), arguments, timeout, tolerance)
        found = compare_programs(
            pair, pairs=pairs or (QUICK_PAIRS if quick else PAIRS), meter=meter, progress=_progress
        )
    except DifferentOutputs as problem:
        click.echo(f"{problem}\n\n{problem.excerpt}", err=True)
        raise SystemExit(1) from None
    except NotResolvedError as problem:
        click.echo(f"No comparison: {problem}.", err=True)
        raise SystemExit(1) from None
    click.echo(
        json.dumps(_as_json(found, pair.before, pair.after), indent=2)
        if form == "json"
        else _as_text(found, before, after)
    )


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        click.echo(f"\r{done} of {of} pairs", err=True, nl=False)
        click.echo(end, err=True, nl=False)


def _as_json(found: ComparedPrograms, before: Path, after: Path) -> dict[str, Any]:
    result = found.comparison
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
        "same_output": True,
        "times_not_compared": found.printed.times,
        "greatest_difference": found.printed.difference,
        "meter": found.meter,
        "estimated": found.estimated,
        "machine": found.machine,
    }


def _as_text(found: ComparedPrograms, before: Path, after: Path) -> str:
    result = found.comparison
    width = max(12, len(before.name), len(after.name))
    rows = [
        ("", before.name, after.name),
        ("energy", f"{result.joules_before:.3g} J", f"{result.joules_after:.3g} J"),
        ("time", f"{result.seconds_before:.3g} s", f"{result.seconds_after:.3g} s"),
    ]
    table = [f"{label:10}{first:>{width}}  {second:>{width}}" for label, first, second in rows]
    kind = ", estimated from CPU time" if found.estimated else ""
    return "\n".join(
        [
            *table,
            "",
            f"after / before   {result.ratio:.3f}  (95% interval {result.low:.3f} to {result.high:.3f})",
            f"before / before  {result.control_ratio:.3f}  (control in the same run)",
            f"{result.pairs} pairs, p {_probability(result.p_value)} (Wilcoxon), A12 {result.a12:.2f}",
            f"Net joules per run; meter {found.meter}{kind}; {found.machine}. {_printed(found)}",
            "",
            _verdict(found, after.name),
        ]
    )


def _printed(found: ComparedPrograms) -> str:
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
