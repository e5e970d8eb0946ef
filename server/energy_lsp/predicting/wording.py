"""A prediction in words that never let it pass for a measurement."""

from __future__ import annotations

from collections.abc import Sequence

from energy_code.static_shapes.values.kinds import Asked
from energy_data.model import Calibration
from energy_data.prediction.specs import Prediction
from energy_lsp.predicting.calibration_text import calibration_name
from energy_lsp.presentation.notation.units import interval, joules, number, unit_for

_STEPS = (1.0, 2.0, 5.0)
SMALLEST_SECONDS = 1e-2
"""CPU time of all runs of a short call below which nothing stands behind it."""


def figure_text(prediction: Prediction) -> str:
    """`≈ 2.8 J predicted (2 to 4 J, 90%)`, or `under 1 mJ, predicted` where digits would say more than is known."""
    if prediction.negligible:
        return f"under {_rounded_up(prediction.high)}, predicted"
    return f"≈ {_short(prediction.joules)} predicted ({_range(prediction.low, prediction.high)}, 90%)"


def prediction_text(prediction: Prediction, asked: Asked, calibration: Calibration) -> str:
    """The whole sentence: figure, what it is for, what it rests on."""
    parts = [figure_text(prediction), "not measured"]
    about = [f"for {asked.shape}, {_source(asked)}"] if asked.shape else []
    if prediction.steps and prediction.epochs:
        epochs = f"{prediction.epochs} epochs × " if prediction.epochs > 1 else ""
        about.append(f"{epochs}{prediction.steps} step{'s' if prediction.steps > 1 else ''}")
    if prediction.first_joules:
        about.append(f"{_short(prediction.first_joules)} of it {first_cost(prediction)}")
    if prediction.outside:
        about.append("beyond the sizes that were calibrated")
    if prediction.missing:
        about.append("from calls of its kind, as it was not calibrated itself")
    if about:
        parts.append(", ".join(about))
    parts.append(calibration_name(calibration))
    parts.append(
        "estimated from CPU time" if calibration.estimated else f"calibrated with {calibration.meter}"
    )
    return " · ".join(parts)


def first_cost(prediction: Prediction) -> str:
    """What the first run costs more for: a model traces its graph, a single call loads what later ones find."""
    return "first-run tracing" if prediction.steps else "loading at the first call"


def inlay_text(predictions: Sequence[Prediction], times: int) -> str | None:
    """What fits behind a call, such as `≈ 2.8 J predicted`: all its runs; None where digits say too much."""
    if all(one.negligible for one in predictions) and times * predictions[0].cpu_seconds < SMALLEST_SECONDS:
        return None
    return f"≈ {_short(joules_of_runs(predictions, times))} predicted"


def joules_of_runs(predictions: Sequence[Prediction], times: int) -> float:
    """All runs of a call, the first one dearer; of several shapes the mean, as each run has one of them."""
    amount = sum(one.first_joules + (one.joules - one.first_joules) * times for one in predictions)
    return amount / len(predictions)


def _source(asked: Asked) -> str:
    """Where a shape is known from."""
    if asked.recorded:
        return "as a run saw it"
    return "as it is written" if any(written for *_, written in asked.arguments) else "read from the source"


def _short(amount: float) -> str:
    """Two digits: a prediction has no third."""
    text = joules(amount)
    value, _, unit = text.partition(" ")
    return f"{number(float(value), 2)} {unit}"


def _range(low: float, high: float) -> str:
    """Both ends with one or two digits in one unit."""
    unit = unit_for(high)
    first, last = interval(low, high).removesuffix(f" {unit}").split(" to ")
    return f"{number(float(first), 2)} to {number(float(last), 2)} {unit}"


def _rounded_up(amount: float) -> str:
    """The next of 1, 2, 5, 10 … mJ."""
    value = 1e-3
    while value < amount:
        for step in _STEPS:
            if amount <= value * step:
                return _whole(value * step)
        value *= 10
    return _whole(value)


def _whole(amount: float) -> str:
    """One digit: it is a bound."""
    return f"{number(amount * 1e3, 1)} mJ" if amount < 1 else f"{number(amount, 1)} J"
