"""Measures a program at every point of a sweep, and puts what its calls took beside the sizes they were given."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from energy_data.database.database import Database
from energy_data.model import Measurement
from energy_measure.problems import MeasureProblem
from energy_measure.request import MeasureRequest
from energy_measure.session import Interrupted, MeasuredRun, Tell, measure
from energy_measure.sweep.fits import Correlation, Fit, best, correlate, fits
from energy_measure.sweep.plan import SweepPoint


@dataclass(frozen=True, slots=True)
class SweepSample:
    """What something took at one point."""

    point: SweepPoint
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
    samples: tuple[SweepSample, ...]
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

    points: list[SweepPoint]
    meter: str = ""
    estimated: bool = False
    machine: str = ""
    curves: list[Curve] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    interrupted: bool = False
    """It was broken off: `points` are those that were measured until then."""


def sweep(
    request: MeasureRequest,
    points: Sequence[SweepPoint],
    tell: Tell,
    *,
    announce: Callable[[str], None] = lambda line: None,
) -> Swept:
    """Measure all points, one after the other; a point that fails is told and left out, and so is the rest after Ctrl-C."""
    swept = Swept(list(points))
    found: list[tuple[SweepPoint, MeasuredRun]] = []
    for number, point in enumerate(points, 1):
        announce(f"{number} of {len(points)}: {point.label}")
        here = replace(request, options=replace(request.options, arguments=point.arguments))
        try:
            with _environment(point.env):
                measured = measure(here, tell)
        except (Interrupted, KeyboardInterrupt):
            swept.interrupted, swept.points = True, swept.points[: number - 1]
            swept.failures.append(
                f"The sweep was interrupted: {number - 1} of {len(points)} points were measured."
            )
            break
        swept.failures += [f"{point.label}: {failure}" for failure in measured.reasons]
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


@dataclass(frozen=True, slots=True)
class CallAtPoint:
    """A call of a run at one point, or a layer within it."""

    point: SweepPoint
    call: Measurement
    joules: float
    """Of one call."""
    low: float | None
    high: float | None


def curves(measured: Sequence[tuple[SweepPoint, MeasuredRun]]) -> list[Curve]:
    """The whole program first, then calls and layers by what they took at the largest point."""
    varied = ", ".join(measured[0][0].values)
    calls: dict[str, list[CallAtPoint]] = {}
    layers: dict[tuple[str, str], list[CallAtPoint]] = {}
    program: list[SweepSample] = []
    with Database.read(measured[0][1].database) as database:
        for number, (point, run) in enumerate(measured):
            size = float(number + 1) if point.size is None else point.size
            program.append(SweepSample(point, size, sum(one.total for one in run.known), None, None))
            for run_id in (one.run_id for one in run.programs if one.program is not None):
                known = {one.id: one for one in database.measurements(run_id) if not one.at_trace_time}
                for call in known.values():
                    joules = sum(quantity.value for quantity in call.joules.values())
                    calls.setdefault(_name(call), []).append(
                        CallAtPoint(point, call, joules, call.low, call.high)
                    )
                for (call_id, path), joules in _by_layer(database, run_id).items():
                    if (within := known.get(call_id)) is not None:
                        one_call = joules / max(within.count, 1)
                        layers.setdefault((path, _name(within)), []).append(
                            CallAtPoint(point, within, one_call, None, None)
                        )
    whole = curve("program", "program", varied, program)
    found = [_of_seen(name, "call", varied, seen) for name, seen in calls.items()]
    paths = [path for path, _ in layers]
    for (path, call_name), seen in layers.items():
        name = path if paths.count(path) == 1 else f"{path} in {call_name}"
        found.append(_of_seen(name, "layer", varied, seen))
    return [whole, *sorted(found, key=lambda one: -max((s.joules for s in one.samples), default=0.0))]


def _name(call: Measurement) -> str:
    return f"{call.api} {call.file}:{call.line}"


def _by_layer(database: Database, run_id: str) -> dict[tuple[str, str], float]:
    """Joules of each layer within each call, both passes together."""
    joules: dict[tuple[str, str], float] = {}
    for part in database.parts(run_id):
        where = part.measurement_id, part.path
        joules[where] = joules.get(where, 0.0) + part.joules
    return joules


def _of_seen(name: str, kind: str, varied: str, seen: Sequence[CallAtPoint]) -> Curve:
    """Against the bytes that the call was given where these vary, else against what was varied."""
    resolved = [one for one in seen if one.call.resolved]
    given = [float(n + 1) if one.point.size is None else one.point.size for n, one in enumerate(resolved)]
    read = [float(one.call.signature.total_bytes) for one in resolved]
    vary = len(set(read)) > 1
    samples = [
        SweepSample(one.point, size, one.joules, one.low, one.high)
        for one, size in zip(resolved, read if vary else given, strict=True)
    ]
    against = "input bytes" if vary else varied
    row = _row_bytes(given, read) if vary else 1.0
    return curve(name, kind, against, samples, len(seen) - len(resolved), row)


def _row_bytes(given: Sequence[float], read: Sequence[float]) -> float:
    """Bytes that one more of what was varied adds, if each adds as many; 0 where that cannot be said."""
    pairs = sorted(set(zip(given, read, strict=True)))
    slopes = [
        (last - first) / (end - start)
        for (start, first), (end, last) in itertools.pairwise(pairs)
        if end > start
    ]
    even = slopes and min(slopes) > 0 and max(slopes) - min(slopes) <= 1e-3 * max(slopes)
    return slopes[0] if even else 0.0


def curve(
    name: str, kind: str, against: str, samples: Iterable[SweepSample], unresolved: int = 0, row: float = 1.0
) -> Curve:
    """Samples with the curves through them. `row`: what a row of a batch has of the size, 0 if nobody knows."""
    kept = tuple(samples)
    sizes, joules = [sample.size for sample in kept], [sample.joules for sample in kept]
    return Curve(
        name, kind, against, kept, unresolved, tuple(fits(sizes, joules, row)), correlate(sizes, joules)
    )
