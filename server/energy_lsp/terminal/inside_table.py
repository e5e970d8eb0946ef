"""The inside of calls in a terminal: layers with bars, lines and passes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from energy_data.model import Inside, Measurement, Run
from energy_lsp.inside.groups import By, Group
from energy_lsp.presentation.markup import Plain
from energy_lsp.presentation.units import bar, interval, joules
from energy_lsp.terminal import console as terminal

SHOWN = 30
PASSES = ("forward", "backward")
"""Those that a layer has both of."""


def print_inside(
    run: Run, looked: Inside | None, groups: Sequence[Group], calls: Sequence[Measurement], by: By
) -> None:
    """A table of groups, the costliest first, and how they are known."""
    console = terminal.console()
    places = ", ".join(f"{call.api.rpartition('.')[2]} ({call.file}:{call.line})" for call in calls[:4])
    more = f" and {len(calls) - 4} more" if len(calls) > 4 else ""
    console.print(f"\n{_shown(run.command)}, inside of {_shown(places)}{more}", soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(by, overflow="fold")
    table.add_column("line", overflow="fold")
    for name in ("joules", "95% interval", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    used = [name for name in PASSES if any(group.passes.get(name) for group in groups)]
    shown_passes = used if by != "pass" else []
    for name in shown_passes:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("runs", justify="right")
    for group in groups[:SHOWN]:
        passes = [joules(group.passes[name]) if group.passes.get(name) else "" for name in shown_passes]
        place = f"{group.file}:{group.line}" if group.line and by in ("layer", "operation") else ""
        table.add_row(
            _shown(group.name),
            _shown(place),
            joules(group.joules),
            interval(group.low, group.high),
            f"{group.share:.1%}",
            bar(group.share),
            *passes,
            str(group.count) if group.count else "",
        )
    console.print(table)
    if len(groups) > SHOWN:
        rest = sum(group.joules for group in groups[SHOWN:])
        console.print(f"… and {len(groups) - SHOWN} more with {joules(rest)} together.")
    total = sum(group.joules for group in groups)
    how = "estimated" if run.estimated else "measured"
    console.print(f"{joules(total)} altogether, {how}; apportioned among operations, not metered by layer.")
    if looked is not None:
        console.print(_shown(looked.note), soft_wrap=True)


def _shown(text: str) -> str:
    """Text of others without what a terminal would act on."""
    return Plain().text(text)
