"""Calibrations and predictions as lines of a terminal."""

from __future__ import annotations

from energy_data.model import Calibration
from energy_data.prediction.cost_model import NOISY


def calibration_name(calibration: Calibration) -> str:
    """`calibrated here on 17 Nov 2026, TensorFlow 2.21.0`, with what has to be known about it."""
    text = f"calibrated here on {date(calibration.measured)}, TensorFlow {calibration.environment.tensorflow}"
    if calibration.quick:
        text += ", quickly"
    if calibration.repeatability > NOISY:
        text += f", while the machine was busy (repeats within {calibration.repeatability:.0%})"
    return text


def date(measured: str) -> str:
    """A day as people write it: `17 Nov 2026`."""
    months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905
    year, month, day = measured[:10].split("-")
    return f"{int(day)} {months[int(month) - 1]} {year}"


def calibration_lines(calibration: Calibration, points: int, seconds: float, left_out: int = 0) -> list[str]:
    """What a finished calibration says."""
    environment = calibration.environment
    lines = [
        f"Calibrated {calibration.machine} for TensorFlow {environment.tensorflow} and Keras {environment.keras}: "
        f"{points} points in {seconds / 60:.1f} minutes.",
        f"The machine repeats itself within {calibration.repeatability:.0%}"
        + (
            ", estimated from CPU time." if calibration.estimated else f", measured with {calibration.meter}."
        ),
    ]
    if left_out:
        lines.append(
            f"There was no time for {left_out} of {points + left_out}: what rests on them has no figure. Calibrate "
            "without --quick, or when the machine is quiet."
        )
    if calibration.repeatability > NOISY:
        lines.append("That is more than 10%: predictions say so. Calibrate again when the machine is quiet.")
    return lines
