"""The machine a measurement runs on: what it is, how warm, how busy, and how its clock is governed."""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from energy_data.model import Machine
from energy_measure.meters import Meter, MeterProblem, Roots, sysfs
from energy_measure.meters.nvml import NvmlMeter

CPU_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal")
"""hwmon drivers of processors."""
CPU_ZONES = ("x86_pkg_temp", "cpu-thermal", "cpu_thermal")
"""Thermal zones of processors, for systems without such a driver."""


@dataclass(frozen=True, slots=True)
class Load:
    """How busy the machine is."""

    one_minute: float
    """Processes that run or wait to, on average."""
    cpus: int
    busy: float
    """Part of all CPUs that was in use during the last moment, 0 to 1."""


def describe(meters: Iterable[Meter] = (), roots: Roots | None = None) -> Machine:
    """The machine, with the meters of a run (open ones tell their sources)."""
    roots = roots or Roots.from_environment()
    gpus, driver = _gpus(roots)
    return Machine(
        cpu=cpu_model(roots),
        gpu=gpus,
        memory_bytes=_memory_bytes(roots),
        os=_system(),
        driver=driver,
        meters=tuple(meter.info for meter in meters),
    )


def cpu_model(roots: Roots) -> str:
    """The processor's name, and how many logical CPUs there are."""
    cpuinfo = sysfs.text(roots.procfs / "cpuinfo")
    name = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    model = " ".join(name[1].split()) if name else platform.machine() or "unknown processor"
    return f"{model} ({cpu_count(roots)} CPUs)"


def cpu_count(roots: Roots) -> int:
    """Logical CPUs."""
    return len(re.findall(r"^processor\s*:", sysfs.text(roots.procfs / "cpuinfo"), re.MULTILINE)) or 1


def governors(roots: Roots | None = None) -> list[str]:
    """The frequency governors in use, each once; empty where the system does not show them."""
    roots = roots or Roots.from_environment()
    files = (roots.sysfs / "devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return sorted({governor for file in files if (governor := sysfs.text(file))})


def load(roots: Roots | None = None, *, seconds: float = 0.2) -> Load:
    """How busy the machine is, watched for a moment."""
    roots = roots or Roots.from_environment()
    before = _cpu_times(roots.procfs)
    time.sleep(seconds)
    after = _cpu_times(roots.procfs)
    total = after[0] - before[0]
    busy = 1 - (after[1] - before[1]) / total if total > 0 else 0.0
    minutes = sysfs.text(roots.procfs / "loadavg").split()
    return Load(float(minutes[0]) if minutes else 0.0, cpu_count(roots), min(max(busy, 0.0), 1.0))


def temperatures(roots: Roots | None = None) -> dict[str, float]:
    """Degrees Celsius of processor packages and GPUs, by name; empty where nothing tells them."""
    roots = roots or Roots.from_environment()
    found = _hwmon(roots.sysfs / "class/hwmon") or _thermal_zones(roots.sysfs / "class/thermal")
    meter = NvmlMeter(roots)
    try:
        meter.open()
    except MeterProblem:
        return found
    found.update(meter.temperatures())
    meter.close()
    return found


def _hwmon(folder: Path) -> dict[str, float]:
    """The package sensor of each processor, else the first sensor of its driver."""
    found: dict[str, float] = {}
    for device in sorted(folder.glob("hwmon*")):
        if sysfs.text(device / "name") not in CPU_SENSORS:
            continue
        labels = {sysfs.text(label): label for label in sorted(device.glob("temp*_label"))}
        package = [labels[text] for text in labels if re.match(r"Package id|Tctl|Tdie", text)]
        stem = package[0].name.removesuffix("_label") if package else "temp1"
        degrees = sysfs.text(device / f"{stem}_input")
        if degrees.lstrip("-").isdigit():
            found[f"CPU {len(found)}"] = int(degrees) / 1000
    return found


def _thermal_zones(folder: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for zone in sorted(folder.glob("thermal_zone*")):
        degrees = sysfs.text(zone / "temp")
        if sysfs.text(zone / "type") in CPU_ZONES and degrees.lstrip("-").isdigit():
            found[f"CPU {len(found)}"] = int(degrees) / 1000
    return found


def _gpus(roots: Roots) -> tuple[str, str]:
    """Names of the GPUs in one phrase, and the driver's version."""
    meter = NvmlMeter(roots)
    try:
        meter.open()
    except MeterProblem:
        return "", ""
    names = list(dict.fromkeys(meter.models))
    phrase = ", ".join(f"{meter.models.count(n)} × {n}" if meter.models.count(n) > 1 else n for n in names)
    driver = f"NVIDIA {meter.driver()}"
    meter.close()
    return phrase, driver


def _memory_bytes(roots: Roots) -> int:
    total = re.search(r"^MemTotal:\s*(\d+) kB", sysfs.text(roots.procfs / "meminfo"), re.MULTILINE)
    return int(total[1]) * 1024 if total else 0


def _system() -> str:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        name = platform.system()
    return f"{name}, {platform.system()} {platform.release()}"


def _cpu_times(procfs: Path) -> tuple[int, int]:
    """Ticks of all CPUs together, and those of them in which they were idle or waited for a disk."""
    line = sysfs.text(procfs / "stat").split("\n", 1)[0].split()
    ticks = [int(field) for field in line[1:9]]
    return sum(ticks), sum(ticks[3:5])
