"""Parts of calls over all runs: what `measure` prints as `inside`, and what the database keeps."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from energy_measure.inside.account import MOST_CALLED, CallAccount
from energy_measure.inside.looking import InsideRun
from energy_measure.inside.origins import RUNTIME, FusedIn, Origin, Pass
from energy_measure.inside.recorded import Place, place_json
from energy_measure.statistics import Interval, combine


@dataclass(frozen=True, slots=True)
class MeasuredPart:
    """A share of all calls of one call site in one run: apportioned, not metered."""

    origin: Origin
    joules: float
    interval: Interval
    share: float
    seconds: float
    count: int
    observed: int
    operations: Mapping[str, float]
    """Joules by the operations' types."""
    called: tuple[Place, ...]
    """Lines that call the layer, the costliest first."""
    repeats: tuple[float, ...]
    """Joules in each run."""
    fused: tuple[FusedIn, ...] = ()
    """Layers and lines that TensorFlow runs as part of it."""

    @property
    def stage(self) -> Pass:
        """Which pass it is part of."""
        return self.origin.stage

    def as_json(self) -> dict[str, Any]:
        """As `inside[]` has it, but for the call."""
        return {
            "path": self.origin.path,
            "kind": self.origin.kind,
            "pass": self.stage,
            **place_json(self.origin.file, self.origin.line, self.origin.cell),
            "called": [place.as_json() for place in self.called],
            "joules": self.joules,
            "interval": {"low": self.interval.low, "high": self.interval.high},
            "share": self.share,
            "count": self.count,
            "observed": self.observed,
            "seconds": self.seconds,
            "fused": [{"path": one.path, **place_json(one.file, one.line, one.cell)} for one in self.fused],
        }


def combine_parts(accounts: Sequence[CallAccount], joules: float, error: float) -> list[MeasuredPart]:
    """Parts of one call from its runs, the costliest first; they add up to `joules`, of which `error` is known."""
    total = sum(account.joules for account in accounts)
    if total <= 0.0 or joules <= 0.0:
        return []
    scale = joules * len(accounts) / total
    keys = list(dict.fromkeys(key for account in accounts for key in account.parts))
    parts = [_part(key, accounts, scale, joules, error / joules) for key in keys]
    parts = [part for part in parts if part.joules > 0.0 or part.origin.key == RUNTIME.key]
    # Conservation is exact: rounding is the runtime's.
    rest = joules - math.fsum(part.joules for part in parts if part.origin.key != RUNTIME.key)
    parts = [
        _with_joules(part, max(rest, 0.0), joules) if part.origin.key == RUNTIME.key else part
        for part in parts
    ]
    return sorted(parts, key=lambda part: -part.joules)


def _part(
    key: tuple[str, Pass], accounts: Sequence[CallAccount], scale: float, joules: float, relative_error: float
) -> MeasuredPart:
    found = [account.parts.get(key) for account in accounts]
    known = [part for part in found if part is not None]
    values = [0.0 if part is None else part.joules * scale for part in found]
    errors = [
        0.0
        if part is None
        else math.hypot(math.sqrt(part.variance) * scale, part.joules * scale * relative_error)
        for part in found
    ]
    mean, interval = combine(values, errors)
    operations: dict[str, float] = {}
    called: dict[Place, float] = {}
    for part in known:
        for name, own in part.operations.items():
            operations[name] = operations.get(name, 0.0) + own * scale / len(accounts)
        for place, own in part.called.items():
            called[place] = called.get(place, 0.0) + own
    return MeasuredPart(
        known[0].origin,
        mean,
        Interval(max(0.0, interval.low), interval.high),
        mean / joules,
        sum(part.seconds for part in known) / len(accounts),
        round(sum(part.count for part in known) / len(accounts)),
        round(sum(part.observed for part in known) / len(accounts)),
        operations,
        tuple(sorted(called, key=lambda place: -called[place])[:MOST_CALLED]),
        tuple(values),
        tuple(dict.fromkeys(one for part in known for one in part.fused)),
    )


def _with_joules(part: MeasuredPart, joules: float, whole: float) -> MeasuredPart:
    moved = joules - part.joules
    interval = Interval(max(0.0, part.interval.low + moved), part.interval.high + moved)
    return replace(part, joules=joules, interval=interval, share=joules / whole)


def with_own_line(
    parts: Sequence[MeasuredPart], own: Place, others: Collection[tuple[str, int]]
) -> tuple[MeasuredPart, ...]:
    """Parts of the call at `own`; `others`: lines of the other calls that were looked into.

    The graph that a model runs is built in the first call that needs it, at whose line its layers are then seen to be
    called; a strategy builds it in a thread where no line is seen. Either way it is the call itself that calls them.
    """
    forward = {part.origin.path for part in parts if part.stage == "forward" and part.origin.line}
    found = []
    for part in parts:
        called = [own if (place.file, place.line) in others else place for place in part.called]
        if not called and part.origin.path in forward:
            called = [own]
        lines: dict[tuple[str, int], Place] = {}
        for place in called:
            lines.setdefault((place.file, place.line), place)
        found.append(replace(part, called=tuple(lines.values())))
    return tuple(found)


def inside_note(mode: str, runs: Sequence[InsideRun], *, listed: bool = True) -> str:
    """How the inside was looked at, or why not; `listed`: calls have parts that are shown."""
    if mode == "off":
        return "Calls were not looked into (--inside off)."
    notes = list(dict.fromkeys(note for run in runs for note in run.notes))
    if not any(run.accounts for run in runs):
        return " ".join(notes) or "No call ran a compiled step or a layer that could be looked into."
    if not listed:
        return " ".join(
            ["No call that was looked into came to its end: what is inside is not known.", *notes]
        )
    looked = sum(run.looked_at for run in runs) / len(runs)
    if mode == "all":
        how = "Every step was profiled."
    elif all(account.whole for run in runs for account in run.accounts.values()):
        how = "Every step was profiled: the run was short."
    else:
        how = (
            f"Windows of steps were profiled, {looked:.0%} of the energy; the rest is extrapolated from them."
        )
    if any(account.loaded for run in runs for account in run.accounts.values()):
        how += " The machine was loaded: operations are weighed by the least time that they took."
    return " ".join([how, *notes])
