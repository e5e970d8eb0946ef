"""Predictions in a terminal: a row a call, the costliest first, and what they rest on once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_data.untrusted.printable import one_line, visible
from energy_lsp.predicting.calibration_text import calibration_name
from energy_lsp.predicting.wording import first_cost
from energy_lsp.presentation.notation.units import column_unit, counted, in_unit, interval, joules, whole
from energy_lsp.presentation.words.calls import RUN_ENDED
from energy_lsp.terminal.console import Screen
from energy_lsp.terminal.table import Column, Table

if TYPE_CHECKING:
    from energy_data.model import Calibration
    from energy_lsp.predicting.program import KnownCall

SHOWN = 20
LAYERS = 3
"""Of a call's layers those that take most are named."""


def print_predictions(
    calls: Sequence[KnownCall], total: tuple[float, float, float, int], calibration: Calibration | None
) -> None:
    """The table, the sum, and what is not known."""
    screen = Screen()
    known = sorted((call for call in calls if call.joules is not None), key=_all, reverse=True)
    unit = column_unit(_all(call) for call in known[:SHOWN])
    columns = [
        Column("call", "name"),
        Column("where", "name"),
        Column("times", "number", drop=3),
        Column(f"≈ all, {unit}", "number"),
        Column("90% interval", "number", drop=2),
        Column("known"),  # a figure never goes without its origin
        Column("for", "name", drop=4),
        Column("of it", "name", drop=5),
    ]
    table = Table(columns)
    for call in known[:SHOWN]:
        cell = f":cell {call.cell}" if call.cell is not None else ""
        place = visible(f"{call.file}{cell}:{call.line}")
        energy, between = _energy(call, unit)
        table.add(
            one_line(call.api),
            place,
            str(call.times),
            energy,
            between,
            _known(call),
            _work(call),
            _layers(call),
        )
    if table.rows:
        table.print(screen)
    if len(known) > SHOWN:
        screen.say(f"… and {len(known) - SHOWN} more with {joules(sum(map(_all, known[SHOWN:])))} together.")
    amount_of_all, low, high, unknown = total
    if not known:
        screen.say(f"No call has a figure; {counted(unknown, 'call')} found.")
        if unknown and calibration is not None:
            # A reader who calibrated and sees nothing wants to know which of the two it is.
            screen.say(
                f"Their shapes are not known from the source (`energy-lsp calls --shapes`), or nothing was learned of "
                f"them: {calibration_name(calibration)}."
            )
        return
    predicted = sum(call.origin == "predicted" for call in calls)
    # What was measured once has no interval of runs: what the meter leaves open in a run would look like one.
    between = f" ({interval(low, high)})" if predicted else ""
    parts = [f"Total: ≈ {whole(amount_of_all)}{between}"]
    parts += [counted(predicted, "predicted call")] if predicted else ["all of it known from runs"]
    parts += [f"{counted(unknown, 'call')} without a figure"] if unknown else []
    screen.say(", ".join(parts) + ".")
    if predicted and calibration is not None:
        how = "estimated from CPU time" if calibration.estimated else f"calibrated with {calibration.meter}"
        screen.say(
            f"Predicted, not measured; intervals hold 90% of cases; shapes are read from the source; "
            f"{calibration_name(calibration)}, {how}."
        )


def _energy(call: KnownCall, unit: str) -> tuple[str, str]:
    """Of all its calls, and the interval; of a prediction that has no digits, what it lies below."""
    found = call.of_all()
    assert found is not None
    energy, low, high = found
    if call.prediction is not None and call.prediction.negligible:
        return f"< {in_unit(high, unit).removeprefix('< ')}", ""
    between = f"{in_unit(low, unit)} to {in_unit(high, unit)}" if call.prediction is not None else ""
    return in_unit(energy, unit), between


def _known(call: KnownCall) -> str:
    """Where a figure is from, in a word or two."""
    if call.prediction is not None:
        return "predicted"
    word = "estimated" if call.estimated else "measured"
    where = f"{word} here" if call.origin == "site" else f"{word} elsewhere"
    ended = RUN_ENDED[call.run_status]
    return f"{where}, {ended}" if ended else where


def _all(call: KnownCall) -> float:
    found = call.of_all()
    return found[0] if found else 0.0


def _work(call: KnownCall) -> str:
    """What a prediction is for: shapes, steps."""
    prediction = call.prediction
    parts = [one_line(call.shape)] if call.shape else []
    if prediction is not None and prediction.steps and prediction.epochs:
        epochs = f"{prediction.epochs} epochs × " if prediction.epochs > 1 else ""
        parts.append(f"{epochs}{counted(prediction.steps, 'step')}")
    if prediction is not None and prediction.outside:
        parts.append("beyond the calibrated sizes")
    if prediction is not None and prediction.missing:
        parts.append("from calls of its kind")
    return ", ".join(parts)


def _layers(call: KnownCall) -> str:
    """Where most of it goes."""
    prediction = call.prediction
    if prediction is None:
        return ""
    parts = []
    if prediction.first_joules:
        parts.append(f"{first_cost(prediction)} {joules(prediction.first_joules)}")
    shares = sorted((share for share in prediction.layers if share.layer.line), key=lambda one: -one.share)
    parts += [f"{one_line(share.layer.path)} {share.share:.0%}" for share in shares[:LAYERS]]
    return ", ".join(parts)
