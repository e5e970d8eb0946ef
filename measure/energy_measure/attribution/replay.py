"""Calls too short for the meter: which to repeat, for how long, and what the repeats say of one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from energy_data.model import Device, Quantity
from energy_measure.attribution.baseline import IdleWindow, baseline_of, no_baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.observations import TooFewReadingsError, observe
from energy_measure.attribution.site_energy import SiteEnergy
from energy_measure.attribution.solver import attribute
from energy_measure.attribution.spans import Floats
from energy_measure.sampling.trace import SampledTrace
from energy_measure.statistics import Interval, is_resolved, student_95

SHORTEST_WINDOW = 0.05
UPDATES_PER_WINDOW = 3
"""A window holds at least so many updates of the slowest meter."""
UPDATES_PER_REST = 2
WINDOWS, QUICK_WINDOWS = 6, 4
EXPECTATION = 15.0
"""What attribution expects of the scatter, set right by the other sites', weighs as much as so many windows at most …"""
FAR_MORE = 5.0
"""… unless the windows' variance is so many times larger, which by chance it is once in a hundred times."""
RESTS = -1
"""The site number under which the probe reports its rests."""
LONGEST_CALL = 1.0
"""A call that takes longer than this in place is long enough for any meter: repeating it would not help."""


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """What to ask of the probe."""

    sites: Mapping[int, float]
    """Seconds of each window, by call site."""
    windows: int
    rest_seconds: float
    """Before each window."""
    settle_seconds: float
    """Instead of that before the sites take their turns forth and back, and at the end: long enough to see nothing
    but rest."""
    stagger_seconds: float = 0.0
    """By up to so much rests are longer, each by another part of it."""

    @property
    def seconds(self) -> float:
        """About how long the replay takes."""
        if not self.sites:
            return 0.0
        settles = (self.windows + 1) // 2
        rests = self.windows * len(self.sites)
        return (
            self.windows * sum(self.sites.values())
            + (rests - settles) * self.rest_seconds
            + (settles + 1) * self.settle_seconds
            + rests * self.stagger_seconds / 2.0
        )

    def as_request(self) -> dict[str, Any]:
        """The plan as the probe reads it."""
        sites = {str(site): seconds for site, seconds in self.sites.items()}
        return {
            "sites": sites,
            "windows": self.windows,
            "rest": self.rest_seconds,
            "settle": self.settle_seconds,
            "stagger": self.stagger_seconds,
        }


@dataclass(frozen=True, slots=True)
class Replayed:
    """Net energy per call from repeated windows."""

    site: int
    count: int
    """Calls in one window."""
    windows: int
    seconds: float
    """Per call, without the loop."""
    joules: Mapping[Device, Quantity]
    total: Quantity
    interval: Interval

    @property
    def resolved(self) -> bool:
        """Whether even the repeats could be distinguished from nothing."""
        return is_resolved(self.interval.low)


def window_seconds(traces: Iterable[SampledTrace]) -> float:
    """How long a window has to be for these meters: 50 ms, and three updates of the slowest."""
    slowest = max((trace.update_period_s for trace in traces), default=0.0)
    return max(SHORTEST_WINDOW, UPDATES_PER_WINDOW * slowest)


def rest_seconds(traces: Iterable[SampledTrace]) -> float:
    """How long a rest has to be to tell one window from the next: two updates."""
    return max([SHORTEST_WINDOW, *(UPDATES_PER_REST * trace.update_period_s for trace in traces)])


def settle_seconds(traces: Iterable[SampledTrace]) -> float:
    """How long a rest has to be to show the baseline: for a running mean also its whole length with nothing in it."""
    traces = list(traces)
    averaging = [trace.window_s for trace in traces if trace.window_s > trace.update_period_s]
    return rest_seconds(traces) + max(averaging, default=0.0)


def stagger_seconds(traces: Iterable[SampledTrace]) -> float:
    """By how much rests have to differ so that a meter's updates do not always fall on the same parts of the windows.

    A running mean longer than its period sees every part anyway.
    """
    return max((t.update_period_s for t in traces if t.window_s <= t.update_period_s), default=0.0)


def plan_replay(
    sites: Iterable[SiteEnergy],
    replayable: Iterable[int],
    traces: Sequence[SampledTrace],
    *,
    quick: bool = False,
) -> ReplayPlan:
    """Which calls to replay: those the meter could not resolve, free of side effects, and short."""
    allowed = frozenset(replayable)
    seconds = window_seconds(traces)
    wanted = {
        site.site: max(seconds, 3.0 * site.seconds)
        for site in sites
        if not site.resolved and site.site in allowed and site.seconds < LONGEST_CALL
    }
    return ReplayPlan(
        wanted,
        QUICK_WINDOWS if quick else WINDOWS,
        rest_seconds(traces),
        settle_seconds(traces),
        stagger_seconds(traces),
    )


def replayed(
    windows: Sequence[Mapping[str, Any]], traces: Sequence[SampledTrace]
) -> tuple[dict[int, Replayed], dict[int, str]]:
    """Joules per call from the windows that the probe ran; and why the others could not be replayed."""
    problems = {int(w["site"]): str(w["problem"]) for w in windows if "problem" in w}
    ran = [w for w in windows if "problem" not in w and int(w["site"]) != RESTS]
    rests = [IdleWindow(int(w["begin"]), int(w["end"])) for w in windows if int(w["site"]) == RESTS]
    if not ran:
        return {}, problems
    ran.sort(key=lambda w: int(w["begin"]))
    begins, ends = [int(w["begin"]) for w in ran], [int(w["end"]) for w in ran]
    # Every window is a call of its own: windows of one site must not be drawn towards each other.
    events = Events.of(range(len(ran)), begins, ends)
    energy: dict[Device, _Windows] = {}
    for trace in traces:
        try:
            found = _attributed(trace, events, rests)
        except TooFewReadingsError:
            continue  # a device that vanished
        energy[trace.device] = energy.get(trace.device, _Windows.none(len(ran))).plus(found)
    if not energy:
        return {}, {int(w["site"]): "the meters gave no readings" for w in ran}
    parts = {site: _per_call(site, ran, energy) for site in dict.fromkeys(int(w["site"]) for w in ran)}
    if any(trace.window_s > trace.update_period_s for trace in traces):
        parts = {site: {d: own.in_pairs() for d, own in found.items()} for site, found in parts.items()}
    return {site: _replayed(site, ran, parts) for site in parts}, problems


def _attributed(trace: SampledTrace, events: Events, rests: Sequence[IdleWindow]) -> _Windows:
    observations = observe(trace)
    seconds = (events.end - events.start) * 1e-9
    if trace.estimated or not rests:
        found = attribute(trace, events, no_baseline(observations.origin_ns))
        return _Windows(found.joules, found.stderr, np.zeros_like(seconds))
    baseline = baseline_of(observations, rests)
    if observations.overlap <= 1.0:
        found = attribute(trace, events, baseline)
        # Neighbouring windows share a rest: half of what the rests get wrong does not show in their scatter.
        return _Windows(
            found.joules, found.stderr, found.level_error * seconds / np.sqrt(len(baseline.times))
        )
    # A running mean never shows a short rest by itself: only what all rests draw together can be told, and
    # what is wrong with that is wrong over the whole length of the mean.
    found = attribute(trace, events, baseline.flattened(), alike_between=True)
    return _Windows(
        found.joules, found.stderr, found.level_error * np.maximum(seconds, observations.resolution)
    )


def _per_call(
    site: int, ran: Sequence[Mapping[str, Any]], energy: Mapping[Device, _Windows]
) -> dict[Device | None, _Windows]:
    """One call's part of each window of a site, by device and (None) in all; the loop takes its share of time, and so
    of energy."""
    rows, counts, each, empty = _loops(site, ran)
    kept = np.clip(1.0 - empty / np.maximum(each, 1.0), 0.0, 1.0) / counts
    parts: dict[Device | None, _Windows] = {None: _Windows.none(len(rows))}
    for device, found in energy.items():
        parts[device] = found.only(rows, kept)
        parts[None] = parts[None].plus(parts[device])
    return parts


def _loops(site: int, ran: Sequence[Mapping[str, Any]]) -> tuple[list[int], Floats, Floats, Floats]:
    """The windows of a site: their rows, calls in them, nanoseconds a call, and nanoseconds of the loop in that."""
    rows = [row for row, window in enumerate(ran) if int(window["site"]) == site]
    windows = [ran[row] for row in rows]
    counts = np.array([float(window["count"]) for window in windows])
    each = np.array([(window["end"] - window["begin"]) for window in windows]) / counts
    return rows, counts, each, np.array([float(window.get("empty_ns", 0.0)) for window in windows])


def _replayed(
    site: int, ran: Sequence[Mapping[str, Any]], parts: Mapping[int, Mapping[Device | None, _Windows]]
) -> Replayed:
    """The figures of one site, beside those of all."""
    found = {
        device: own.mean([others[device] for other, others in parts.items() if other != site])
        for device, own in parts[site].items()
    }
    mean, stderr, reach = found.pop(None)
    _, counts, each, empty = _loops(site, ran)
    return Replayed(
        site,
        round(float(np.median(counts))),
        len(counts),
        float(np.mean(each - empty)) * 1e-9,
        {device: Quantity(*figures[:2]) for device, figures in found.items() if device is not None},
        Quantity(mean, stderr),
        Interval(mean - reach * stderr, mean + reach * stderr),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """Joules of windows, the standard error that attribution gives each, and the part of it common to all."""

    joules: Floats
    stderr: Floats
    common: Floats

    @classmethod
    def none(cls, count: int) -> _Windows:
        return cls(np.zeros(count), np.zeros(count), np.zeros(count))

    def plus(self, other: _Windows) -> _Windows:
        return _Windows(
            self.joules + other.joules,
            np.hypot(self.stderr, other.stderr),
            np.hypot(self.common, other.common),
        )

    def only(self, rows: Sequence[int], factor: Floats) -> _Windows:
        return _Windows(self.joules[rows] * factor, self.stderr[rows] * factor, self.common[rows] * factor)

    def in_pairs(self) -> _Windows:
        """Windows of a turn forth and the turn back as one.

        Between two long rests a running mean tells the sum of them better than each: what one lacks another has.
        """
        if len(self.joules) % 2:
            return self
        joules, stderr, common = (part.reshape(-1, 2) for part in (self.joules, self.stderr, self.common))
        return _Windows(np.mean(joules, axis=1), np.hypot(*stderr.T) / 2.0, np.mean(common, axis=1))

    @property
    def expected(self) -> float:
        """The variance that attribution expects of the windows."""
        return float(np.mean(self.stderr**2))

    @property
    def excess(self) -> float:
        """How many times as much they vary; not a number where nothing can be said."""
        if len(self.joules) < 2 or self.expected <= 0.0:
            return float("nan")
        return float(np.var(self.joules, ddof=1)) / self.expected

    def mean(self, others: Sequence[_Windows]) -> tuple[float, float, float]:
        """Mean, its standard error, and how many of those reach to the end of the 95% interval.

        A few windows say little of their own scatter. So what attribution expects of it has its say, multiplied by
        what the other sites' windows say is wrong with that, unless these scatter far more.
        """
        count = len(self.joules)
        freedom = float(count - 1)
        excess, weight = _usual_excess(others)
        expected = self.expected * excess
        variance = float(np.var(self.joules, ddof=1)) if count > 1 else expected
        if variance <= FAR_MORE * expected:
            variance = (weight * expected + freedom * variance) / max(weight + freedom, 1.0)
            freedom += weight
        scatter, common = variance / count, float(np.mean(self.common)) ** 2
        # Welch and Satterthwaite: the part that all windows have in common is not known from their scatter.
        freedom *= ((scatter + common) / scatter) ** 2 if scatter > 0.0 else 1.0
        stderr = float(np.sqrt(scatter + common))
        return float(np.mean(self.joules)), stderr, student_95(max(freedom, 1.0))


def _usual_excess(sites: Sequence[_Windows]) -> tuple[float, float]:
    """How many times more than expected windows vary, without sites that stand out; and how much that weighs."""
    known = [site for site in sites if np.isfinite(site.excess)]
    if not known:
        return 1.0, 0.0
    most = FAR_MORE * float(np.median([site.excess for site in known]))
    usual = [site for site in known if site.excess <= most]
    weight = sum(len(site.joules) - 1 for site in usual)
    return float(np.mean([site.excess for site in usual])), min(float(weight), EXPECTATION)
