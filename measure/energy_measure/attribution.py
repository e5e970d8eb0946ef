"""From traces to joules: what each call drew on each device, net of the idle power, and how sure that is.

Power is modelled as idle level + the power of every innermost call that runs + the power of the program between calls.
Long calls and gaps have a power of their own, short ones share one per call site. A few conjugate-gradient steps
of least squares find the powers; what the windows hold beyond the model is handed to those that ran in them, so that
nothing is lost: calls and gaps add up to what the meter counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy_data.model import Device
from energy_measure.baseline import Baseline
from energy_measure.events import Events
from energy_measure.observations import Observations, observe
from energy_measure.timeline import Spans, Timeline, spans_of
from energy_measure.traces import SampledTrace

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

OWN_POWER = 2.0
"""A call longer than this many windows has a power of its own; a shorter one has that of its call site."""
STEPS = 6
STEPS_FOR_RUNNING_MEANS = 40
TAIL_SECONDS = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class DeviceAttribution:
    """Net joules of one device, one entry per event in the order of the events."""

    device: Device
    joules: Floats
    """With everything that ran inside the call."""
    stderr: Floats
    exclusive: Floats
    """Without the API calls nested in it."""
    exclusive_stderr: Floats
    tail: Floats
    """Net joules from the end of an outermost call until the next call begins, at most a second."""
    shared: Floats
    """Part of the call's time in which calls of other threads ran too."""
    program_joules: float
    """Net energy from the start of the first call to the end of the trace's program."""
    program_stderr: float
    outside_joules: float
    """The part of it that no call accounts for."""


def attribute(
    trace: SampledTrace,
    events: Events,
    baseline: Baseline,
    program: tuple[int, int] | None = None,
) -> DeviceAttribution:
    """Share the energy of one trace among the events; `program` bounds the whole run (start, end in ns)."""
    observations = observe(trace)
    if baseline.origin_ns != observations.origin_ns:
        raise ValueError("the baseline was fitted on another trace")
    spans = _spans(events, observations, program)
    timeline = Timeline(spans, observations)
    solution = _solve(timeline, events, baseline)
    errors = _Errors(timeline, baseline, solution)
    calls = slice(0, spans.calls)
    exclusive = solution.joules[:-1]
    inclusive = spans.inclusive(exclusive)
    begin, finish = _bounds(observations, program)
    whole_stderr = errors.program(begin, finish)
    return DeviceAttribution(
        trace.device,
        inclusive[calls],
        errors.inclusive()[calls],
        exclusive[calls],
        errors.exclusive()[calls],
        _tails(spans, exclusive),
        timeline.shared_fraction()[calls],
        float(np.sum(solution.joules)),
        whole_stderr,
        float(np.sum(solution.joules[spans.calls :])),
    )


def _bounds(observations: Observations, program: tuple[int, int] | None) -> tuple[float, float]:
    if program is None:
        return float(observations.starts[0]), float(observations.ends[-1])
    return tuple((moment - observations.origin_ns) * 1e-9 for moment in program)  # type: ignore[return-value]


def _spans(events: Events, observations: Observations, program: tuple[int, int] | None) -> Spans:
    begin, finish = _bounds(observations, program)
    return spans_of(events, observations.origin_ns, begin, finish)


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """Net powers of the spans, their exclusive joules, and what the model left over per window, in watts."""

    watts: Floats
    joules: Floats
    residual: Floats


def _solve(timeline: Timeline, events: Events, baseline: Baseline) -> _Solution:
    observations = timeline.observations
    durations = observations.ends - observations.starts
    net = observations.joules - baseline.energy(observations.starts, observations.ends)
    own_time = timeline.own_seconds()
    groups, count = _groups(timeline, events)
    seconds = np.maximum(np.bincount(groups, weights=own_time, minlength=count), 1e-12)
    first = timeline.spread(net / durations)
    watts = np.bincount(groups, weights=first, minlength=count) / seconds
    steps = STEPS if observations.overlap <= 1.0 else STEPS_FOR_RUNNING_MEANS
    watts = _least_squares(timeline, groups, seconds, durations, net, watts, steps)
    per_span = watts[groups]
    residual = (net - timeline.expected(per_span)) / durations
    joules = per_span * own_time + timeline.spread(residual)
    return _Solution(per_span, joules, residual)


def _groups(timeline: Timeline, events: Events) -> tuple[Indices, int]:
    """Which spans share one power: long ones have their own, short calls go by site, short gaps together."""
    spans = timeline.spans
    step = float(np.median(np.diff(timeline.observations.ends))) if len(timeline.observations) > 1 else 0.0
    own = timeline.own_seconds() > OWN_POWER * step
    own[-1] = False
    _, sites = np.unique(np.asarray(events.site), return_inverse=True)
    short_gap = int(sites.max(initial=-1)) + 1
    groups = np.concatenate((sites, np.full(timeline.count - spans.calls, short_gap))).astype(np.int64)
    groups[own] = short_gap + 1 + np.arange(int(own.sum()))
    return groups, short_gap + 1 + int(own.sum())


def _least_squares(
    timeline: Timeline,
    groups: Indices,
    seconds: Floats,
    durations: Floats,
    net: Floats,
    watts: Floats,
    steps: int,
) -> Floats:
    """Preconditioned conjugate gradients on Σ (net − expected)² / duration, from the first guess on."""
    residual = net - timeline.expected(watts[groups])

    def pull_back(joules: Floats) -> Floats:
        return np.bincount(groups, weights=timeline.adjoint(joules / durations), minlength=len(seconds))

    gradient = pull_back(residual)
    scaled = gradient / seconds
    direction = scaled
    strength = float(gradient @ scaled)
    stop = 1e-10 * strength
    for _ in range(steps):
        if strength <= max(stop, 1e-30):
            break
        change = timeline.expected(direction[groups])
        curvature = float(change @ (change / durations))
        if curvature <= 0:
            break
        length = strength / curvature
        watts = watts + length * direction
        residual = residual - length * change
        gradient = pull_back(residual)
        scaled = gradient / seconds
        previous, strength = strength, float(gradient @ scaled)
        direction = scaled + (strength / previous) * direction
    return watts


class _Errors:
    """Variance of every span's energy, from its two ends, the background, the baseline and unseen time."""

    def __init__(self, timeline: Timeline, baseline: Baseline, solution: _Solution) -> None:
        spans = self._spans = timeline.spans
        self._baseline = baseline
        observations = timeline.observations
        middles = (spans.starts + spans.ends) / 2.0
        self._level_error = baseline.uncertainty(middles)
        squared = timeline.collect(timeline.density(solution.residual**2))
        scatter = np.maximum(squared / np.maximum(spans.lengths, 1e-12), 0.0)
        idle = baseline.power(middles)
        gross = np.maximum(solution.watts[:-1] + idle, 0.0)
        self._louder = np.divide(gross, idle, out=np.ones_like(idle), where=idle > 0)
        self._edges = _edge_variance(timeline, observations, gross, idle, scatter)
        step = observations.resolution / observations.overlap
        self._edges += timeline.unseen() * step * scatter
        self._edges += (spans.duty * (1.0 - spans.duty)) ** 2 * spans.lengths * step * scatter
        if observations.overlap > 1.0:
            rounding = observations.reading_noise / observations.resolution
            noise = float(np.mean(solution.residual**2)) + rounding**2
            self._edges += observations.resolution * step * noise

    def _variance(self, edges: Floats, seconds: Floats) -> Floats:
        # The background's noise grows with the power drawn: that is how sensors' own noise behaves.
        background = self._baseline.noise(seconds) * np.maximum(self._louder, 1.0)
        return edges + background**2 + (seconds * self._level_error) ** 2

    def inclusive(self) -> Floats:
        """Standard error of each span with what runs inside it."""
        return np.sqrt(self._variance(self._edges, self._spans.busy))

    def exclusive(self) -> Floats:
        """Standard error of each span without what runs inside it: the ends of those add to its own."""
        edges = self._edges + self._spans.sum_of_children(self._edges)
        return np.sqrt(self._variance(edges, self._spans.exclusive(self._spans.busy)))

    def program(self, begin: float, finish: float) -> float:
        """Standard error of the whole program."""
        seconds = np.array([finish - begin])
        level = float(np.max(self._level_error, initial=0.0))
        louder = float(np.mean(self._louder)) if len(self._louder) else 1.0
        background = float(self._baseline.noise(seconds)[0]) * max(louder, 1.0)
        return float(np.hypot(background, (finish - begin) * level))


def _edge_variance(
    timeline: Timeline, observations: Observations, inner: Floats, idle: Floats, scatter: Floats
) -> Floats:
    """What the two ends of a span add: windows misplaced in time, power that is not level within a window."""
    spans = timeline.spans
    edges = np.concatenate((observations.starts[:1], observations.ends))
    placement = np.concatenate((observations.placement[:1], observations.placement))
    first, start_overlap, start_width = _overlap(edges, spans.starts, at_start=True)
    last, end_overlap, end_width = _overlap(edges, spans.ends, at_start=False)
    same = first == last
    lengths = spans.lengths
    total = np.full(len(lengths), 2.0 * (observations.reading_noise / np.sqrt(2.0)) ** 2)
    for window, overlap, width in ((first, start_overlap, start_width), (last, end_overlap, end_width)):
        part = np.minimum(np.where(same, lengths, overlap), width)
        share = part / width
        sigma = placement[np.clip(window, 0, len(placement) - 1)]
        moved = np.where(
            same,
            (share * inner) ** 2 + ((1 - share) * idle) ** 2,
            ((1 - share) * inner) ** 2 + (share * idle) ** 2,
        )
        total += sigma**2 * moved + (part * (1 - share)) ** 2 * scatter / np.where(same, 2.0, 1.0)
    return total


def _overlap(edges: Floats, moments: Floats, *, at_start: bool) -> tuple[Indices, Floats, Floats]:
    """The window each moment falls in, how much of it belongs to the span, and its width."""
    window = np.clip(np.searchsorted(edges, moments, side="right") - 1, 0, len(edges) - 2)
    left, right = edges[window], edges[window + 1]
    width = np.maximum(right - left, 1e-12)
    inside = right - moments if at_start else moments - left
    return window, np.clip(inside, 0.0, width), width


def _tails(spans: Spans, joules: Floats) -> Floats:
    """Energy after outermost calls, at the mean power of the gap that follows, for at most `TAIL_SECONDS`."""
    tails = np.zeros(spans.calls)
    gap_starts = spans.starts[spans.calls :]
    if spans.calls == 0 or len(gap_starts) == 0:
        return tails
    outermost = np.flatnonzero(spans.parents[: spans.calls] < 0)
    gap = np.searchsorted(gap_starts, spans.ends[outermost] - 1e-12)
    followed = gap < len(gap_starts)
    followed[followed] = np.abs(gap_starts[gap[followed]] - spans.ends[outermost[followed]]) < 1e-9
    rows = spans.calls + gap[followed]
    lengths = np.maximum(spans.ends[rows] - spans.starts[rows], 1e-12)
    tails[outermost[followed]] = joules[rows] * np.minimum(TAIL_SECONDS / lengths, 1.0)
    return tails
