"""From traces to joules: what each call drew on each device, net of the idle power, and how sure that is.

Power is modelled as idle level + the power of every innermost call that runs + the power of the program
between calls. Long calls and gaps have a power of their own, short ones share one per call site. A few
conjugate-gradient steps of least squares find the powers; what the windows hold beyond the model is handed
to those that ran in them, so that nothing is lost: calls and gaps add up to what the meter counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from energy_data.model import Device
from energy_measure.attribution.baseline import Baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.observations import Observations, observe
from energy_measure.attribution.power_limit import within_limit
from energy_measure.attribution.spans import Spans, distinct, spans_of, sums
from energy_measure.attribution.timeline import Timeline
from energy_measure.attribution.uncertainty import Errors, Solution
from energy_measure.sampling.trace import SampledTrace

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

OWN_POWER = 2.0
"""A call longer than this many windows has a power of its own; a shorter one has that of its call site."""
STEPS = 6
STEPS_FOR_RUNNING_MEANS = 40
"""Undoing a running mean takes more steps of the solver than sharing what a counter counted."""
FEW_STEPS, LARGE = 3, 1_500_000
"""Steps that have to do for more than so many calls and windows, and no blur: for the sake of time."""
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
    level_error: Floats
    """Standard error, in watts, that the calls of one site have in common: the idle level, and how short
    calls mix with what runs beside them."""
    tail: Floats
    """Net joules from the end of an outermost call until the next call begins, at most a second; not a
    number where the next call begins too soon to tell."""
    shared: Floats
    """Part of the call's time in which calls of other threads ran too."""
    seen: Floats
    """Part of the call's time that the meter looked at."""
    program_joules: float
    """Net energy of the whole program: calls and everything between them."""
    program_stderr: float
    outside_joules: float
    """The part of it that no call accounts for."""


def attribute(
    trace: SampledTrace,
    events: Events,
    baseline: Baseline,
    program: tuple[int, int] | None = None,
    *,
    alike_between: bool = False,
    most_watts: float | None = None,
) -> DeviceAttribution:
    """Share the energy of one trace among the events; `program` bounds the whole run (start, end in ns).

    `alike_between`: the same power is drawn wherever no call runs, however long that is. `most_watts`: what the
    device can draw above idle; no call gets more.
    """
    observations = observe(trace)
    if baseline.origin_ns != observations.origin_ns:
        raise ValueError("the baseline was fitted on another trace")
    begin, finish = _bounds(observations, program)
    long_gap = np.inf if alike_between else OWN_POWER * observations.step
    spans = spans_of(events, observations.origin_ns, begin, finish, long_gap)
    large = len(spans.starts) + len(observations) > LARGE
    blur = 0.0 if large else observations.blur
    timeline = Timeline(spans, observations, begin, finish, blur)
    solution = _solve(timeline, events, baseline)
    errors = Errors(timeline, baseline, solution)
    if most_watts is not None:
        middles = (spans.starts + spans.ends) / 2.0
        bounded = within_limit(
            solution.joules, timeline.own_seconds(), middles, most_watts, noisy=not trace.estimated
        )
        solution = replace(solution, joules=bounded)
    own = solution.joules[:-1]
    calls = slice(0, spans.calls)
    whole = _program(observations, begin, finish, solution)
    return DeviceAttribution(
        device=trace.device,
        joules=spans.inclusive(own)[calls],
        stderr=errors.inclusive()[calls],
        exclusive=own[calls],
        exclusive_stderr=errors.exclusive()[calls],
        level_error=errors.common_error[calls],
        tail=_tails(spans, own),
        shared=timeline.shared_fraction()[calls],
        seen=timeline.seen_fraction()[calls],
        program_joules=whole,
        program_stderr=errors.program(begin, finish),
        outside_joules=whole - float(np.sum(own[calls])),
    )


def _program(observations: Observations, begin: float, finish: float, solution: Solution) -> float:
    """Net joules of the whole program: what the counter says, or the model where the meter looks away."""
    if not observations.contiguous:
        return float(np.sum(solution.joules))
    times = np.append(observations.starts[:1], observations.ends)
    counted = np.concatenate(([0.0], np.cumsum(solution.net * np.diff(times))))
    return float(np.interp(finish, times, counted) - np.interp(begin, times, counted))


def _bounds(observations: Observations, program: tuple[int, int] | None) -> tuple[float, float]:
    if program is None:
        return float(observations.starts[0]), float(observations.ends[-1])
    begin, finish = ((moment - observations.origin_ns) * 1e-9 for moment in program)
    return begin, finish


def _solve(timeline: Timeline, events: Events, baseline: Baseline) -> Solution:
    observations = timeline.observations
    durations = observations.ends - observations.starts
    net = observations.joules - baseline.energy(observations.starts, observations.ends)
    own_time = timeline.own_seconds()
    groups, first_own, count = _groups(timeline, events)
    seconds = np.maximum(sums(groups, own_time, count), 1e-12)
    first = timeline.spread(net / durations)
    watts = sums(groups, first, count) / seconds
    steps = STEPS if observations.overlap <= 1.0 else STEPS_FOR_RUNNING_MEANS
    if timeline.count + len(observations) >= LARGE:
        steps = FEW_STEPS
    watts, left_over = _least_squares(timeline, groups, seconds, durations, net, watts, steps)
    per_span = watts[groups]
    residual = left_over / durations
    joules = per_span * own_time + timeline.spread(residual)
    sizes = np.bincount(groups, minlength=count).astype(np.float64)
    sizes[first_own:] = np.inf
    sites = np.full(timeline.count, timeline.count, dtype=np.int64)
    sites[: timeline.spans.calls] = distinct(events.site)[1]
    sites[-1] += 1
    return Solution(per_span, joules, net / durations, residual, groups, sites, sizes[groups])


def _groups(timeline: Timeline, events: Events) -> tuple[Indices, int, int]:
    """Which spans share one power: long ones, and those whose ends were seen, have their own, short calls go by site,
    short gaps together.

    Gives the group of each span, the first group that is one long span, and the number of groups.
    """
    spans = timeline.spans
    own = timeline.own_seconds() > OWN_POWER * timeline.observations.step
    own[-1] = False
    own[: spans.calls] |= _seen_exactly(timeline)[: spans.calls]
    numbers, sites = distinct(events.site)
    short_gap = len(numbers)
    groups = np.full(timeline.count, short_gap, dtype=np.int64)
    groups[: spans.calls] = sites
    groups[own] = short_gap + 1 + np.arange(int(own.sum()))
    return groups, short_gap + 1, short_gap + 1 + int(own.sum())


def _seen_exactly(timeline: Timeline) -> npt.NDArray[np.bool_]:
    """Spans at both of whose ends a window ends, for sure, and beside which no other thread's call ran."""
    spans, sharp = timeline.spans, timeline.observations.sharp
    found = np.isin(spans.starts, sharp) & np.isin(spans.ends, sharp)
    return np.asarray(found & (timeline.shared_fraction() == 0.0))


def _least_squares(
    timeline: Timeline,
    groups: Indices,
    seconds: Floats,
    durations: Floats,
    net: Floats,
    watts: Floats,
    steps: int,
) -> tuple[Floats, Floats]:
    """Preconditioned conjugate gradients on Σ (net − expected)² / duration, from the first guess on.

    Gives the powers of the groups, and the joules of each window that they leave over.
    """
    residual = net - timeline.expected(watts[groups])

    def pull_back(joules: Floats) -> Floats:
        return sums(groups, timeline.adjoint(joules / durations), len(seconds))

    gradient = pull_back(residual)
    scaled = gradient / seconds
    direction = scaled
    strength = float(gradient @ scaled)
    stop = 1e-7 * strength
    for _ in range(steps):
        if strength <= max(stop, 1e-30):
            break
        change = timeline.expected(direction[groups])
        curvature = float(change @ (change / durations))
        if curvature <= 0:
            break
        length = strength / curvature
        watts = watts + length * direction
        residual -= length * change
        gradient = pull_back(residual)
        scaled = gradient / seconds
        previous, strength = strength, float(gradient @ scaled)
        direction = scaled + (strength / previous) * direction
    return watts, residual


def _tails(spans: Spans, joules: Floats) -> Floats:
    """Energy after outermost calls at the mean power of the gap that follows, for at most `TAIL_SECONDS`."""
    tails = np.full(spans.calls, np.nan)
    gap_starts = spans.starts[spans.calls :]
    if spans.calls == 0 or len(gap_starts) == 0:
        return tails
    outermost = np.flatnonzero(spans.parents[: spans.calls] < 0)
    gap = np.minimum(np.searchsorted(gap_starts, spans.ends[outermost]), len(gap_starts) - 1)
    followed = gap_starts[gap] == spans.ends[outermost]
    rows = spans.calls + gap[followed]
    lengths = spans.ends[rows] - spans.starts[rows]
    tails[outermost[followed]] = joules[rows] * np.minimum(TAIL_SECONDS / lengths, 1.0)
    return tails
