"""Meters: what can be read on this machine, what cannot and why, and which to take."""

from __future__ import annotations

from collections.abc import Sequence

from energy_measure.meters.cpu_time import CpuTimeMeter, PowerModel
from energy_measure.meters.interface import (
    UNKNOWN,
    Availability,
    Kind,
    Meter,
    MeterProblem,
    Roots,
    Source,
)
from energy_measure.meters.nvml import NvmlMeter
from energy_measure.meters.perf import PerfMeter
from energy_measure.meters.rapl import RaplMeter

__all__ = [
    "METERS",
    "UNKNOWN",
    "Availability",
    "CpuTimeMeter",
    "Kind",
    "Meter",
    "MeterProblem",
    "PowerModel",
    "Roots",
    "Source",
    "available",
    "choose",
    "find",
]

METERS: dict[str, type[Meter]] = {
    meter.name: meter for meter in (RaplMeter, PerfMeter, NvmlMeter, CpuTimeMeter)
}
"""Every meter by name, the better ones first."""


def available(roots: Roots | None = None) -> list[Availability]:
    """Every meter and its state here, found out by trying."""
    roots = roots or Roots.from_environment()
    return [meter.availability(roots) for meter in METERS.values()]


def find(name: str, roots: Roots | None = None) -> Meter:
    """The meter of that name, not yet open."""
    if name not in METERS:
        raise MeterProblem(
            f"There is no meter {name!r}; take auto, {', '.join(METERS)}, or some joined by +."
        )
    return METERS[name](roots)


def choose(wanted: str = "auto", roots: Roots | None = None) -> list[Meter]:
    """Meters for a measurement, tried but not open: `auto`, one name, or several joined by `+`.

    `auto` takes the first of rapl, perf and cpu-time that can be used, and nvml where there is a GPU. A meter
    asked for by name has to be usable, and no device may be read twice.
    """
    roots = roots or Roots.from_environment()
    if wanted == "auto":
        states = available(roots)
        names = _automatic(states)
    else:
        names = wanted.split("+")
        states = [find(name, roots).availability(roots) for name in names]
        _check_usable(states)
    meters = [find(name, roots) for name in names]
    for meter in meters:
        meter.sources = next(state.sources for state in states if state.name == meter.name)
    return meters


def _automatic(states: Sequence[Availability]) -> list[str]:
    usable = {state.name for state in states if state.usable}
    processor = [name for name in ("rapl", "perf", "cpu-time") if name in usable][:1]
    chosen = processor + [name for name in ("nvml",) if name in usable]
    if not chosen:
        reasons = "; ".join(f"{state.name}: {state.reason}" for state in states)
        raise MeterProblem(f"No meter can be used here ({reasons}). See `energy-lsp doctor`.")
    return chosen


def _check_usable(states: Sequence[Availability]) -> None:
    owner: dict[str, str] = {}
    for state in states:
        if not state.usable:
            advice = f"Run: {state.command}" if state.command else "See `energy-lsp doctor`."
            raise MeterProblem(f"The meter {state.name} cannot be used: {state.reason}. {advice}")
        for device in {source.device for source in state.sources}:
            if device in owner:
                raise MeterProblem(
                    f"{owner[device]} and {state.name} both read the {device}; take one of them."
                )
            owner[device] = state.name
