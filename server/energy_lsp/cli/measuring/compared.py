"""What came out of comparing two programs, as `compare` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from energy_data.untrusted.printable import visible

if TYPE_CHECKING:
    from energy_lsp.terminal.console import Screen
    from energy_measure.comparison.effects import Effect, Spread
    from energy_measure.comparison.hot_functions import HotFunction
    from energy_measure.comparison.pairs import Side
    from energy_measure.comparison.programs import ComparedPrograms, ProgramPair

HOTTEST = 8
SIDES: tuple[Side, Side] = ("before", "after")


def effect_json(effect: Effect) -> dict[str, Any]:
    """One respect, as all commands print it."""
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


def hot_functions_json(functions: Sequence[HotFunction]) -> list[dict[str, Any]]:
    """The hot functions of one side."""
    return [
        {"function": one.name, "file": one.file, "line": one.line, "calls": one.calls, "share": one.share}
        for one in functions
    ]


def _spread_json(spread: Spread) -> dict[str, Any]:
    return {
        "mean": spread.mean,
        "median": spread.median,
        "interval": {"low": spread.interval.low, "high": spread.interval.high},
    }


def as_json(found: ComparedPrograms, pair: ProgramPair) -> dict[str, Any]:
    """As `--format json` prints it."""
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
        "effects": [effect_json(effect) for effect in found.effects.respects],
        "spearman_energy_time": {
            "before": found.effects.spearman_before,
            "after": found.effects.spearman_after,
        },
        "hot_functions": None
        if found.hot_functions is None
        else {
            "before": hot_functions_json(found.hot_functions[0]),
            "after": hot_functions_json(found.hot_functions[1]),
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
    from energy_lsp.presentation.notation.units import duration, fine_percent, whole
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    result, screen = found.comparison, Screen()
    first, second = map(visible, side_names(pair))
    sides = Table([Column(""), Column(first, "number"), Column(second, "number")])
    # Medians, as everything below: the mean of few runs is that of the one that was disturbed.
    sides.add("energy, median", whole(median(result.before)), whole(median(result.after)))
    sides.add("time, median", duration(result.seconds_before), duration(result.seconds_after))
    sides.print(screen)
    screen.say(
        f"after / before   {result.ratio:.3f}  (median of the pairs, 95% interval {result.low:.3f} to {result.high:.3f})",
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
    if found.effects.respects:
        _print_respects(found, screen)
    for name, functions in zip((first, second), found.hot_functions or (), strict=False):
        screen.say(f"Hot functions of {name}, by share of CPU time in one profiled run that was not metered:")
        hottest = Table(
            [Column("share", "number"), Column("function", "name"), Column("place", "name", drop=1)]
        )
        for one in functions[:HOTTEST]:
            hottest.add(
                fine_percent(one.share),
                visible(one.name),
                f"{visible(one.file)}:{one.line}" if one.file else "",
            )
        hottest.print(screen)
    screen.say(_verdict(found, second))


def side_names(pair: ProgramPair) -> tuple[str, str]:
    """What to call the sides: by their scripts, and where these are alike by what differs."""
    before, after = pair.before.name, pair.after.name
    if before != after:
        return before, after
    own = [
        " ".join(
            f"{name}={value}" for name, value in pair.env(side).items() if pair.env(other).get(name) != value
        )
        for side, other in ((SIDES[0], SIDES[1]), (SIDES[1], SIDES[0]))
    ]
    if own[0] != own[1]:
        return tuple(f"{before} {texts}".strip() for texts in own)  # type: ignore[return-value]
    pythons = [Path(pair.command(side)[0]) for side in SIDES]
    if pythons[0] != pythons[1]:
        return f"{before} by {pythons[0]}", f"{after} by {pythons[1]}"
    return f"{before} (before)", f"{after} (after)"


def _print_respects(found: ComparedPrograms, screen: Screen) -> None:
    """Per device, for time and for phases: what was found, how sure it is and how large."""
    # As above: only for people.
    from energy_lsp.terminal.table import Column, Table

    table = Table(
        [
            Column("median", "name"),
            Column("before", "number"),
            Column("95%", "number", drop=6),
            Column("(mean)", "number", drop=5),
            Column("after", "number"),
            Column("95%", "number", drop=6),
            Column("(mean)", "number", drop=5),
            Column("p (Holm)", "number", drop=1),
            Column("Cliff's δ", "number", drop=2),
            Column("size"),
            Column("A12", "number", drop=3),
            Column("size", drop=4),
        ]
    )
    for effect in found.effects.respects:
        table.add(
            effect.name,
            *_spread_cells(effect.before, effect.unit),
            *_spread_cells(effect.after, effect.unit),
            _probability(effect.p_holm),
            f"{effect.cliffs_delta:+.2f}",
            effect.magnitude,
            f"{effect.a12:.2f}",
            effect.a12_magnitude,
        )
    table.print(screen)
    rho = [
        "cannot be known" if value is None else f"{value:.2f}"
        for value in (found.effects.spearman_before, found.effects.spearman_after)
    ]
    screen.say(
        f"Medians of {found.comparison.pairs} runs; Wilcoxon's test on pairs with Holm's correction over these "
        f"{len(table.rows)} rows. "
        f"Spearman's correlation of energy and time: {rho[0]} before, {rho[1]} after."
    )
    needed = pairs_needed(len(table.rows))
    if found.comparison.pairs < needed:
        screen.say(
            f"With {found.comparison.pairs} pairs no row can come below 0.05 after that correction, "
            f"however large the difference: give --pairs {needed} or more."
        )


def pairs_needed(rows: int) -> int:
    """Fewest pairs with which Wilcoxon's two-sided test, if all go one way, stays below 0.05 after Holm's correction."""
    return next(pairs for pairs in range(6, 64) if rows * 2.0 ** (1 - pairs) < 0.05)


def _spread_cells(spread: Spread, unit: str) -> tuple[str, str, str]:
    interval = f"{spread.interval.low:.3g} to {spread.interval.high:.3g}"
    return f"{spread.median:.3g} {unit}", interval, f"{spread.mean:.3g} {unit}"


def _printed(found: ComparedPrograms, pair: ProgramPair) -> str:
    if pair.outputs == "differ":
        sides = [", ".join(f"{name} {value:g}" for name, value in side.items()) for side in found.metrics]
        if not any(sides):
            return "What they print was not compared."
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
