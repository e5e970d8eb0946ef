"""How sure the joules of a call are: one variance per source of error, added up.

- **Ends**: a call begins and ends inside a window of the meter, and the window itself is known only to lie
  somewhere within an update period.
- **Sharing**: what a window holds can be split in more than one way between a call and its neighbours when
  neither was ever seen without the other.
- **Background**: the idle machine's power wanders; the idle windows show by how much over which time.
- **Baseline**: its level is known only as well as the idle windows tell.
- **Unseen time**: a meter that looks away for part of each period.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from energy_measure.attribution.baseline import Baseline
from energy_measure.attribution.observations import Observations
from energy_measure.attribution.spans import distinct, sums
from energy_measure.attribution.timeline import Timeline
from energy_measure.statistics import NORMAL_95, SEEN_ENOUGH

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

MOST_SHARES = 50_000_000
"""Sites times windows up to which the mixtures of short calls are looked at."""
MOST_POWERS = 400
"""Powers of which it is reckoned in full how well a running mean tells them apart."""
SHARES_AT_ONCE = 4_000_000
"""Above so many only every other window, or fewer, is looked at."""
SPANS_AT_ONCE = 65_536
"""So many fit into the processor's cache with everything that is reckoned about them."""
POOLED = 3
"""From so many short calls of a site on, how they mix with what runs beside them can be looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Net powers of the spans, their own joules, and per window the net watts and what the model left
    over."""

    watts: Floats
    joules: Floats
    net: Floats
    residual: Floats
    groups: Indices
    """Spans of one number share one power."""
    sites: Indices
    """The call site of each span; long gaps have a number of their own, and so has the last, the short gaps."""
    members: Floats
    """How many spans share the power of each span's group; infinite for spans with a power of their own."""


class Errors:
    """Variance of every span's energy."""

    def __init__(self, timeline: Timeline, baseline: Baseline, solution: Solution) -> None:
        spans = self._spans = timeline.spans
        self._baseline = baseline
        middles = (spans.starts + spans.ends) / 2.0
        idle = baseline.power(middles)
        gross = np.maximum(solution.watts[:-1] + idle, 0.0)
        self.level_error: Floats = baseline.uncertainty(middles)
        self._louder = np.divide(gross, idle, out=np.ones_like(idle), where=idle > 0)
        self.common_error: Floats = np.hypot(self.level_error, _mixed(timeline, solution))
        """Standard error, in watts, that all calls of a site have in common: level and mixture."""
        self._undone = timeline.observations.overlap > 1.0
        if self._undone:
            self._edges = _running_mean(timeline, solution)
            return
        noise = (_reading_noise(timeline.observations, baseline) * self._louder) ** 2
        self._edges = _ends(timeline, solution, baseline, gross, idle, noise)
        self._edges += _unseen(timeline, solution, noise)
        np.maximum(self._edges, 0.0, out=self._edges)  # differences of sums leave a trace of rounding

    def _variance(self, edges: Floats, seconds: Floats) -> Floats:
        # The background's noise grows with the power drawn: that is how sensors' own noise behaves.
        background = self._baseline.noise(seconds)
        background *= np.maximum(self._louder, 1.0)
        background *= background
        if self._undone:  # the readings' noise is in what undoing the mean lets through
            background = np.maximum(background, edges)
        else:
            background += edges
        common = seconds * self.common_error
        common *= common
        background += common
        return background

    def inclusive(self) -> Floats:
        """Standard error of each span with what runs inside it."""
        return np.sqrt(self._variance(self._edges, self._spans.busy))

    def exclusive(self) -> Floats:
        """Standard error of each span without what runs inside it: the ends of those add to its own."""
        if not self._spans.nested:
            return self.inclusive()
        edges = self._edges + self._spans.sum_of_children(self._edges)
        return np.sqrt(self._variance(edges, self._spans.exclusive(self._spans.busy)))

    def program(self, begin: float, finish: float) -> float:
        """Standard error of the whole program."""
        seconds = np.array([finish - begin])
        level = float(np.max(self.level_error, initial=0.0))
        louder = float(np.mean(self._louder)) if len(self._louder) else 1.0
        background = float(self._baseline.noise(seconds)[0]) * max(louder, 1.0)
        return float(np.hypot(background, (finish - begin) * level))


def _mixed(timeline: Timeline, solution: Solution) -> Floats:
    """Standard error, in watts, of the power that the short calls of a site share.

    Calls and gaps that follow each other faster than the meter updates are distinguished only by windows that
    hold more of the one and windows that hold more of the other. Where all windows hold the same mixture,
    the calls may have drawn all of it or nothing.
    """
    spans, observations = timeline.spans, timeline.observations
    error = np.zeros(len(spans.starts))
    short = np.isfinite(solution.members)
    numbers, rows = distinct(solution.sites[: spans.calls])
    often = np.bincount(rows)[rows] >= POOLED
    own: Floats = np.full(len(spans.starts), np.inf)
    if len(numbers) * len(observations) <= MOST_SHARES:
        own[: spans.calls] = _told_apart(timeline, solution, numbers)[rows]
    long = np.flatnonzero(often & ~short[: spans.calls] & np.isfinite(own[: spans.calls]))
    error[long] = own[long]
    pooled = np.flatnonzero(often & short[: spans.calls])
    if len(pooled) == 0:
        return error
    numbers, rows = distinct(solution.groups[pooled])
    watts = np.zeros(len(numbers))
    watts[rows] = solution.watts[pooled]
    durations = observations.ends - observations.starts
    known = timeline.expected(np.where(short, 0.0, solution.watts))
    mixed = timeline.expected(short.astype(np.float64)) > 0.01 * durations
    all_of_it = float(np.sum((solution.net * durations - known)[mixed]))
    seconds = sums(rows, timeline.own_seconds()[pooled], len(numbers))
    most = np.maximum(all_of_it / np.maximum(seconds, 1e-12), 0.0)
    anything = np.maximum(np.abs(most - watts), np.abs(watts)) / NORMAL_95
    error[pooled] = np.minimum(own[pooled], anything[rows])
    return error


def _told_apart(timeline: Timeline, solution: Solution, numbers: Indices) -> Floats:
    """Standard errors of the sites' mean powers from how their shares of the windows differ.

    The sandwich estimate of least squares: what the fit left over in each window is the noise of that window.
    """
    observations = timeline.observations
    wanted = [*numbers.tolist(), int(solution.sites[-1])]  # the last: short gaps
    every = max(1, len(wanted) * len(observations) // SHARES_AT_ONCE)
    durations = (observations.ends - observations.starts)[::every]
    shares = _shares(timeline, solution.sites, wanted, every)
    variance = _sandwich(shares, durations, solution.residual[::every] ** 2) / every
    return np.sqrt(variance[:-1])


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """The windows in which spans begin (or end)."""

    window: Indices
    part: Floats
    """Seconds of the window that belong to the span."""
    width: Floats
    placement: Floats
    """Standard deviation of where the nearest end of the window lies."""
    noise: Floats
    """Standard deviation of what the meter had counted there."""
    outside: Floats
    """Gross watts of what runs on the other side."""


def _reading_noise(observations: Observations, baseline: Baseline) -> float:
    """Standard deviation of one reading of the idle machine, in watts: it is background, not a doubt of the model."""
    seconds = observations.resolution
    return (
        float(baseline.noise(np.array([seconds / observations.overlap]))[0]) * observations.overlap / seconds
    )


def _ends(
    timeline: Timeline, solution: Solution, baseline: Baseline, gross: Floats, idle: Floats, noise: Floats
) -> Floats:
    """What the two ends of a span add: windows misplaced in time, and energy that could be its
    neighbour's."""
    observations, spans = timeline.observations, timeline.spans
    before, after = timeline.neighbours(solution.watts)
    doubt, doubted = _doubt(timeline, solution, gross, noise)
    alone = 1.0 / solution.members[:-1]
    total = np.zeros(len(spans.starts))
    for first in range(0, len(total), SPANS_AT_ONCE):
        rows = slice(first, first + SPANS_AT_ONCE)
        starts = _end(observations, spans.starts[rows], before[rows] + idle[rows], at_start=True)
        ends = _end(observations, spans.ends[rows], after[rows] + idle[rows], at_start=False)
        same = starts.window == ends.window
        lengths = spans.ends[rows] - spans.starts[rows]
        if observations.shift:
            total[rows] += (1.0 - alone[rows]) * _shifted(observations, starts, ends, gross[rows])
        for end in (starts, ends):
            part = np.where(same, np.minimum(lengths, end.width), end.part)
            total[rows] += end.noise**2
            total[rows] += _misplaced(observations, end, part, same, gross[rows], lengths, alone[rows])
            own = part * doubt[rows]
            known = 1.0 - own / np.maximum(doubted[end.window], np.maximum(own, 1e-30))
            # Who takes all that a window holds takes the background of the rest of it too.
            rest = alone[rows] * baseline.noise(end.width - part) ** 2
            total[rows] += np.where(same, 0.5, 1.0) * (end.width * own * known + rest)
    return total


def _shifted(observations: Observations, starts: _End, ends: _End, gross: Floats) -> Floats:
    """Variance from all windows lying off together: what one end gains the other loses."""
    gained = starts.part / starts.width * (gross - starts.outside)
    lost = ends.part / ends.width * (gross - ends.outside)
    return np.asarray(observations.shift**2 * np.where(starts.window == ends.window, 0.0, gained - lost) ** 2)


def _misplaced(
    observations: Observations,
    end: _End,
    part: Floats,
    same: npt.NDArray[np.bool_],
    gross: Floats,
    lengths: Floats,
    alone: Floats,
) -> Floats:
    """Variance from not knowing where exactly the windows lie in which spans begin (or end)."""
    share = part / end.width
    sigma = np.minimum(end.placement, end.width)
    inner = np.where(same, share, 1.0 - share) * gross
    outer = np.where(same, 1.0 - share, share) * end.outside
    shared = inner**2 + outer**2
    # A short call that is the only one of its site takes all that its windows hold beyond the neighbours.
    near = np.exp(-0.5 * ((end.width - end.part) / np.maximum(sigma, 1e-12)) ** 2)
    lost = gross * np.minimum(lengths / np.maximum(sigma, 1e-12), 1.0) * near
    apart = np.maximum(sigma**2 - observations.shift**2, 0.0)
    # Within one window a shift common to all takes as much at one end as it gives at the other.
    taken = np.where(same, apart, sigma**2) * end.outside**2 + (sigma * lost) ** 2
    return np.asarray((1.0 - alone) * apart * shared + alone * taken)


def _end(observations: Observations, moments: Floats, outside: Floats, *, at_start: bool) -> _End:
    last = len(observations) - 1
    window = np.clip(
        np.searchsorted(observations.ends, moments, side="right" if at_start else "left"), 0, last
    )
    left, right = observations.starts[window], observations.ends[window]
    width = np.maximum(right - left, 1e-12)
    inside = right - moments if at_start else moments - left
    into = np.clip((moments - left) / width, 0.0, 1.0)
    placement, noise = (
        np.sqrt((1.0 - into) * sigma[np.maximum(window - 1, 0)] ** 2 + into * sigma[window] ** 2)
        for sigma in (observations.placement, observations.noise)
    )
    return _End(window, np.clip(inside, 0.0, width), width, placement, noise, np.maximum(outside, 0.0))


def _doubt(timeline: Timeline, solution: Solution, gross: Floats, noise: Floats) -> tuple[Floats, Floats]:
    """Variance of each span's power about what the model says of it, in square watts; and its sum per window.

    For long spans this is what the model leaves over inside them, beyond the meter's timing. A short span
    whose site was seen only a few times fits the model whatever its true power was: it is in doubt by that
    power itself, and so is the program in the short gaps beside it.
    """
    observations, spans = timeline.observations, timeline.spans
    durations = observations.ends - observations.starts
    lengths = np.maximum(spans.lengths, 1e-12)
    left_over = timeline.collect(timeline.density(solution.residual**2)) / lengths
    timing = 2.0 * float(np.median(observations.placement / durations)) ** 2
    doubt = np.maximum(left_over - timing * gross**2 - noise, 0.0)
    few = np.minimum(2.0 / solution.members, 1.0)
    few[-1] = 0.0
    short = (few > 0).astype(np.float64)
    if short.any():
        local = np.maximum(timeline.collect(timeline.density(solution.net**2)) / lengths, 0.0)
        doubt += few[:-1] * local
    doubted = timeline.expected(np.append(doubt, 0.0))
    if short.any():
        unknown, calls = timeline.expected(few), timeline.expected(short)
        blind = np.divide(unknown, calls, out=np.zeros_like(calls), where=calls > 1e-3 * durations)
        beyond = np.maximum(solution.residual**2 - timing * solution.net**2, 0.0)
        doubted += timeline.between_seconds() * (beyond + blind * solution.net**2)
    return doubt, doubted


def _unseen(timeline: Timeline, solution: Solution, noise: Floats) -> Floats:
    """Time at which no window looked: the power there is that of the seen part, or anything up to the
    highest."""
    observations, spans = timeline.observations, timeline.spans
    unseen = timeline.unseen
    if not np.any(unseen > 0):
        return np.zeros(len(unseen))
    step = observations.resolution / observations.overlap
    lengths = np.maximum(spans.lengths, 1e-12)
    left_over = timeline.collect(timeline.density(solution.residual**2)) / np.maximum(lengths - unseen, 1e-12)
    highest = float(np.max(np.abs(solution.net), initial=0.0))
    fluctuation = unseen * step * np.maximum(left_over - noise, 0.0)
    # A window shows only the mean over its length of a call that is shorter.
    highest_of_short = highest * np.maximum(observations.resolution / lengths, 1.0)
    blind = (unseen * highest_of_short * np.clip(1.0 - timeline.seen_fraction() / SEEN_ENOUGH, 0.0, 1.0)) ** 2
    # How much of a short call was seen is itself known only as well as the windows are placed.
    placement = float(np.median(observations.placement))
    misjudged = np.minimum(np.sqrt(2.0) * placement / np.maximum(lengths - unseen, 1e-12), 1.0)
    watts = np.where(np.isinf(solution.members[:-1]), 0.0, np.abs(solution.watts[:-1]))
    variance: Floats = fluctuation + blind + (watts * lengths * misjudged) ** 2
    return variance


def _running_mean(timeline: Timeline, solution: Solution) -> Floats:
    """Noise of the single readings of a running mean, which undoing the mean lets through.

    The powers are distinguished by least squares from readings whose noise is in proportion to what they show.
    With very many powers only this is said: a call is in as many readings as windows overlap, and what runs
    beside it is known from some others, the fewer the more powers there are to find.
    """
    observations = timeline.observations
    durations = observations.ends - observations.starts
    numbers, group = distinct(solution.groups)
    powers_per_reading = min(len(numbers) / len(observations), 0.5)
    shown = (observations.joules / durations) ** 2
    left_over = float(np.mean(solution.residual**2)) / (1.0 - powers_per_reading)
    rounding = observations.reading_noise / observations.resolution
    noise = left_over * shown / max(float(np.mean(shown)), 1e-30) + rounding**2
    seconds = timeline.own_seconds()
    if len(numbers) <= MOST_POWERS and len(numbers) * (len(observations) + len(seconds)) <= MOST_SHARES:
        total = np.maximum(sums(group, seconds, len(numbers)), 1e-12)
        shares = _shares(timeline, solution.groups, numbers.tolist(), 1) / total[:, None]
        return np.asarray((_sandwich(shares, durations, noise)[group] * (seconds / total[group]) ** 2)[:-1])
    step = observations.resolution / observations.overlap
    beside = 1.0 + observations.overlap * powers_per_reading / 2.0
    variance = observations.resolution * step * beside * float(np.mean(noise))
    return np.full(len(seconds) - 1, variance)


def _shares(timeline: Timeline, groups: Indices, wanted: list[int], every: int) -> Floats:
    """Seconds of every so many windows that belong to each group: what a watt of the group adds to them."""
    return np.stack([timeline.expected((groups == group).astype(np.float64))[::every] for group in wanted])


def _sandwich(shares: Floats, durations: Floats, noise: Floats) -> Floats:
    """Variances of what belongs to each share when the windows' watts have these variances."""
    information = shares @ (shares / durations).T
    information += 1e-9 * np.trace(information) * np.eye(len(information)) / len(information)
    inverse = np.linalg.pinv(information, hermitian=True)
    variance = np.diagonal(inverse @ ((shares * noise) @ shares.T) @ inverse)
    return np.asarray(np.maximum(variance, 0.0))
