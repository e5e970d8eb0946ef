"""The end of tuning in a terminal: what was tried, what it saves, and what to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from energy_lsp.presentation.units import duration, joules
from energy_lsp.terminal.console import console

if TYPE_CHECKING:
    from energy_measure.tuning.session import TuneResult

RESULT_WORDS = {
    "equal": "equal",
    "seeds": "within noise of seeds",
    "trade-off": "a trade-off",
    "different": "other results",
    None: "not compared",
}


def print_tuned(result: TuneResult, applied: bool) -> None:
    """The table, the sum, and where the patch went."""
    told = result.as_json()
    screen = console()
    mark = "≈ " if told["estimated"] else ""
    energy, time = joules(told["before"]["joules"]), duration(told["before"]["seconds"])
    screen.print(Text(f"As it is: {mark}{energy}, {time} a run ({told['meter']})"))
    table = Table("candidate", "place", "saves a run", "share", "time", "results", "verdict", box=None)
    for one in sorted(told["candidates"], key=lambda one: -(one["saved_joules"] or 0.0)):
        table.add_row(*(Text(cell) for cell in _row(one, mark)))
    screen.print(table)
    for one in told["candidates"]:
        if one["note"]:
            screen.print(Text(f"  {one['name']}: {one['note']}"))
    screen.print(Text(_sum(told, applied)))


def _row(one: dict[str, Any], mark: str) -> tuple[str, ...]:
    place = f"{one['file']}:{one['line']}" if one["file"] else "environment"
    saved = share = ""
    if one["saved_joules"] is not None:
        low, high = one["interval"]["low"], one["interval"]["high"]
        saved = f"{mark}{joules(one['saved_joules'])} ({joules(low)} to {joules(high)})"
        share = f"{one['share']:.0%}"
    time = duration(one["seconds"]) if one["seconds"] else ""
    return one["name"], place, saved, share, time, RESULT_WORDS[one["results"]], one["verdict"]


def _sum(told: dict[str, object], applied: bool) -> str:
    before, after = told["before"], told["after"]
    if not isinstance(after, dict) or not isinstance(before, dict):
        return "Nothing that keeps the results was proven to save here; the program stays as it is."
    part = 1 - after["joules"] / before["joules"]
    ending = (
        "Written to your files." if applied else "Apply it with --apply, or save the patch with --patch FILE."
    )
    return (
        f"Together: {joules(before['joules'])} → {joules(after['joules'])}, −{part:.0%}, "
        f"{duration(before['seconds'])} → {duration(after['seconds'])}. {ending}"
    )
