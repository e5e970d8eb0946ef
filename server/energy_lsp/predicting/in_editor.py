"""The prediction that a hover shows for a call that was never measured, made when somebody asks for it."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from energy_code.static_shapes.walk import shapes_in
from energy_data.database.calibrations import calibrations, cost_model
from energy_data.database.database import Database
from energy_data.paths import user_database
from energy_data.prediction.cost_model import CostModel
from energy_data.problems import Problem
from energy_lsp.predicting.program import in_mode, place_of, predict
from energy_lsp.predicting.wording import prediction_text

if TYPE_CHECKING:
    from energy_lsp.presentation.file_report import FileReport
    from energy_lsp.presentation.hints import Hint

LONGEST = 400_000
"""Bytes of a text beyond which a hover does not go through it."""


def predicted_line(page: FileReport, hint: Hint) -> str | None:
    """The prediction for a call without a figure of its own, in words; None where there is none to make."""
    figure = hint.figure
    if (figure is not None and figure.origin != "api") or page.is_cell or not page.folder.trusted:
        return None
    if len(page.source) > LONGEST:
        return None
    path = page.folder.database or user_database()
    costs = _costs(path, page.folder.store.stamp())
    if costs is None:
        return None
    asked = _shapes(page.source, page.file).get(place_of(hint.call))
    found = None if asked is None else predict(costs, in_mode(asked, hint.call.mode))
    if found is None or asked is None:
        return None
    return f"{prediction_text(found, asked.shape, costs.calibration)} · {costs.calibration.machine}"


_shapes = lru_cache(maxsize=4)(lambda source, file: shapes_in(source.decode("utf-8", "replace"), file))


@lru_cache(maxsize=4)
def _costs(path: Path, stamp: object) -> CostModel | None:
    """The newest calibration in a database, as of a state of its file."""
    if not path.exists():
        return None
    try:
        with Database.read(path) as database:
            known = calibrations(database.connection)
            return cost_model(database.connection, known[0]) if known else None
    except (Problem, sqlite3.Error, ValueError, TypeError, KeyError):
        return None  # what is wrong with the database is told where it is opened
