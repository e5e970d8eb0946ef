"""What repeated runs of a program say together: figures per call site, and the program's own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from energy_data.model import DEVICES, PHASES, Covers, Device, InputSignature, Method, PhaseName, Quantity
from energy_measure.attribution.phases import PhaseShare
from energy_measure.attribution.replay import Replayed
from energy_measure.attribution.site_energy import SiteEnergy
from energy_measure.inside.parts import MeasuredPart, combine_parts, with_own_line
from energy_measure.inside.recorded import Place
from energy_measure.program.call_sites import CallSite
from energy_measure.run.one_run import Key, OneRun, numbered
from energy_measure.statistics import NORMAL_95, SEEN_ENOUGH, Interval, combine, is_resolved, summarise
from energy_measure.usual_spread import NO_SPREAD, widened

TRAINERS = frozenset({"fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch"})
"""Methods of a model that run it by themselves."""


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
    inside: tuple[MeasuredPart, ...] = ()
    """What all calls of one run went into, the costliest first; empty where that is not known."""
    usual_spread: float | None = None
    """Relative standard deviation between runs that the interval of one run was widened by."""
    first_joules: float | None = None
    """Of the first call of a run; the figures per call are then those of the later ones."""
    first_seconds: float | None = None

    @property
    def resolved(self) -> bool:
        """Whether the energy is significantly above zero."""
        return bool(is_resolved(self.interval.low))

    @property
    def run_joules(self) -> float:
        """Of all calls in one run, the first one included."""
        return self.total * self.count + self._beyond_first(self.total)

    def _beyond_first(self, per_call: float) -> float:
        """By how much the first call differs from the later ones."""
        return 0.0 if self.first_joules is None else max(self.first_joules, 0.0) - per_call

    @property
    def interval_covers(self) -> Covers:
        """What the interval holds."""
        if self.interval_runs > 1:
            return "sampling and runs"
        return "sampling" if self.usual_spread is None else "runs of this machine"

    @property
    def run_seconds(self) -> float:
        """Of all calls in one run."""
        first = 0.0 if self.first_seconds is None else self.first_seconds - self.seconds
        return self.seconds * self.count + first

    def as_json(self) -> dict[str, Any]:
        """As `energy-lsp measure --format json` prints it: joules and seconds of all calls in one run."""
        known = {device: self._run_joules(device) for device in DEVICES}
        return {
            "api": self.site.api,
            "kind": self.site.kind,
            "file": self.site.file,
            "line": self.site.line if self.site.cell is None else self.site.cell_line,
            "column": self.site.column,
            "cell": self.site.cell,
            "function": self.site.function,
            "count": self.count,
            "times": self.count,
            "times_from": "measured",
            "seconds": self.run_seconds,
            "joules": {
                **known,
                "total": self.run_joules if self.resolved else None,
                "per_call": self.total if self.resolved else None,
            },
            "total_joules": self.run_joules if self.resolved else None,
            "first_joules": self.first_joules,
            "interval": {"low": self.interval.low, "high": self.interval.high},
            "interval_covers": self.interval_covers,
            "resolved": self.resolved,
            "method": self.method,
            "trace_time": self.tracing,
            "shapes": list(self.signature.arguments),
        }

    def _run_joules(self, device: Device) -> float | None:
        found = self.joules.get(device)
        if found is None or not self.resolved:
            return None
        share = found.value / self.total if self.total > 0 else 0.0
        return found.value * self.count + self._beyond_first(self.total) * share


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
    """The costliest first."""
    phases: Mapping[PhaseName, PhaseShare]
    """Where all of it went; they add up to the whole."""

    @property
    def total(self) -> float:
        """Joules of all devices."""
        return sum(quantity.value for quantity in self.joules.values())


def combine_runs(
    runs: Sequence[OneRun], sites: Sequence[CallSite], spread: Mapping[Method, float] = NO_SPREAD
) -> MeasuredProgram:
    """Figures of one entry point from its runs; `spread`: between runs, for figures of a single one."""
    totals = [sum(quantity.value for quantity in run.joules.values()) for run in runs]
    errors = [_together(run.joules.values()) for run in runs]
    summary = summarise(totals)
    keys = sorted({key for run in runs for key in run.energies}, key=lambda key: (key.site, key.tracing))
    calls = [_looked_into(_call(key, sites[key.site], runs), key, runs) for key in keys]
    calls = _with_own_lines(calls)
    calls = [_with_spread(call, spread) for call in calls]
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
        phases=_mean_phases(runs),
    )


def _with_spread(call: MeasuredCall, spread: Mapping[Method, float]) -> MeasuredCall:
    """The figure of one run with the spread that runs usually have: the meter's own interval is no interval of runs."""
    usual = spread.get(call.method)
    if call.interval_runs > 1 or usual is None or not call.resolved:
        return call
    interval = Interval(*widened(call.total, call.interval.low, call.interval.high, usual))
    return replace(call, interval=interval, usual_spread=usual)


def _mean_phases(runs: Sequence[OneRun]) -> dict[PhaseName, PhaseShare]:
    """Means over the runs, part by part: what is missing in a run was nothing there."""
    found: dict[PhaseName, PhaseShare] = {}
    for name in PHASES:
        shares = [run.phases[name] for run in runs]
        parts = {part: 0.0 for share in shares for part in share.detail}
        for share in shares:
            for part, value in share.detail.items():
                parts[part] += value / len(runs)
        found[name] = PhaseShare(
            sum(share.joules for share in shares) / len(runs),
            sum(share.seconds for share in shares) / len(runs),
            parts,
        )
    return found


def _call(key: Key, site: CallSite, runs: Sequence[OneRun]) -> MeasuredCall:
    """Figures of one site: of the calls after the first where they are known, as they ran or as they were replayed."""
    whole = _in_place(key, site, runs, [run.energies[key] for run in runs if key in run.energies])
    having = [run for run in runs if key in run.firsts and key in run.later]
    replays = [] if key.tracing else [run.replays[key.site] for run in runs if key.site in run.replays]
    resolved = [replay for replay in replays if replay.resolved]
    if having:
        later = _in_place(key, site, runs, [run.later[key] for run in having])
        later = replace(
            later,
            count=whole.count,
            repeats=whole.repeats,
            first_joules=_mean([run.firsts[key].joules for run in having]),
            first_seconds=_mean([run.firsts[key].seconds for run in having]),
        )
        if later.resolved:
            return later
        return _replayed(later, resolved) if resolved else whole
    return whole if whole.resolved or not resolved else _replayed(whole, resolved)


def _in_place(key: Key, site: CallSite, runs: Sequence[OneRun], seen: Sequence[SiteEnergy]) -> MeasuredCall:
    looked = [one.seen for one in seen]
    mean, interval = combine([one.total.value for one in seen], [one.total.stderr for one in seen], looked)
    if all(key in run.blurred for run in runs if key in run.energies):
        # Repeating what cannot be known from its neighbours does not make it clearer.
        interval = Interval(min(interval.low, 0.0), max(interval.high, 0.0))
    if mean < 0.0:
        # No call gives energy back: below zero it is chance, and what the call lies below counts from zero.
        interval = Interval(interval.low, max(interval.high, interval.high - mean))
    count = sum(one.count for one in seen)
    return MeasuredCall(
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


def _replayed(call: MeasuredCall, resolved: Sequence[Replayed]) -> MeasuredCall:
    """The same call as it costs when it is repeated."""
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


def _looked_into(call: MeasuredCall, key: Key, runs: Sequence[OneRun]) -> MeasuredCall:
    """The same call with what is inside of it, where that was looked at and the call's own energy is known."""
    found = [run.inside.accounts.get(numbered(key)) for run in runs]
    accounts = [account for account in found if account is not None]
    if not accounts or not call.resolved or call.method == "replayed":
        return call
    error = (call.interval.high - call.interval.low) / (2 * NORMAL_95) * call.count
    return replace(call, inside=tuple(combine_parts(accounts, call.run_joules, error)))


def _with_own_lines(calls: Sequence[MeasuredCall]) -> list[MeasuredCall]:
    """The same calls; no layer inside of one is said to be called by another of them."""
    trainers = [call.site for call in calls if call.inside and call.site.api.rpartition(".")[2] in TRAINERS]
    lines = {(site.file, site.line) for site in trainers}
    found = []
    for call in calls:
        site = call.site
        cell = (site.cell, site.cell_line) if site.cell is not None else (0, 0)
        own = Place(site.file, site.line, site.function, cell)
        others = lines - {(site.file, site.line)}
        found.append(replace(call, inside=with_own_line(call.inside, own, others)))
    return found


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
