"""The account of one run: for each call that was looked into, what its energy went into."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import multimode

import numpy as np

from energy_data.model import Device
from energy_measure.attribution.baseline import Baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.observations import observe
from energy_measure.attribution.solver import DeviceAttribution
from energy_measure.attribution.spans import sums
from energy_measure.injected.inside import reader
from energy_measure.inside.origins import RUNTIME, TRACING, Found, FusedIn, Origin, Origins, Pass
from energy_measure.inside.recorded import Place, Recorded
from energy_measure.inside.splitting import (
    Activity,
    Density,
    Floats,
    Integers,
    Shares,
    is_loaded,
    joined,
    percentile_weights,
    shares,
)
from energy_measure.inside.strata import Stratum, strata
from energy_measure.sampling.trace import SampledTrace

NEVER = joined(())
MOST_CALLED = 4
"""Lines that call a layer, at most."""


@dataclass(slots=True)
class RunPart:
    """What one origin had of a call's energy in one run."""

    origin: Origin
    joules: float = 0.0
    variance: float = 0.0
    seconds: float = 0.0
    count: float = 0.0
    observed: int = 0
    operations: dict[str, float] = field(default_factory=dict)
    """Joules by the operations' types."""
    called: dict[Place, float] = field(default_factory=dict)
    """Joules by the lines that call the layer."""
    fused: dict[FusedIn, None] = field(default_factory=dict)
    """Layers and lines that run as part of it."""


@dataclass(slots=True)
class CallAccount:
    """A call of one run: its energy, and the parts of it, which add up to it."""

    joules: float
    parts: dict[tuple[str, Pass], RunPart]
    looked_at: float
    """Part of its energy that was drawn while the profiler looked."""
    loaded: bool
    """Weights were used, because the machine had other work."""
    whole: bool = False
    """Each of its steps was looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class Metered:
    """One device: what attribution gave its calls, and its net power along the run."""

    attribution: DeviceAttribution
    power: Density

    @property
    def device(self) -> Device:
        """The device."""
        return self.attribution.device


def metered(trace: SampledTrace, attribution: DeviceAttribution, baseline: Baseline) -> Metered:
    """The net power of a trace, level over each of its windows; noise below zero counts as nothing."""
    seen = observe(trace)
    ends = np.concatenate((seen.starts[:1], seen.ends))
    net = seen.joules - baseline.energy(seen.starts, seen.ends)
    watts = np.maximum(net / np.maximum(seen.ends - seen.starts, 1e-9), 0.0)
    edges = seen.origin_ns + np.round(ends * 1e9).astype(np.int64)
    kept = np.diff(edges) > 0
    return Metered(attribution, Density(np.append(edges[:-1][kept], edges[-1]), watts[kept]))


def call_accounts(
    processes: Sequence[Recorded],
    events: Events,
    devices: Sequence[Metered],
    tracing: tuple[Integers, Integers] = NEVER,
) -> dict[int, CallAccount]:
    """Accounts by site number of the events; calls in which no step was seen have none.

    `tracing`: when graphs were built, in intervals that are in order and do not overlap.
    """
    found: dict[int, CallAccount] = {}
    for recorded in processes:
        if len(recorded.rows):
            _Process(recorded, events, devices, tracing).account(found)
    return found


class _Process:
    """One process of the program against the meters."""

    def __init__(
        self,
        recorded: Recorded,
        events: Events,
        devices: Sequence[Metered],
        tracing: tuple[Integers, Integers] = NEVER,
    ) -> None:
        self.recorded = recorded
        self.events = events
        self.devices = devices
        self.tracing = tracing
        self.steps = recorded.steps
        functions, at = np.unique(self.steps[:, 0], return_index=True)
        self.first = dict(zip(functions.tolist(), self.steps[at, 1].tolist(), strict=True))
        """When each function first began."""
        self.sessions = joined([(one.opened, one.closing) for one in recorded.sessions])
        self.overhead = joined(recorded.overhead)
        rows = recorded.rows
        self.functions = recorded.running(rows)
        self.found, numbers = self._origins(rows)
        on_gpu = rows[:, 2] == reader.DEVICE
        self.host = _Side(rows[~on_gpu], numbers[~on_gpu])
        self.gpu = _Side(rows[on_gpu], numbers[on_gpu])
        cpu_ns = float(sum(session.cpu_ns for session in recorded.sessions))
        self.loaded = is_loaded(self.host.rows, self.host.activity, cpu_ns)

    def _origins(self, rows: Integers) -> tuple[list[Found], Integers]:
        """What each row is an execution of, by number."""
        origins = Origins(self.recorded)
        keys = rows[:, 1] * (len(self.recorded.functions) + 1) + self.functions + 1
        known, numbers = np.unique(keys, return_inverse=True)
        found = []
        for key in known.tolist():
            name, function = divmod(key, len(self.recorded.functions) + 1)
            found.append(origins.of(self.recorded.names[name], self.recorded.functions.get(function - 1, "")))
        return found, numbers.astype(np.int64)

    def account(self, found: dict[int, CallAccount]) -> None:
        """Add the accounts of all calls that hold a step of this process."""
        for site in np.unique(self.events.site).tolist():
            rows = np.flatnonzero((self.events.site == site) & ~self.events.tracing)
            if not len(rows):
                continue
            starts, ends = joined(np.column_stack((self.events.start[rows], self.events.end[rows])))
            held = self._steps_in(starts, ends)
            if len(held) and site not in found:
                account = self._call(rows, starts, ends, held)
                if account is not None:
                    found[site] = account

    def _steps_in(self, starts: Integers, ends: Integers) -> Integers:
        """The steps that lie in some intervals."""
        if not len(self.steps):
            return self.steps
        at = np.searchsorted(starts, self.steps[:, 1], "right") - 1
        return self.steps[(at >= 0) & (self.steps[:, 2] <= ends[np.maximum(at, 0)])]

    def _call(self, rows: Integers, starts: Integers, ends: Integers, steps: Integers) -> CallAccount | None:
        parts: dict[tuple[str, Pass], RunPart] = {}
        total = looked = 0.0
        counted = False
        times = strata(steps, starts, ends, self.first)
        for device in self.devices:
            joules = float(np.sum(device.attribution.joules[rows]))
            if joules <= 0.0:
                continue
            power = device.power.within(starts, ends).without(*self.overhead)
            if (
                power.joules() <= 0.0
            ):  # the meter was at rest: what it counted before or after is spread evenly
                power = Density(device.power.edges, np.ones_like(device.power.watts))
                power = power.within(starts, ends).without(*self.overhead)
            if power.joules() <= 0.0:
                continue
            total += joules
            scale = joules / power.joules()
            power = Density(power.edges, power.watts * scale)
            side = self.gpu if device.device == "gpu" else self.host
            looked += self._split(power, side, times, parts)
            if side is self.host and not counted:
                counted = True
                self._count_all(parts, _level(starts, ends).without(*self.overhead), times)
        if total <= 0.0 or all(part.origin in (RUNTIME, TRACING) for part in parts.values()):
            return None  # a layer that is called to build a model runs nothing
        _close(parts, total)
        whole = Stratum(-1, steps).ratio(self.sessions, 2.0) <= 1.0
        return CallAccount(total, parts, min(1.0, looked / total), self.loaded, whole)

    def _split(
        self,
        power: Density,
        side: _Side,
        times: Sequence[Stratum],
        parts: dict[tuple[str, Pass], RunPart],
    ) -> float:
        """Split one device's energy of a call; gives the joules of it that were looked at."""
        if side is self.gpu:
            # Work ends long after the call that began it, so that steps do not bound it.
            split = self._shares(side, power.within(*self.sessions))
            self._hand_out(parts, split, power.joules(), 0.0)
            return split.looked_at
        looked = 0.0
        for stratum in times:
            own = power.within(*stratum.intervals)
            energy = own.joules()
            if energy <= 0.0:
                continue
            split = self._shares(side, self._looked_at(own, stratum))
            looked += split.looked_at
            if split.looked_at <= 0.0 and stratum.function >= 0:
                # Not looked at in this call: what other executions of the function were like says it.
                others = self.steps[self.steps[:, 0] == stratum.function]
                split = self._shares(side, _level(*joined(others[:, 1:3])).within(*self.sessions))
            building = own.within(*self.tracing).joules() / energy if stratum.function < 0 else 0.0
            self._hand_out(parts, split, energy, building)
        return looked

    def _looked_at(self, power: Density, stratum: Stratum) -> Density:
        """The part of a stratum's power that was looked at. Sessions end with a step, so that a gap is seen whole or not."""
        if stratum.function >= 0:
            return power.within(*self.sessions)
        return power.within(*joined(stratum.seen(self.sessions)[:, 1:3]))

    def _count_all(
        self, parts: dict[tuple[str, Pass], RunPart], running: Density, times: Sequence[Stratum]
    ) -> None:
        """How long and how often each part ran in a call, from what was seen of it."""
        executions: _Executions = {}
        for stratum in times:
            own = running.within(*stratum.intervals)
            seen, here = self._looked_at(own, stratum), stratum
            if stratum.function >= 0 and not len(stratum.seen(self.sessions)):
                # None of them was looked at from its beginning to its end: others of the function say how often.
                here = Stratum(stratum.function, self.steps[self.steps[:, 0] == stratum.function])
                seen = _level(*here.intervals).within(*self.sessions)
            if seen.joules() <= 0.0:
                continue
            factor = own.joules() / seen.joules()
            ratio = here.ratio(self.sessions, factor)
            if here is not stratum:
                ratio *= int(stratum.rows[:, 4].sum()) / int(here.rows[:, 4].sum())
            counts = _Counts(stratum.function, factor, ratio, here is stratum)
            self._count(parts, executions, seen, counts)
        for key, calls in executions.items():
            # What is computed between steps while a graph is optimized is no execution of a layer.
            inside = [one for (*_, function), one in calls.items() if function >= 0 or key[1] == "input"]
            counted = [_counted(operations) for operations in _working(inside or list(calls.values()))]
            parts[key].observed = sum(observed for observed, _ in counted)
            parts[key].count = sum(count for _, count in counted)

    def _shares(self, side: _Side, seen: Density) -> Shares:
        return shares(
            side.activity,
            seen,
            len(self.found),
            loaded=self.loaded and side is self.host,
            weights=side.weights() if self.loaded else None,
        )

    def _hand_out(
        self, parts: dict[tuple[str, Pass], RunPart], split: Shares, energy: float, building: float
    ) -> None:
        """Hand energy out by shares; `building`: the part of what no operation held in which graphs were built."""
        for number in np.flatnonzero(split.origins > 0.0).tolist():
            found = self.found[number]
            part = _part(parts, found.origin)
            joules = energy * float(split.origins[number])
            part.joules += joules
            part.variance += energy**2 * float(split.variance[number])
            part.operations[found.operation] = part.operations.get(found.operation, 0.0) + joules
            part.fused.update(dict.fromkeys(found.fused))
            for place in found.called:  # which of them called it cannot be known
                part.called[place] = part.called.get(place, 0.0) + joules / len(found.called)
        for origin, share in ((RUNTIME, 1.0 - building), (TRACING, building)):
            if share > 0.0 or origin is RUNTIME:
                rest = _part(parts, origin)
                rest.joules += energy * split.runtime * share
                rest.variance += energy**2 * split.runtime_variance * share**2

    def _count(
        self,
        parts: dict[tuple[str, Pass], RunPart],
        executions: _Executions,
        seen: Density,
        counts: _Counts,
    ) -> None:
        """Add how long each part was seen to run, and how often each of its operations."""
        activity = self.host.activity
        at = np.clip(np.searchsorted(seen.edges, activity.start, "right") - 1, 0, len(seen.watts) - 1)
        here = (activity.start >= seen.edges[0]) & (activity.start < seen.edges[-1]) & (seen.watts[at] > 0.0)
        numbers = activity.origin[here]
        seconds = sums(numbers, (activity.end - activity.start)[here] * 1e-9, len(self.found))
        _, once = np.unique(activity.instance[here], return_index=True)
        times = np.bincount(numbers[once], minlength=len(self.found))
        for number in np.flatnonzero(times).tolist():
            found = self.found[number]
            _part(parts, found.origin).seconds += float(seconds[number]) * counts.factor
            calls = executions.setdefault(found.origin.key, {})
            scope = calls.setdefault((found.layer, _call_of(found), counts.function), {})
            operation = scope.setdefault(number, _Counted(found))
            operation.observed += int(times[number]) if counts.own else 0
            operation.count += int(times[number]) * counts.ratio


class _Side:
    """The processor's or the GPU's part of what was recorded."""

    def __init__(self, rows: Integers, numbers: Integers) -> None:
        self.rows = rows
        self.activity = Activity.of(rows, numbers)
        self._weights: Floats | None = None

    def weights(self) -> Floats:
        """Of each interval on a loaded machine."""
        if self._weights is None:
            self._weights = percentile_weights(self.rows, self.activity)
        return self._weights


def _part(parts: dict[tuple[str, Pass], RunPart], origin: Origin) -> RunPart:
    part = parts.get(origin.key)
    if part is None:
        part = parts[origin.key] = RunPart(origin)
    return part


def _close(parts: Mapping[tuple[str, Pass], RunPart], total: float) -> None:
    """Parts add up to the call exactly: what rounding left over is the runtime's."""
    runtime = parts[RUNTIME.key]
    runtime.joules = max(0.0, total - sum(part.joules for part in parts.values() if part is not runtime))


def _level(starts: Integers, ends: Integers) -> Density:
    """A power of one watt in some intervals."""
    if not len(starts):
        return Density(np.array([0, 1]), np.zeros(1))
    return Density(np.array([starts[0], ends[-1]]), np.ones(1)).within(starts, ends)


@dataclass(frozen=True, slots=True)
class _Counts:
    """How what was seen of a stratum is counted."""

    function: int
    factor: float
    """Seconds there were for each that was seen."""
    ratio: float
    """Executions there were for each that was seen."""
    own: bool
    """They were seen in this call, rather than in others of the function."""


@dataclass(slots=True)
class _Counted:
    """How often an operation was seen to run, and how often it did in all of the call."""

    found: Found
    observed: int = 0
    count: float = 0.0


_Executions = dict[tuple[str, Pass], dict[tuple[int, str, int], dict[int, _Counted]]]
"""By part, and in it by the layer, the scope of a call of it and the function around it: operations by number."""
HANDED_ON = ("Send", "Recv", "Const")
"""Constants are computed, and sent on, while TensorFlow optimizes a graph."""


def _working(calls: list[dict[int, _Counted]]) -> list[dict[int, _Counted]]:
    """Those that do more than to hand on what was known before."""
    working = [
        one for one in calls if any(counted.found.operation not in HANDED_ON for counted in one.values())
    ]
    return working or calls


def _counted(operations: Mapping[int, _Counted]) -> tuple[int, float]:
    """How often a layer was seen to run and how often it did, by how often its operations did.

    Those in the body of a loop run more often than the layer that holds the loop, and outside of graphs an operation of
    one type may run several times in a call. What most operations say holds.
    """
    every = list(operations.values())
    eager = [one for one in every if one.found.eager]
    if eager:
        fewest = min(eager, key=lambda one: one.observed)
        return fewest.observed, fewest.count
    outside = [one for one in every if not one.found.looped]
    working = [one for one in outside if one.found.operation not in HANDED_ON]
    said = working or outside or every
    usual = max(multimode(round(one.count) for one in said))
    return max((one.observed, one.count) for one in said if round(one.count) == usual)


def _call_of(found: Found) -> str:
    """The scope of one call of a layer: a layer called twice in a graph has two."""
    name = re.escape(found.origin.path.rpartition("/")[2])
    scopes = list(re.finditer(rf"(?:^|/){name}(?:_\d+)?(?=/|$)", found.scope)) if found.scope else []
    return found.scope[: scopes[-1].end()] if scopes else ""
