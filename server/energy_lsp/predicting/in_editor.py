"""What an editor shows for a call that was never measured, made when somebody asks for it."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from energy_code.static_shapes.values.kinds import Asked
from energy_data.paths import user_database
from energy_data.prediction.cost_model import CostModel
from energy_data.prediction.specs import Prediction
from energy_data.problems import Problem
from energy_data.untrusted.reading import real
from energy_lsp.predicting.calibration_text import calibration_name
from energy_lsp.predicting.choice import (
    CALIBRATE,
    CalibrationChoice,
    Versions,
    choose_calibration,
    versions_for,
)
from energy_lsp.predicting.program import in_mode, predict
from energy_lsp.predicting.same_shapes import program_of, shapes_on
from energy_lsp.predicting.shapes import place_of
from energy_lsp.predicting.wording import inlay_text, joules_of_runs, prediction_text

if TYPE_CHECKING:
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.workspace.folders import Folder


MODEL_METHODS = (".fit", ".evaluate", ".predict", ".train_on_batch")


@dataclass(frozen=True, slots=True)
class Foretold:
    """What is predicted of a call without a figure of its own, for each shape that it is given."""

    costs: CostModel
    asked: tuple[tuple[Asked, Prediction], ...]

    def line(self) -> str:
        """The whole sentence; of two shapes two figures."""
        calibration = self.costs.calibration
        texts = [prediction_text(found, asked, calibration) for asked, found in self.asked]
        return f"{' · also '.join(texts)} · {calibration.machine}"

    def joules(self, times: int) -> float:
        """What all runs of the call would draw."""
        return joules_of_runs([found for _, found in self.asked], times)

    def label(self, times: int) -> str | None:
        """What fits behind the call; None where it is not worth a place there."""
        return inlay_text([found for _, found in self.asked], times)


def foretold(report: FileReport, hint: Hint) -> Foretold | None:
    """What is predicted of a call without a figure of its own; None where there is nothing to predict it from."""
    return None if hint.has_own_figure else prediction_of(report, hint)


def prediction_of(report: FileReport, hint: Hint) -> Foretold | None:
    """What is predicted of a call, whether or not it was measured."""
    if not report.folder.trusted:
        return None
    choice = _choice_for(report.folder)
    if choice is None or choice.costs is None:
        return None
    costs = choice.costs
    # What a model does inside is in the figure of the call that makes it do so.
    asked = [each for each in shapes_on(report).get(place_of(hint.call), ()) if not each.inside]
    found = [(each, predict(costs, in_mode(each, hint.call.mode))) for each in asked]
    known = tuple((each, prediction) for each, prediction in found if prediction is not None)
    return Foretold(costs, known) if known else None


def _choice_for(folder: Folder) -> CalibrationChoice | None:
    """The calibration of this machine for the interpreter that the project would be measured with."""
    path = folder.database or user_database()
    if not os.path.exists(path):
        return None
    versions = _versions(folder.root, folder.settings.measure_python, _installed(folder))
    return _choice(path, folder.store().stamp(), versions)


def _installed(folder: Folder) -> object:
    """Changes when packages of the project's own environment do."""
    try:
        places = sorted((folder.root / ".venv").glob("lib/python*/site-packages"))
        return tuple(place.stat().st_mtime_ns for place in places)
    except OSError:
        return None


@lru_cache(maxsize=8)
def _versions(root: Path, python: str, installed: object) -> Versions | None:
    """What the project's interpreter has: asked once for each state of it."""
    try:
        return versions_for(root, root, python)
    except Problem:
        return None


def no_prediction(report: FileReport, hint: Hint) -> str:
    """Why nothing is predicted of a call whose shapes are known; empty where there is nothing that a reader could do."""
    if not report.folder.trusted:
        return ""
    choice = _choice_for(report.folder)
    if choice is None or (choice.costs is None and not choice.stale):
        return ""  # who never calibrated was offered it, and need not read it at every call
    asked = [each for each in shapes_on(report).get(place_of(hint.call), ()) if not each.inside]
    if not any(each.call is not None or each.job is not None for each in asked):
        return ""
    if choice.note or choice.costs is None:
        return choice.note
    calibration = choice.costs.calibration
    if not calibration.quick:
        return ""
    return (
        f"Not predicted: not learned when {calibration_name(calibration)}. Run `{CALIBRATE}` without --quick."
    )


def layer_shares(report: FileReport, row: int) -> list[LayerPart]:
    """What the layers that a row makes are predicted to have of the calls of the same file that use them."""
    path, _ = program_of(report)
    if path is None or report.is_cell:
        return []
    file, found = str(real(path)), []
    for hint in report.hints:
        known = foretold(report, hint) if hint.call.api.endswith(MODEL_METHODS) else None
        for _, prediction in known.asked if known is not None else ():
            made = [one for one in prediction.layers if one.layer.line == row + 1 and one.layer.file == file]
            if made:
                line = report.row(hint.call.span.start_byte) + 1
                name, shares = hint.call.api.rpartition(".")[2], sum(one.share for one in made)
                found.append(LayerPart(name, line, tuple(one.layer.path for one in made), shares))
    return found


class LayerPart(NamedTuple):
    """The predicted part that layers have of the steps of a call."""

    method: str
    line: int
    paths: tuple[str, ...]
    share: float


@lru_cache(maxsize=4)
def _choice(path: Path, stamp: object, versions: Versions | None) -> CalibrationChoice | None:
    """The calibration for these versions in a database, as of a state of its file."""
    # Only a prediction needs to know the machine, and asking for it loads the measuring package.
    from energy_measure.machine.describe import describe

    try:
        return choose_calibration(path, describe().label, versions)
    except (Problem, sqlite3.Error, ValueError, TypeError, KeyError):
        return None  # what is wrong with the database is said where it is opened
