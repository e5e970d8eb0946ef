"""Measures a program at every point of a sweep, and puts what its calls took beside the sizes they were given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from energy_data.database.database import Database
from energy_data.model import Measurement
from energy_measure.problems import MeasureProblem
from energy_measure.request import MeasureRequest
from energy_measure.session import MeasuredRun, Tell, measure
from energy_measure.sweep.fits import Correlation, Fit, best, correlate, fits
from energy_measure.sweep.plan import Point


@dataclass(frozen=True, slots=True)
class Sample:
    """What something took at one point."""

    point: Point
    size: float
    """Input bytes where they vary, else what the point says."""
    joules: float
    """Net, of one call."""
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Energy against size, of a call, a layer or the whole program."""

    name: str
    """The API with its place, the layer's path, or `program`."""
    kind: str
    """`call`, `layer` or `program`."""
    against: str
    """What the size is: `input bytes`, or the names that were varied."""
    samples: tuple[Sample, ...]
    unresolved: int
    """Points at which the meter could not tell it from nothing."""
    fits: tuple[Fit, ...]
    correlation: Correlation | None

    @property
    def best(self) -> Fit | None:
        """The curve that the data speak for."""
        return best(self.fits, self.correlation)


@dataclass(slots=True)
class Swept:
    """Everything that a sweep gave."""

    points: list[Point]
    meter: str = ""
    estimated: bool = False
    machine: str = ""
    curves: list[Curve] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def sweep(
    request: MeasureRequest,
    points: Sequence[Point],
    tell: Tell,
    *,
    announce: Callable[[str], None] = lambda line: None,
) -> Swept:
    """Measure all points, one after the other; a point that fails is told and left out."""
    swept = Swept(list(points))
    found: list[tuple[Point, MeasuredRun]] = []
    for number, point in enumerate(points, 1):
        announce(f"{number} of {len(points)}: {point.label}")
        here = replace(request, options=replace(request.options, arguments=point.arguments))
        with _environment(point.env):
            measured = measure(here, tell)
        swept.failures += [f"{point.label}: {failure}" for failure in measured.failures]
        swept.problems += [problem for problem in measured.problems if problem not in swept.problems]
        found.append((point, measured))
    known = [(point, measured) for point, measured in found if measured.known and not measured.failures]
    if not known:
        raise MeasureProblem(f"No point of the sweep could be measured: {swept.failures[0]}")
    swept.meter, swept.estimated = known[0][1].meter, known[0][1].estimated
    swept.machine = known[0][1].machine.label
    swept.curves = curves(known)
    return swept


@contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def curves(measured: Sequence[tuple[Point, MeasuredRun]]) -> list[Curve]:
    """The whole program first, then calls and layers by what they took at the largest point."""
    varied = ", ".join(measured[0][0].values)
    calls: dict[str, list[tuple[Point, Measurement]]] = {}
    layers: dict[str, list[Sample]] = {}
    program: list[Sample] = []
    with Database.read(measured[0][1].database) as database:
        for number, (point, run) in enumerate(measured):
            size = float(number + 1) if point.size is None else point.size
            program.append(Sample(point, size, sum(one.total for one in run.known), None, None))
            for run_id in (one.run_id for one in run.programs if one.program is not None):
                for call in database.measurements(run_id):
                    if not call.at_trace_time:
                        calls.setdefault(f"{call.api} {call.file}:{call.line}", []).append((point, call))
                for path, joules in _by_layer(database, run_id).items():
                    layers.setdefault(path, []).append(Sample(point, size, joules, None, None))
    whole = curve("program", "program", varied, program)
    found = [_of_call(name, varied, seen) for name, seen in calls.items()]
    found += [curve(path, "layer", varied, samples) for path, samples in layers.items()]
    return [whole, *sorted(found, key=lambda one: -max((s.joules for s in one.samples), default=0.0))]


def _by_layer(database: Database, run_id: str) -> dict[str, float]:
    joules: dict[str, float] = {}
    for part in database.parts(run_id):
        joules[part.path] = joules.get(part.path, 0.0) + part.joules
    return joules


def _of_call(name: str, varied: str, seen: Sequence[tuple[Point, Measurement]]) -> Curve:
    resolved = [(point, call) for point, call in seen if call.resolved]
    vary = len({call.signature.total_bytes for _, call in resolved}) > 1
    samples = []
    for number, (point, call) in enumerate(resolved):
        given = float(number + 1) if point.size is None else point.size
        size = float(call.signature.total_bytes) if vary else given
        joules = sum(quantity.value for quantity in call.joules.values())
        samples.append(Sample(point, size, joules, call.low, call.high))
    return curve(name, "call", "input bytes" if vary else varied, samples, len(seen) - len(resolved))


def curve(name: str, kind: str, against: str, samples: Iterable[Sample], unresolved: int = 0) -> Curve:
    """Samples with the curves through them."""
    kept = tuple(samples)
    sizes, joules = [sample.size for sample in kept], [sample.joules for sample in kept]
    return Curve(name, kind, against, kept, unresolved, tuple(fits(sizes, joules)), correlate(sizes, joules))
