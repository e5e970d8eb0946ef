"""The end of tuning in a terminal: what was tried, what it saves, and what to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from energy_data.untrusted.printable import one_line, visible
from energy_lsp.presentation.notation.units import duration, interval, joules, whole
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.table import Column, Table

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
    outcome = result.as_json()
    screen = Screen()
    mark = "≈ " if outcome["estimated"] else ""
    energy, time = whole(outcome["before"]["joules"]), duration(outcome["before"]["seconds"])
    screen.say(f"As it is: {mark}{energy}, {time} a run ({outcome['meter']}).")
    table = Table(
        [
            Column("candidate", "name"),
            Column("place", "name", drop=3),
            Column("saves a run", "number"),
            Column("95% interval", "number", drop=5),
            Column("share", "number", drop=1),
            Column("time", "number", drop=4),
            Column("results", drop=2),
            Column("verdict"),
        ]
    )
    for one in sorted(outcome["candidates"], key=lambda one: -(one["saved_joules"] or 0.0)):
        table.add(*_row(one, mark))
    table.print(screen)
    for one in outcome["candidates"]:
        if one["note"]:
            screen.say(f"  {one_line(one['name'])}: {one_line(one['note'])}", indent="    ")
    screen.say(_sum(outcome, _ending(result, applied)))


def _row(one: dict[str, Any], mark: str) -> tuple[str, ...]:
    place = one["place"]
    saved = spread = share = ""
    if one["saved_joules"] is not None:
        low, high = one["interval"]["low"], one["interval"]["high"]
        saved = f"{mark}{joules(one['saved_joules'])}"
        spread = interval(low, high)
        share = f"{one['share']:.0%}"
    time = duration(one["seconds"]) if one["seconds"] else ""
    results = RESULT_WORDS[one["results"]]
    return one_line(one["name"]), visible(place), saved, spread, share, time, results, one["verdict"]


def _sum(outcome: dict[str, Any], ending: str) -> str:
    before, after = outcome["before"], outcome["after"]
    if not isinstance(after, dict) or not isinstance(before, dict):
        return _nothing_to_write(outcome)
    part = 1 - after["joules"] / before["joules"]
    return (
        f"Together: {whole(before['joules'])} → {whole(after['joules'])}, −{part:.0%}, "
        f"{duration(before['seconds'])} → {duration(after['seconds'])}. {ending}"
    )


def _nothing_to_write(outcome: dict[str, Any]) -> str:
    found = [one for one in outcome["candidates"] if one["environment"] and one["verdict"] == "saves"]
    if not found:
        return "Nothing that keeps the results was proven to save here; the program stays as it is."
    names = ", ".join(one_line(one["name"]) for one in found)
    variables = " ".join(f"{name}={value}" for one in found for name, value in one["environment"].items())
    return (
        f"No change of the program was proven to save here; {names} did: set {variables} before you run it."
    )


def _ending(result: TuneResult, applied: bool) -> str:
    """What became of the changes, and what to do with the others."""
    if applied and result.applied == result.files:
        return "Written to your files."
    if applied and result.applied:
        return "Those with equal results are written to your files; --patch FILE saves all of them."
    if applied:
        return "Results differ within the noise of seeds, so nothing was written: --patch FILE saves it."
    how = "Apply it with --apply, or save" if result.applied else "Save"
    return f"{how} the patch with --patch FILE."
