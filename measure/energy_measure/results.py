"""What repeated runs of a program say together: figures per call site, and the program's own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from energy_data.model import DEVICES, Device, InputSignature, Method, Quantity
from energy_measure.call_sites import CallSite
from energy_measure.one_run import Key, OneRun
from energy_measure.statistics import NORMAL_95, SEEN_ENOUGH, Interval, combine, is_resolved, summarise


@dataclass(frozen=True, slots=True)
class MeasuredCall:
    """One call site over all runs; seconds and joules are per call unless they say otherwise."""

    site: CallSite
    tracing: bool
    count: int
    """Calls in one run."""
    repeats: int
    seconds: float
    joules: Mapping[Device, Quantity]
    total: float
    interval: Interval
    interval_runs: int
    """Runs behind the interval: a call that is replayed in one run is not in the others."""
    method: Method
    exclusive: float
    tail: float | None
    signature: InputSignature

    @property
    def resolved(self) -> bool:
        """Whether the energy is significantly above zero."""
        return bool(is_resolved(self.interval.low))

    @property
    def run_joules(self) -> float:
        """Of all calls in one run."""
        return self.total * self.count

    def as_json(self) -> dict[str, Any]:
        """As `energy-lsp measure --format json` prints it: joules and seconds of all calls in one run."""
        known = {device: self._run_joules(device) for device in DEVICES}
        return {
            "api": self.site.api,
            "file": self.site.file,
            "line": self.site.line,
            "count": self.count,
            "seconds": self.seconds * self.count,
            "joules": {
                **known,
                "total": self.run_joules if self.resolved else None,
                "per_call": self.total if self.resolved else None,
            },
            "interval": {"low": self.interval.low, "high": self.interval.high},
            "interval_covers": "sampling" if self.interval_runs == 1 else "sampling and runs",
            "resolved": self.resolved,
            "method": self.method,
            "trace_time": self.tracing,
        }

    def _run_joules(self, device: Device) -> float | None:
        found = self.joules.get(device)
        return found.value * self.count if found is not None and self.resolved else None


@dataclass(frozen=True, slots=True)
class MeasuredProgram:
    """An entry point over all its runs."""

    seconds: float
    joules: Mapping[Device, Quantity]
    interval: Interval
    """Of the joules of all devices together."""
    variation: float
    """Coefficient of variation over the runs; not a number for a single one."""
    outliers: tuple[int, ...]
    """Runs, counted from 0, that lie far from the others; they are part of the mean all the same."""
    unaccounted: float
    """Joules that no call accounts for."""
    repeats: int
    calls: tuple[MeasuredCall, ...]
    """The hungriest first."""

    @property
    def total(self) -> float:
        """Joules of all devices."""
        return sum(quantity.value for quantity in self.joules.values())


def combine_runs(runs: Sequence[OneRun], sites: Sequence[CallSite]) -> MeasuredProgram:
    """Figures of one entry point from its runs."""
    totals = [sum(quantity.value for quantity in run.joules.values()) for run in runs]
    errors = [_together(run.joules.values()) for run in runs]
    summary = summarise(totals)
    keys = sorted({key for run in runs for key in run.energies}, key=lambda key: (key.site, key.tracing))
    calls = [_call(key, sites[key.site], runs) for key in keys]
    calls.sort(key=lambda call: (-call.run_joules if call.resolved else 0.0, call.site.file, call.site.line))
    return MeasuredProgram(
        seconds=sum(run.seconds for run in runs) / len(runs),
        joules=_mean_quantities([run.joules for run in runs]),
        interval=combine(totals, errors)[1],
        variation=summary.variation,
        outliers=summary.outliers,
        # In a program of a few milliseconds noise may make the calls' part less than nothing.
        unaccounted=min(max(sum(run.outside for run in runs) / len(runs), 0.0), max(summary.mean, 0.0)),
        repeats=len(runs),
        calls=tuple(calls),
    )


def _call(key: Key, site: CallSite, runs: Sequence[OneRun]) -> MeasuredCall:
    seen = [run.energies[key] for run in runs if key in run.energies]
    looked = [one.seen for one in seen]
    mean, interval = combine([one.total.value for one in seen], [one.total.stderr for one in seen], looked)
    if all(key in run.blurred for run in runs if key in run.energies):
        # Repeating what cannot be told from its neighbours does not make it clearer.
        interval = Interval(min(interval.low, 0.0), max(interval.high, 0.0))
    if mean < 0.0:
        # No call gives energy back: below zero it is chance, and what the call lies below counts from zero.
        interval = Interval(interval.low, max(interval.high, interval.high - mean))
    count = sum(one.count for one in seen)
    call = MeasuredCall(
        site=site,
        tracing=key.tracing,
        count=max(1, round(count / len(seen))),
        repeats=len(seen),
        seconds=sum(one.seconds * one.count for one in seen) / count,
        joules=_mean_quantities([one.joules for one in seen], looked),
        total=mean,
        interval=interval,
        interval_runs=sum(part >= SEEN_ENOUGH for part in looked) or len(seen),
        method="in place",
        exclusive=combine(
            [one.exclusive.value for one in seen], [one.exclusive.stderr for one in seen], looked
        )[0],
        tail=_mean([one.tail_joules for one in seen if one.tail_joules is not None]),
        signature=_signature(key.site, runs),
    )
    replays = [] if key.tracing else [run.replays[key.site] for run in runs if key.site in run.replays]
    resolved = [replay for replay in replays if replay.resolved]
    if call.resolved or not resolved:
        return call
    if len(resolved) == 1:
        total, interval = resolved[0].total.value, resolved[0].interval
    else:
        total, interval = combine([r.total.value for r in resolved], [r.total.stderr for r in resolved])
    joules = _mean_quantities([replay.joules for replay in resolved])
    nested = call.total - call.exclusive
    return replace(
        call,
        joules=joules,
        total=total,
        interval=interval,
        interval_runs=len(resolved),
        method="replayed",
        exclusive=total - nested,
    )


def _signature(site: int, runs: Sequence[OneRun]) -> InputSignature:
    return next((run.signatures[site] for run in runs if site in run.signatures), InputSignature())


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _together(quantities: Iterable[Quantity]) -> float:
    """Standard error of a sum of independent figures."""
    return math.sqrt(sum(quantity.stderr**2 for quantity in quantities))


def _mean_quantities(
    parts: Sequence[Mapping[Device, Quantity]], seen: Sequence[float] | None = None
) -> dict[Device, Quantity]:
    """Means over runs, with the larger of what the runs say of their error and what their scatter says."""
    found: dict[Device, Quantity] = {}
    for device in DEVICES:
        having = [number for number, part in enumerate(parts) if device in part]
        if having:
            values = [parts[number][device] for number in having]
            looked = None if seen is None else [seen[number] for number in having]
            mean, interval = combine([q.value for q in values], [q.stderr for q in values], looked)
            found[device] = Quantity(mean, (interval.high - interval.low) / (2 * NORMAL_95))
    return found
