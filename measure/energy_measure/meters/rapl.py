"""RAPL counters of Intel and AMD processors, as Linux shows them under /sys/class/powercap."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from energy_data.model import Device
from energy_measure.meters import sysfs
from energy_measure.meters.counter import UnwrappedCounter
from energy_measure.meters.interface import UNKNOWN, Availability, Meter, MeterProblem, Roots, Source

UPDATE_PERIOD = 1e-3
QUANTUM = 2.0**-14
"""Energy unit of most Intel processors; others count more finely."""

UDEV_COMMAND = (
    """echo 'SUBSYSTEM=="powercap", KERNEL=="intel-rapl:*", RUN+="/bin/chmod a+r /sys%p/energy_uj"'"""
    " | sudo tee /etc/udev/rules.d/60-energy-lsp.rules"
    " && sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=powercap"
)
"""Opens the counters for every user, now and after each start, without running anything as root."""

MODULE_COMMAND = "sudo modprobe intel_rapl_msr"
"""Loads the driver on Intel and AMD machines that have the counters but do not show them."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A powercap zone that belongs to a device."""

    name: str
    """`package-0`, `dram-0`."""
    device: Device
    path: Path
    wraps_at_uj: int

    @property
    def energy_uj(self) -> Path:
        """The counter, in microjoules."""
        return self.path / "energy_uj"


class RaplMeter(Meter):
    """Energy of processor packages and their memory: not of core and uncore (parts) or psys (the whole)."""

    name = "rapl"
    period_s = 1e-3

    def __init__(self, roots: Roots | None = None) -> None:
        super().__init__(roots)
        self._domains: list[tuple[Domain, int, UnwrappedCounter]] = []
        self._failed: set[str] = set()

    @classmethod
    def availability(cls, roots: Roots) -> Availability:
        """Tries to read every counter."""
        tree = roots.sysfs / "class/powercap"
        domains = list(find_domains(tree))
        if not domains:
            return _nothing_there(cls.name, tree, roots)
        readable, refused = [], {}
        for domain in domains:
            try:
                int(domain.energy_uj.read_bytes())
                readable.append(domain)
            except (OSError, ValueError) as error:
                refused[domain.name] = error
        if not any(domain.device == "cpu" for domain in readable):
            return _closed(cls.name, refused)
        notes = tuple(f"{name} cannot be read: {_why(error)}" for name, error in refused.items())
        sources = tuple(_source(domain) for domain in readable)
        command = UDEV_COMMAND if any(isinstance(e, PermissionError) for e in refused.values()) else ""
        return Availability(
            cls.name, True, ", ".join(source.name for source in sources), command, sources, notes=notes
        )

    def open(self) -> None:
        """Keep every counter open: reading one is then a single system call."""
        self.close()
        state = self.availability(self.roots)
        if not state.usable:
            raise MeterProblem(f"RAPL cannot be read: {state.reason}")
        self.problems.extend(state.notes)
        wanted = {source.name for source in state.sources}
        for domain in find_domains(self.roots.sysfs / "class/powercap"):
            if domain.name in wanted:
                handle = os.open(domain.energy_uj, os.O_RDONLY)
                self._domains.append((domain, handle, UnwrappedCounter(domain.wraps_at_uj, 1e-6)))
        self.sources = tuple(_source(domain) for domain, _, _ in self._domains)

    def read(self) -> Sequence[float]:
        """Joules of each domain since the first reading."""
        return [self._read_one(*entry) for entry in self._domains]

    def _read_one(self, domain: Domain, handle: int, counter: UnwrappedCounter) -> float:
        if domain.name in self._failed:
            return UNKNOWN
        resets = counter.resets
        try:
            joules = counter.add(int(sysfs.again(handle, 32)), time.monotonic_ns())
        except (OSError, ValueError) as error:
            self._failed.add(domain.name)
            self.problems.append(
                f"{domain.name} stopped answering: {_why(error)}; its energy is unknown since."
            )
            return UNKNOWN
        if counter.resets != resets:
            self.problems.append(
                f"The counter of {domain.name} was reset; the energy of one interval is missing."
            )
        return joules

    def close(self) -> None:
        """Close the counters."""
        for _, handle, _ in self._domains:
            os.close(handle)
        self._domains.clear()
        self._failed.clear()


def find_domains(tree: Path) -> Iterator[Domain]:
    """Packages and their memory, socket by socket.

    The same package may be shown twice, through the processor's registers and through memory-mapped ones
    (`intel-rapl-mmio`); only the first is counted.
    """
    zones = sorted(
        tree.glob("intel-rapl:*"), key=lambda zone: [int(n) for n in re.findall(r"\d+", zone.name)]
    )
    packages: dict[str, str] = {}
    for zone in zones:
        name = sysfs.text(zone / "name")
        match = re.fullmatch(r"package-(\d+(?:-die-\d+)?)", name)
        if match:
            packages[zone.name] = match[1]
            yield Domain(name, "cpu", zone, sysfs.number(zone / "max_energy_range_uj"))
        elif name == "dram":
            parent = zone.name.rsplit(":", 1)[0]
            yield Domain(
                f"dram-{packages.get(parent, '0')}", "ram", zone, sysfs.number(zone / "max_energy_range_uj")
            )


def _source(domain: Domain) -> Source:
    return Source(
        domain.name, domain.device, "energy", UPDATE_PERIOD, QUANTUM, limit_watts=_limit(domain.path)
    )


def _limit(zone: Path) -> float:
    """The most that the processor lets the domain draw, over however short a time; 0 where it does not tell."""
    limits = [*zone.glob("constraint_*_power_limit_uw"), *zone.glob("constraint_*_max_power_uw")]
    return max(map(sysfs.number, limits), default=0) * 1e-6


def _nothing_there(name: str, tree: Path, roots: Roots) -> Availability:
    if sysfs.is_virtual(roots.procfs):
        reason = "this is a virtual machine whose host does not pass the counters on"
        return Availability(name, False, reason)
    if not any(tree.glob("intel-rapl:*")):
        reason = f"{tree} shows no RAPL zones: the driver is not loaded or the processor has no counters"
        return Availability(name, False, reason, MODULE_COMMAND)
    return Availability(name, False, f"{tree} has zones, but none for a processor package")


def _closed(name: str, refused: Mapping[str, Exception]) -> Availability:
    if any(isinstance(error, PermissionError) for error in refused.values()):
        return Availability(name, False, "energy_uj may be read by root alone", UDEV_COMMAND)
    first = next(iter(refused))
    return Availability(name, False, f"{first} does not answer: {_why(refused[first])}")


def _why(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "what it says is not a number"
