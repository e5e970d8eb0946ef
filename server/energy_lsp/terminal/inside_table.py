"""The inside of calls in a terminal: layers with bars, lines and passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from energy_data.model import Inside, Measurement, Run
from energy_data.untrusted.printable import one_line, visible
from energy_lsp.inside.groups import By, LayerGroup
from energy_lsp.presentation.notation.units import (
    bar,
    column_unit,
    fine_percent,
    in_unit,
    interval,
    joules,
    whole,
)
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.table import Column, Table

SHOWN = 30
FUSIONS = 6
"""Of so many it is said which layers they are."""
PASSES = ("forward", "backward")
"""Those that a layer has both of."""


def print_inside(
    run: Run,
    looked: Inside | None,
    groups: Sequence[LayerGroup],
    calls: Sequence[Measurement],
    by: By,
    fused: Mapping[str, Sequence[str]],
) -> None:
    """A table of groups, the costliest first, and how they are known."""
    screen = Screen()
    places = ", ".join(f"{call.api.rpartition('.')[2]} ({call.file}:{call.line})" for call in calls[:4])
    more = f" and {len(calls) - 4} more" if len(calls) > 4 else ""
    screen.line()
    screen.say(f"{visible(run.command)}, inside of {visible(places)}{more}")
    shown = groups[:SHOWN]
    unit = column_unit(group.joules for group in shown)
    used = [name for name in PASSES if any(group.passes.get(name) for group in groups)]
    shown_passes = used if by != "pass" else []
    table = Table(
        [
            Column(by, "name"),
            Column("line", "name", drop=1),
            Column(f"energy, {unit}", "number"),
            Column("95% interval", "number", drop=4),
            Column("share", "number"),
            Column("", drop=5),
            *(Column(name, "number", drop=3) for name in shown_passes),
            Column("runs", "number", drop=2),
        ]
    )
    for group in shown:
        passes = [
            in_unit(group.passes[name], unit) if group.passes.get(name) else "" for name in shown_passes
        ]
        place = f"{group.file}:{group.line}" if group.line and by in ("layer", "operation") else ""
        table.add(
            one_line(group.name),
            visible(place),
            in_unit(group.joules, unit),
            interval(group.low, group.high),
            fine_percent(group.share),
            bar(group.share),
            *passes,
            str(group.count) if group.count else "",
        )
    table.print(screen)
    if len(groups) > SHOWN:
        rest = sum(group.joules for group in groups[SHOWN:])
        screen.say(f"… and {len(groups) - SHOWN} more with {joules(rest)} together.")
    total = sum(group.joules for group in groups)
    how = "estimated" if run.estimated else "measured"
    screen.say(f"{whole(total)} altogether, {how}; apportioned among operations, not metered by layer.")
    if fused:
        named = [f"{path} runs {', '.join(map(_last, taken))}" for path, taken in fused.items()]
        others = f"; and {len(named) - FUSIONS} more" if len(named) > FUSIONS else ""
        screen.say(
            f"TensorFlow fused layers, which are counted where they run: {one_line('; '.join(named[:FUSIONS]))}{others}."
        )
    if looked is not None:
        screen.say(one_line(looked.note))


def _last(path: str) -> str:
    return path.rpartition("/")[2]
