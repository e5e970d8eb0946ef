"""The prediction that a hover shows for a call that was never measured, made when somebody asks for it."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from energy_code.static_shapes.walk import Found
from energy_code.workspace.project import Project
from energy_data.paths import user_database
from energy_data.prediction.cost_model import CostModel
from energy_data.problems import Problem
from energy_lsp.predicting.choice import choose_calibration
from energy_lsp.predicting.program import in_mode, predict
from energy_lsp.predicting.shapes import place_of, shapes_of
from energy_lsp.predicting.wording import prediction_text
from energy_lsp.session.open_files import path_of

if TYPE_CHECKING:
    from energy_lsp.presentation.file_report import FileReport
    from energy_lsp.presentation.hints import Hint

LONGEST = 400_000
"""Bytes of a text beyond which a hover does not go through it."""


def predicted_line(page: FileReport, hint: Hint) -> str | None:
    """The prediction for a call without a figure of its own, in words; None where there is none to make."""
    figure = hint.figure
    if (figure is not None and figure.origin != "api") or not page.folder.trusted:
        return None
    costs = _costs(page.folder.database or user_database(), page.folder.store.stamp())
    path, source = program_of(page)
    if costs is None or path is None or source is None or len(source) > LONGEST:
        return None
    asked = _shapes(path, source, page.folder.project).get(place_of(hint.call), ())
    texts = []
    for each in asked:
        found = predict(costs, in_mode(each, hint.call.mode))
        if found is not None:
            texts.append(prediction_text(found, each, costs.calibration))
    return f"{' · also '.join(texts)} · {costs.calibration.machine}" if texts else None


def program_of(page: FileReport) -> tuple[Path | None, bytes | None]:
    """The file of a text, and the whole program: of a cell its notebook as it was saved, if the cell is still that."""
    path = path_of(page.owner)
    if not page.is_cell or path is None:
        return path, page.source
    document = page.folder.project.document(path)
    source = None if document is None else document.lines.source
    kept = source is not None and source[page.base : page.base + len(page.source)] == page.source
    return path, source if kept else None


@lru_cache(maxsize=4)
def _shapes(path: Path, source: bytes, project: Project) -> Found:
    """The shapes in a text; what its imports hold is read again when the text changes."""
    return shapes_of(path, source.decode("utf-8", "replace"), project)


@lru_cache(maxsize=4)
def _costs(path: Path, stamp: object) -> CostModel | None:
    """The newest calibration of this machine in a database, as of a state of its file."""
    if not path.exists():
        return None
    # Only a hover that predicts needs to know the machine, and asking for it loads the measuring package.
    from energy_measure.machine.describe import describe

    try:
        return choose_calibration(path, describe().label, None).costs
    except (Problem, sqlite3.Error, ValueError, TypeError, KeyError):
        return None  # what is wrong with the database is told where it is opened
