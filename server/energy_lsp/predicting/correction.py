"""What measurements teach a calibration: after `measure` the machine's scale moves to where predictions meet them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from energy_code.workspace.project import project_of
from energy_data.database.calibrations import calibrations, cost_model, set_corrections, set_scale
from energy_data.database.database import Database
from energy_data.database.store import EnergyStore
from energy_data.model import Calibration
from energy_data.prediction.cost_model import CostModel
from energy_lsp.predicting.program import Predictor
from energy_lsp.workspace.python_files import find_files

WEIGHT = 3.0
"""How many calls it takes to move half of the way to what they say."""
SMALLEST_JOULES = 1e-3
"""Calls below this say more about caches than about the machine."""
FEWEST_APIS = 3
OFF = math.log(1.25)
"""An API that is off by more than this is corrected by itself."""
FURTHEST = 4.0
"""No measurement makes the machine more than so many times dearer or cheaper than it was calibrated."""


def correct(database: Path, path: Path, root: Path, environment: tuple[str, str]) -> float | None:
    """Set the scale of the calibration for these versions of TensorFlow and Keras; the new one, or None.

    `path`: what was measured. Each call that has both a measurement at its site and a prediction has a vote.
    """
    with Database.open(database) as opened:
        known = [each for each in calibrations(opened.connection) if _versions(each) == environment]
        if not known:
            return None
        costs = cost_model(opened.connection, known[0])
        store = EnergyStore.open(database, root, strict=False)
        try:
            ratios = list(_ratios(Predictor(costs, store, root), path))
        finally:
            store.close()
        if not ratios:
            return None
        moved = median(ratio for _, ratio in ratios) * len(ratios) / (len(ratios) + WEIGHT)
        scale = min(max(costs.scale * math.exp(moved), 1 / FURTHEST), FURTHEST)
        with opened.transaction():
            set_scale(opened.connection, known[0].id, scale)
            set_corrections(opened.connection, known[0].id, apis_that_are_off(costs, ratios, moved))
        return scale


def apis_that_are_off(
    costs: CostModel, ratios: Sequence[tuple[str, float]], moved: float
) -> dict[str, float]:
    """APIs that are still off once the machine's scale has moved, and the factor that brings them half of the way."""
    found: dict[str, list[float]] = {}
    for api, ratio in ratios:
        found.setdefault(api, []).append(ratio - moved)
    if len(found) < FEWEST_APIS:
        return {}  # whether the machine is off or an API, so few do not tell
    limit = math.log(FURTHEST)
    return {
        api: math.exp(min(max(math.log(costs.correction(api)) + median(rest) / 2, -limit), limit))
        for api, rest in found.items()
        if abs(median(rest)) > OFF and costs.find(api, "eager") is not None
    }


def _ratios(predictor: Predictor, path: Path) -> Iterable[tuple[str, float]]:
    """APIs and logarithms of measured / predicted, of calls that are worth it."""
    for file in find_files([path]):
        if file.suffix != ".py":
            continue
        for call, predicted in predictor.both(file, project_of(file)):
            seen, expected = call.of_all(), replace(predicted, times=call.times).of_all()
            if seen is not None and expected is not None and call.joules and call.joules >= SMALLEST_JOULES:
                yield call.api, math.log(seen[0] / expected[0])


def _versions(calibration: Calibration) -> tuple[str, str]:
    return calibration.environment.tensorflow, calibration.environment.keras
