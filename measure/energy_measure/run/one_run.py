"""What one run of a program gave, and the keys under which it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from energy_data.model import Device, Environment, InputSignature, PhaseName, Quantity
from energy_measure.attribution.events import Events
from energy_measure.attribution.firsts import FirstCall
from energy_measure.attribution.phases import PhaseShare
from energy_measure.attribution.replay import Replayed
from energy_measure.attribution.site_energy import SiteEnergy
from energy_measure.inside.looking import InsideRun
from energy_measure.machine.stability import Stability
from energy_measure.sampling.trace import SampledTrace

INTERRUPTED = "The program was interrupted."


@dataclass(frozen=True, slots=True)
class Key:
    """What energy is told for: a call site, apart when a graph was being built."""

    site: int
    tracing: bool


@dataclass(frozen=True, slots=True, eq=False)
class OneRun:
    """What one run gave."""

    seconds: float
    status: int
    """Exit status of the program; negative for the signal that ended it."""
    whole: bool
    """The program came to its end, rather than being ended or leaving in its midst."""
    stopped: str
    """Why the program was ended before; empty if it was not."""
    error: str
    """The program's last error, in one line."""
    energies: Mapping[Key, SiteEnergy]
    """Of all calls of a site."""
    firsts: Mapping[Key, FirstCall]
    """The first call of each site with several."""
    later: Mapping[Key, SiteEnergy]
    """The others of these."""
    phases: Mapping[PhaseName, PhaseShare]
    blurred: frozenset[Key]
    """Sites that ran for less than a few readings altogether: not to be told from their neighbours."""
    replays: Mapping[int, Replayed]
    """Calls too short for the meter, repeated after the program's end."""
    joules: Mapping[Device, Quantity]
    """Net, whole program."""
    outside: float
    """The part of it that no call accounts for."""
    events: Events
    begin: int
    traces: Sequence[SampledTrace]
    signatures: Mapping[int, InputSignature]
    environment: Environment
    stability: Stability
    problems: tuple[str, ...]
    inside: InsideRun = field(default_factory=InsideRun)
    temperatures: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """By device: seconds from the start of the run, degrees Celsius."""

    @property
    def ending(self) -> Literal["finished", "failed", "partial"]:
        """How the program ended."""
        if self.stopped:
            return "partial"
        return "failed" if self.status else "finished"


def keyed(events: Events) -> Events:
    """The same events with calls at trace time told apart from the others of their site."""
    return replace(events, site=events.site * 2 + events.tracing)


def numbered(key: Key) -> int:
    """The number of `keyed` for a key."""
    return key.site * 2 + key.tracing


def unkeyed(number: int) -> Key:
    """The key behind a number of `keyed`."""
    return Key(number // 2, bool(number % 2))
