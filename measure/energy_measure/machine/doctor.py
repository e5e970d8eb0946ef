"""What can be measured here, what cannot and why, and whether a measurement would be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from energy_data.model import DEVICES, Machine
from energy_measure.machine import describe as machine
from energy_measure.machine.describe import Load
from energy_measure.meters import Availability, MeterProblem, Roots, available, choose
from energy_measure.meters.interface import resolution_joules

BUSY_SHARE = 0.15
"""More of the CPUs in use by others than this, and their energy drowns that of a call."""
HOT_CELSIUS = 85.0
GOVERNOR_COMMAND = "sudo cpupower frequency-set --governor performance"
DEVICE_NAMES = {"cpu": "CPU", "ram": "memory", "gpu": "GPU"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything `energy-lsp doctor` knows."""

    machine: Machine
    meters: Sequence[Availability]
    chosen: Sequence[str]
    """What `--meter auto` takes."""
    governors: Sequence[str]
    load: Load
    temperatures: Mapping[str, float]
    doubts: Sequence[str]
    """Why a measurement now would not be trusted, one clause each; empty if it would."""
    advice: Sequence[str]

    @property
    def trusted(self) -> bool:
        """Whether a measurement here and now would be trusted."""
        return not self.doubts

    @property
    def verdict(self) -> str:
        """The same in one sentence."""
        if self.doubts:
            return "A measurement here would not be trusted: " + "; ".join(self.doubts) + "."
        states = [state for state in self.meters if state.name in self.chosen]
        devices = {source.device for state in states for source in state.sources}
        read = " and ".join(DEVICE_NAMES[device] for device in DEVICES if device in devices)
        meters = " and ".join(self.chosen)
        return f"A measurement here would be trusted: {meters} can read {read}, and the machine is calm."

    def as_json(self) -> dict[str, Any]:
        """For `--format json` and the editor."""
        return {
            "machine": {key: value for key, value in asdict(self.machine).items() if key != "meters"},
            "meters": [meter_as_json(state) for state in self.meters],
            "chosen": list(self.chosen),
            "governors": list(self.governors),
            "load": asdict(self.load),
            "temperatures": dict(self.temperatures),
            "trusted": self.trusted,
            "verdict": self.verdict,
            "advice": list(self.advice),
        }


def diagnose(roots: Roots | None = None) -> Diagnosis:
    """Look at everything; takes about half a second."""
    roots = roots or Roots.from_environment()
    states = available(roots)
    try:
        chosen = [meter.name for meter in choose("auto", roots)]
    except MeterProblem:
        chosen = []
    governors = machine.governors(roots)
    load = machine.load(roots)
    temperatures = machine.temperatures(roots)
    return Diagnosis(
        machine=machine.describe(roots=roots),
        meters=states,
        chosen=chosen,
        governors=governors,
        load=load,
        temperatures=temperatures,
        doubts=doubts_about(states, chosen, load, temperatures),
        advice=_advice(governors),
    )


def meter_as_json(state: Availability) -> dict[str, Any]:
    """One meter of the list."""
    devices = {source.device for source in state.sources}
    return {
        "name": state.name,
        "usable": state.usable,
        "estimated": state.estimated,
        "reason": state.reason,
        "command": state.command or None,
        "devices": [device for device in DEVICES if device in devices],
        "resolution_seconds": max((s.update_period_s for s in state.sources), default=None),
        "resolution_joules": max((resolution_joules(s) for s in state.sources), default=None),
        "sources": [asdict(source) for source in state.sources],
        "notes": list(state.notes),
    }


def doubts_about(
    states: Sequence[Availability],
    chosen: Sequence[str],
    load: Load,
    temperatures: Mapping[str, float],
) -> list[str]:
    """Why a measurement with the chosen meters would not be trusted, one clause each."""
    doubts = []
    if not chosen:
        doubts.append("no meter can be used")
    if any(state.estimated for state in states if state.name in chosen):
        doubts.append("no sensor of the processor can be read, so its joules are estimated from CPU time")
    if load.busy > BUSY_SHARE:
        doubts.append(
            f"the machine is busy ({load.busy:.0%} of {load.cpus} CPUs in use), stop other programs first"
        )
    hot = [f"{name} {degrees:.0f} °C" for name, degrees in temperatures.items() if degrees > HOT_CELSIUS]
    if hot:
        doubts.append(f"{', '.join(hot)}: let the machine cool down first")
    return doubts


def _advice(governors: Sequence[str]) -> list[str]:
    if governors and list(governors) != ["performance"]:
        return [f"The CPU clock follows the load; runs repeat better after: {GOVERNOR_COMMAND}"]
    return []


def report(diagnosis: Diagnosis) -> str:
    """The diagnosis for a terminal. Commands stand on lines of their own, ready to be copied."""
    return "\n".join([*_meter_lines(diagnosis), "", *_machine_lines(diagnosis), "", diagnosis.verdict])


def _meter_lines(diagnosis: Diagnosis) -> list[str]:
    lines = ["Meters"]
    for state in diagnosis.meters:
        mark = "yes" if state.usable else "no "
        chosen = "  ← used by --meter auto" if state.name in diagnosis.chosen else ""
        lines.append(f"  {mark} {state.name:<9} {state.reason}{chosen}")
        for source in state.sources:
            what = f"{DEVICE_NAMES[source.device]} {source.kind}"
            step = f"{source.quantum * 1e6:.2g} µJ" if source.kind == "energy" else f"{source.quantum:.2g} W"
            window = f", mean over {source.window_s * 1e3:g} ms" if source.window_s else ""
            lines.append(
                f"                {source.name}: {what}, every {source.update_period_s * 1e3:g} ms "
                f"in steps of {step}{window}"
            )
        lines += [f"                {note}" for note in state.notes]
        if state.command:
            lines += ["                to open it:", f"      {state.command}"]
    return lines


def _machine_lines(diagnosis: Diagnosis) -> list[str]:
    described, load = diagnosis.machine, diagnosis.load
    warm = ", ".join(f"{name} {degrees:.0f} °C" for name, degrees in diagnosis.temperatures.items())
    return [
        "Machine",
        f"  CPU          {described.cpu}",
        f"  GPU          {described.gpu or 'none'}{f' ({described.driver})' if described.driver else ''}",
        f"  memory       {described.memory_bytes / 2**30:.1f} GiB",
        f"  system       {described.os}",
        f"  governor     {', '.join(diagnosis.governors) or 'not shown by this system'}",
        f"  load         {load.one_minute:.2f} over a minute, {load.busy:.0%} of {load.cpus} CPUs in use now",
        f"  temperatures {warm or 'no sensor'}",
        *[f"  advice       {sentence}" for sentence in diagnosis.advice],
    ]
