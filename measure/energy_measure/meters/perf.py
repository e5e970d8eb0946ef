"""The same RAPL counters through perf events, for machines where powercap is closed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from energy_data.model import Device
from energy_measure.meters import perf_events, sysfs
from energy_measure.meters.interface import UNKNOWN, Availability, Meter, MeterProblem, Roots, Source
from energy_measure.meters.rapl import QUANTUM, UPDATE_PERIOD

OPEN_COMMAND = "sudo sysctl -w kernel.perf_event_paranoid=0"
MODULE_COMMAND = "sudo modprobe rapl"

_EVENTS: tuple[tuple[str, Device, str], ...] = (
    ("energy-pkg", "cpu", "package"),
    ("energy-ram", "ram", "dram"),
)
"""energy-cores and energy-gpu are parts of energy-pkg, energy-psys holds it: never added up."""


@dataclass(frozen=True, slots=True)
class PowerEvent:
    """One counter of one socket."""

    name: str
    device: Device
    kind: int
    config: int
    cpu: int
    joules_per_count: float

    def open(self) -> int:
        """A file descriptor that counts from now on."""
        return perf_events.open_event(self.kind, self.config, cpu=self.cpu)


class PerfMeter(Meter):
    """Energy of processor packages and their memory. The kernel takes care of wrap-around."""

    name = "perf"
    period_s = 1e-3

    def __init__(self, roots: Roots | None = None) -> None:
        super().__init__(roots)
        self._events: list[tuple[PowerEvent, int]] = []
        self._failed: set[str] = set()

    @classmethod
    def availability(cls, roots: Roots) -> Availability:
        """Tries to open every event."""
        events = list(find_events(roots))
        if not events:
            virtual = sysfs.is_virtual(roots.procfs)
            reason = (
                "this is a virtual machine whose host does not pass the counters on"
                if virtual
                else "the kernel offers no power events: no driver is loaded, or the CPU has no counters"
            )
            return Availability(cls.name, False, reason, "" if virtual else MODULE_COMMAND)
        try:
            for event in events:
                os.close(event.open())
        except PermissionError:
            reason = "the kernel lets only root open events of the whole machine (perf_event_paranoid)"
            return Availability(cls.name, False, reason, OPEN_COMMAND)
        except OSError as error:
            return Availability(cls.name, False, f"the kernel refuses {event.name}: {error.strerror}")
        sources = tuple(_source(event) for event in events)
        return Availability(cls.name, True, ", ".join(source.name for source in sources), "", sources)

    def open(self) -> None:
        """Open every event; each counts from here."""
        self.close()
        state = self.availability(self.roots)
        if not state.usable:
            raise MeterProblem(f"Perf events cannot be read: {state.reason}")
        self._events = [(event, event.open()) for event in find_events(self.roots)]
        self.sources = tuple(_source(event) for event, _ in self._events)

    def read(self) -> Sequence[float]:
        """Joules of each counter since opening."""
        return [self._read_one(event, handle) for event, handle in self._events]

    def _read_one(self, event: PowerEvent, handle: int) -> float:
        if event.name in self._failed:
            return UNKNOWN
        try:
            return perf_events.read_count(handle) * event.joules_per_count
        except OSError as error:
            self._failed.add(event.name)
            self.problems.append(
                f"{event.name} stopped answering: {error.strerror}; its energy is unknown since."
            )
            return UNKNOWN

    def close(self) -> None:
        """Close the events."""
        for _, handle in self._events:
            os.close(handle)
        self._events.clear()
        self._failed.clear()


def find_events(roots: Roots) -> Iterator[PowerEvent]:
    """Package and memory counters, one per socket."""
    pmu = roots.sysfs / "bus/event_source/devices/power"
    try:
        kind = int((pmu / "type").read_text())
        cpus = _cpu_list((pmu / "cpumask").read_text())
    except (OSError, ValueError):
        return
    for socket, cpu in enumerate(cpus):
        for event, device, label in _EVENTS:
            config = re.fullmatch(r"event=(0x[0-9a-fA-F]+|\d+)", sysfs.text(pmu / "events" / event))
            scale = sysfs.text(pmu / "events" / f"{event}.scale")
            if config and scale:
                yield PowerEvent(f"{label}-{socket}", device, kind, int(config[1], 0), cpu, float(scale))


def _source(event: PowerEvent) -> Source:
    return Source(event.name, event.device, "energy", UPDATE_PERIOD, QUANTUM)


def _cpu_list(text: str) -> list[int]:
    """The numbers in a list such as `0,18` or `0-1`."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.extend(range(int(first), int(last or first) + 1))
    return cpus
