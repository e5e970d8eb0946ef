"""Every call of a program with a figure about it: measured at it, measured with the same shapes, or predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from energy_code.model import Mode, Point, Span
from energy_code.static_shapes.values.kinds import Asked
from energy_code.workspace.notebook import Notebook
from energy_code.workspace.project import Project, project_of
from energy_data.database.store import EnergyStore
from energy_data.model import Figure
from energy_data.prediction.cost_model import CostModel, total
from energy_data.prediction.specs import Prediction
from energy_data.prediction.whole_models import predict_job
from energy_lsp.predicting.choice import choose_calibration, versions_for
from energy_lsp.predicting.recorded import recorded_shapes, site_figures, step_figures
from energy_lsp.predicting.same_shapes import OFTEN
from energy_lsp.predicting.shapes import place_of, shapes_of
from energy_lsp.workspace.python_files import find_files
from energy_lsp.workspace.settings import project_root


@dataclass(frozen=True, slots=True)
class KnownCall:
    """A call and what is known of its cost."""

    api: str
    file: str
    line: int
    column: int
    cell: int | None
    times: int
    origin: str | None
    """`site`, `signature`, `predicted`, or None where nothing is known."""
    joules: float | None = None
    """Of one call; of a predicted one with what its first run costs."""
    low: float | None = None
    high: float | None = None
    covers: str = ""
    """What the interval of a measured figure holds."""
    seconds: float | None = None
    shape: str = ""
    prediction: Prediction | None = None
    estimated: bool = False
    of_run: float | None = None
    """Joules of all its calls in one run, where that was measured."""
    run_status: str = "finished"
    """How the run of a measured figure ended."""
    kind: str = "api"
    """`api`, or `compiled` for a function of the program that `tf.function` makes one graph of."""

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it stands in its file."""
        return self.cell or 0, self.line, self.column

    @property
    def first(self) -> float:
        """Of `joules`, what only the first call costs."""
        return self.prediction.first_joules if self.prediction else 0.0

    def of_all(self) -> tuple[float, float, float] | None:
        """Joules of all its runs, with their interval: what the first run costs is spent once."""
        if self.joules is None:
            return None
        later = self.joules - self.first
        joules = self.first + later * self.times if self.of_run is None else self.of_run
        stretch = joules / self.joules if self.joules else 1.0
        low = self.joules if self.low is None else self.low
        high = self.joules if self.high is None else self.high
        return joules, low * stretch, high * stretch

    def as_json(self) -> dict[str, Any]:
        """As `energy-lsp predict --format json` prints it."""
        everything = self.of_all()
        found: dict[str, Any] = {
            "api": self.api,
            "kind": self.kind,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "cell": self.cell,
            "joules": self.joules,
            "first_joules": self.first if self.prediction else None,
            "interval": _interval(self.low, self.high, "90%" if self.origin == "predicted" else self.covers),
            "seconds": self.seconds,
            "shape": self.shape or None,
            "times": self.times,
            "times_from": "source" if self.of_run is None else "measured",
            "total_joules": everything[0] if everything else None,
            "origin": self.origin,
            "run_status": self.run_status if self.origin in ("site", "signature") else None,
        }
        if self.prediction is not None and self.prediction.layers:
            found["layers"] = [
                {
                    "path": share.layer.path,
                    "file": share.layer.file or None,
                    "line": share.layer.line or None,
                    "share": share.share,
                }
                for share in self.prediction.layers
                if share.layer.line
            ]
        return found


class FoundCall(NamedTuple):
    """A call of a file, the shapes it is given, and what was measured at it."""

    about: KnownCall
    asked: tuple[Asked, ...]
    figure: Figure | None


def _interval(low: float | None, high: float | None, covers: str) -> dict[str, Any] | None:
    return None if low is None or high is None else {"low": low, "high": high, "covers": covers}


class Predictor:
    """Finds figures for the calls of files."""

    def __init__(self, costs: CostModel | None, store: EnergyStore, root: Path) -> None:
        self.costs = costs
        self.store = store
        self.root = root

    def file(self, path: Path, project: Project) -> Iterator[KnownCall]:
        """The calls of one file or notebook; one that is given several shapes has a figure for each."""
        for found in sorted(self.looked_at(path, project), key=lambda one: one.about.place):
            measured = self.measured(found)
            if measured is not None:
                yield measured
            else:
                yield from self.unmeasured(found)

    def looked_at(self, path: Path, project: Project) -> Iterator[FoundCall]:
        """The calls of a file, what was measured at them, and the shapes they are given."""
        data = project.read(path)
        name = name_in(self.root, path)
        notebook = (
            Notebook.read(data, path=path.resolve(), project=project) if path.suffix == ".ipynb" else None
        )
        document = project.open(path, data) if notebook is None else notebook.document
        analysis = document.analyse()
        figures = site_figures(self.store, analysis, name)
        recorded = recorded_shapes((analysis.calls()[number], figure) for number, figure in figures.items())
        source = document.lines().source.decode("utf-8", errors="replace")
        shapes = shapes_of(path, source, project, recorded)
        for number, call in enumerate(analysis.calls()):
            if call.decorator:
                continue
            lines, start, cell = document.lines(), call.span.start_byte, None
            if notebook is not None:
                at, span = notebook.locate(call.span)
                lines, start, cell = notebook.lines(at), span.start_byte, at + 1
            row, column = lines.position(start, "utf-32")
            about = KnownCall(call.api, name, row + 1, column + 1, cell, max(1, call.runs.times), None)
            asked = tuple(in_mode(each, call.mode) for each in shapes.get(place_of(call), ()))
            yield FoundCall(about, asked, figures.get(number))
        steps = step_figures(self.store, analysis, name)
        for (line, column, *_), each in shapes.items():
            if not each or not each[0].name or any(one.inside for one in each):
                continue
            start = document.lines().byte_offset(line - 1, column, "utf-8")
            row, place, cell = line - 1, document.lines().position(start, "utf-32")[1], None
            if notebook is not None:
                at, span = notebook.locate(
                    Span(start, start, Point(line - 1, column), Point(line - 1, column))
                )
                row, place = notebook.lines(at).position(span.start_byte, "utf-32")
                cell = at + 1
            about = KnownCall(each[0].name, name, row + 1, place + 1, cell, 1, None, kind="compiled")
            yield FoundCall(about, each, steps.get(start))

    def measured(self, found: FoundCall) -> KnownCall | None:
        """What was measured at a call as it stands; None where nothing was."""
        figure, about = found.figure, found.about
        if figure is None or figure.edited or figure.total is None:
            return None
        times = figure.times or about.times
        return replace(
            about, origin="site", joules=figure.total, low=figure.low, high=figure.high, covers=figure.covers,
            seconds=figure.seconds, estimated=figure.estimated, times=times,
            of_run=figure.of_run(times), shape=", ".join(figure.shapes), run_status=figure.run_status,
        )  # fmt: skip

    def unmeasured(self, found: FoundCall) -> Iterator[KnownCall]:
        """A call that was not measured: for each shape what was measured with the same, else what is predicted."""
        about = found.about
        own = [asked for asked in found.asked if not asked.inside]
        if not own:
            # What a model does is in the figure of the call that makes it do so.
            shapes = [asked.shape for asked in found.asked[:1] if "?" not in asked.shape]
            yield replace(about, shape="".join(shapes))
            return
        each_time = max(1, round(about.times / len(own)))
        for asked in own:
            one = replace(about, times=max(each_time, asked.times))
            yield self.alike(one, asked) or self.predicted(one, asked)

    def alike(self, about: KnownCall, asked: Asked) -> KnownCall | None:
        """What a call of the same API with the same shapes took elsewhere; of a model its shapes say too little."""
        if asked.call is None or asked.call.mode == "graph" or not asked.signature:
            return None  # in a graph a call is no call of its own, and what is measured there is left out
        figure = self.store.with_shapes(about.api, asked.signature, often=about.times >= OFTEN)
        if figure is None or figure.total is None or figure.source != "here":
            return None
        return replace(
            about, origin="signature", joules=figure.total, low=figure.low, high=figure.high, covers=figure.covers,
            seconds=figure.seconds, estimated=figure.estimated, shape=asked.shape, run_status=figure.run_status,
        )  # fmt: skip

    def predicted(self, about: KnownCall, asked: Asked) -> KnownCall:
        """What is predicted of a call; without a figure where that cannot be."""
        found = None if self.costs is None else predict(self.costs, asked)
        if found is None or self.costs is None:
            # A shape that is known in part is none that a figure could be for.
            return replace(about, shape="" if "?" in asked.shape else asked.shape)
        return replace(
            about, origin="predicted", joules=found.joules, low=found.low, high=found.high, seconds=found.seconds,
            shape=asked.shape, prediction=found, estimated=self.costs.calibration.estimated,
        )  # fmt: skip

    def both(self, path: Path, project: Project) -> Iterator[tuple[KnownCall, KnownCall]]:
        """Calls of a file that were measured and can be predicted: both figures."""
        for found in self.looked_at(path, project):
            measured = self.measured(found)
            if measured is not None and len(found.asked) == 1:
                predicted = self.predicted(found.about, found.asked[0])
                if predicted.joules is not None:
                    yield measured, predicted


def name_in(root: Path, path: Path) -> str:
    """The name that a file of a project has in the database."""
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.as_posix()


def in_mode(asked: Asked, mode: Mode) -> Asked:
    """The same call inside a graph, where that is where it stands."""
    if asked.call is None or mode == "eager":
        return asked
    return replace(asked, call=replace(asked.call, mode="graph"))


def predict(costs: CostModel, asked: Asked) -> Prediction | None:
    """The prediction of what a call was found to be given."""
    if asked.call is not None:
        return costs.call(asked.call, asked.first)
    if asked.model is not None and asked.job is not None:
        return predict_job(costs, asked.model, asked.job)
    return None


def summed(calls: Sequence[KnownCall]) -> tuple[float, float, float, int]:
    """Joules of all calls with their interval, and how many calls have no figure."""
    known = [found for call in calls if (found := call.of_all()) is not None]
    joules, low, high = total(known)
    return joules, low, high, len(calls) - len(known)


def predicted_joules(paths: Sequence[Path], database: Path | None) -> tuple[float, str]:
    """Joules of the calls that have a prediction and no measurement, and what there is to say about the calibration."""
    # Only this command needs to know the machine, and asking for it loads the measuring package.
    from energy_measure.machine.describe import describe

    machine, amount, notes = describe().label, 0.0, []
    for path in paths:
        root = project_root(path)
        choice = choose_calibration(database, machine, versions_for(path, root))
        notes += [choice.note] if choice.note and choice.note not in notes else []
        store = EnergyStore.open(database, root, strict=False)
        predictor = Predictor(choice.costs, store, root)
        for file in find_files([path]):
            for call in predictor.file(file, project_of(file)):
                everything = call.of_all() if call.origin == "predicted" else None
                amount += everything[0] if everything else 0.0
        store.close()
    return amount, " ".join(notes)
