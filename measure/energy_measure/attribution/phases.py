"""Where the energy of the whole program went: every joule in exactly one phase.

What an event draws itself, without the events in it, belongs to its phase; whatever happens while a package is imported,
a graph is built or the program ends belongs to that. What is drawn while nothing recorded runs is Python's, by the CPU
time of the program's threads (those of libraries that go on after a call are a part of their own), or that of processes
which it started. The rest is unexplained, and makes the sum exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from energy_data.model import PHASES, PhaseName
from energy_measure.attribution.events import Events, Integers
from energy_measure.attribution.python_time import OutsideTime
from energy_measure.attribution.solver import DeviceAttribution
from energy_measure.attribution.spans import Floats, sums

HOLDING: tuple[PhaseName, ...] = ("imports", "tracing", "exit")
"""What happens inside one of these belongs to it."""
MOST_PARTS = 24
"""Parts that a phase is told in; the rest of them is one."""
OTHERS = "others"
NATIVE = "threads of libraries"


@dataclass(frozen=True, slots=True)
class Kind:
    """What the events of one number are: their phase, and how its parts name them."""

    phase: PhaseName
    name: str


@dataclass(frozen=True, slots=True)
class Children:
    """What processes did that the program started, while nothing recorded ran."""

    share: float = 0.0
    """Of the energy outside of all events."""
    seconds: float = 0.0
    """Of CPU time."""


@dataclass(slots=True)
class PhaseShare:
    """A part of what the whole program drew."""

    joules: float = 0.0
    seconds: float = 0.0
    detail: dict[str, float] = field(default_factory=dict)


def phases_of(
    events: Events,
    kinds: Sequence[Kind],
    devices: Sequence[DeviceAttribution],
    seconds: float,
    outside: OutsideTime,
    children: Children,
    watts: float,
) -> dict[PhaseName, PhaseShare]:
    """All phases of a run, which add up to the program's joules.

    `kinds`: for each site number; `watts`: the most that a thread draws.
    """
    total = sum(part.program_joules for part in devices)
    own = np.zeros(len(events)) + sum((part.exclusive for part in devices), start=np.zeros(len(events)))
    busy = np.maximum(events.busy - events.nested, 0) * 1e-9
    found: dict[PhaseName, PhaseShare] = {name: PhaseShare() for name in PHASES}
    phase, names, labels = _belonging(events, kinds)
    for number, name in enumerate(PHASES):
        rows = np.flatnonzero(phase == number)
        if len(rows):
            share = found[name]
            share.joules, share.seconds = float(own[rows].sum()), float(busy[rows].sum())
            share.detail = _detail(labels[rows], own[rows], names)
    between = total - float(own.sum())
    _between(found, between, outside, children, watts)
    explained = sum(share.joules for name, share in found.items() if name != "unexplained")
    found["unexplained"].joules = total - explained
    spent = sum(share.seconds for name, share in found.items() if name != "unexplained")
    found["unexplained"].seconds = max(seconds - spent, 0.0)
    return found


def _between(
    found: Mapping[PhaseName, PhaseShare],
    between: float,
    outside: OutsideTime,
    children: Children,
    watts: float,
) -> None:
    """What was drawn while nothing recorded ran: by other processes, by Python.

    Neither Python nor a library's threads get more than they can have drawn in their time: that stays unexplained.
    """
    if between <= 0.0:
        return
    found["children"].joules, found["children"].seconds = between * children.share, children.seconds
    own = between * (1.0 - children.share)
    share = min(1.0, outside.python / outside.process) if outside.process > 0 else 0.0
    python = PhaseShare(min(own * share, outside.python * watts), outside.python)
    native = outside.process - outside.python
    if native > 0:
        going_on = min(own * (1.0 - share), native * watts)
        python.detail = {"Python": python.joules, NATIVE: going_on}
        python.joules += going_on
    found["python"].joules, found["python"].seconds = python.joules, python.seconds
    found["python"].detail = python.detail


def _belonging(events: Events, kinds: Sequence[Kind]) -> tuple[Integers, list[str], Integers]:
    """For each event the number of its phase and of its name among the names."""
    own_phase = np.array([PHASES.index(kind.phase) for kind in kinds], dtype=np.int64)
    names = sorted({kind.name for kind in kinds})
    places = {name: number for number, name in enumerate(names)}
    own_name = np.array([places[kind.name] for kind in kinds], dtype=np.int64)
    tracing, holding = PHASES.index("tracing"), [PHASES.index(name) for name in HOLDING]
    phase = np.where(events.tracing, tracing, own_phase[events.site]) if len(events) else own_phase[:0]
    label = own_name[events.site] if len(events) else own_name[:0]
    phase, label = phase.copy(), label.copy()
    # From the outside inwards, so that each event finds its parent done.
    for depth in range(1, int(events.depth.max(initial=0)) + 1):
        rows = np.flatnonzero((events.depth == depth) & (events.parent >= 0))
        above = events.parent[rows]
        held = np.isin(phase[above], holding) & ~np.isin(phase[rows], holding)
        held |= (phase[above] == tracing) & (phase[rows] == tracing)
        phase[rows[held]], label[rows[held]] = phase[above[held]], label[above[held]]
    return phase, names, label


def _detail(labels: Integers, joules: Floats, names: Sequence[str]) -> dict[str, float]:
    """Joules by name, the largest first, small ones together."""
    per_name = sums(labels, joules, len(names))
    present = set(labels.tolist())
    largest = [int(number) for number in np.argsort(-per_name, kind="stable") if int(number) in present]
    detail = {names[number]: float(per_name[number]) for number in largest[:MOST_PARTS]}
    rest = float(sum(per_name[number] for number in largest[MOST_PARTS:]))
    return detail if rest == 0.0 else {**detail, OTHERS: rest}
