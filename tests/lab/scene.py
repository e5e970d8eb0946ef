"""A machine with simulated sensors that run against the clock: a powercap tree, power events, NVIDIA GPUs.

    scene = Scene(folder, build(folder), [package(0, wave), dram(0, wave), gpu("NVIDIA H100 PCIe", wave)])
    subprocess.run([...], env={**os.environ, **scene.environment})

Everything a process started with that environment reads from its meters is what the waveforms say.
"""

from __future__ import annotations

import errno
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from waveform import GPUS, RaplModel, Waveform

HERE = Path(__file__).parent
PERF_TYPE = 27
JOULES_PER_COUNT = "2.3283064365386962890625e-10"
PERF_EVENTS = {"energy-pkg": 2, "energy-ram": 3, "energy-psys": 5, "energy-cores": 1}
GPU_IS_LOST = 15


@dataclass(frozen=True)
class Built:
    """The two libraries of the lab."""

    powercap: Path
    nvml: Path


def build(folder: Path) -> Built:
    """Compile the simulated sensors."""
    flags = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-shared", "-fPIC"]
    built = Built(folder / "powercap.so", folder / "libnvidia-ml.so.1")
    subprocess.run([*flags, "-o", built.powercap, HERE / "powercap.c", "-ldl", "-lm"], check=True)
    soname = f"-Wl,-soname,{built.nvml.name}"
    subprocess.run([*flags, soname, "-o", built.nvml, HERE / "nvml.c", "-lm"], check=True)
    return built


@dataclass(frozen=True, eq=False)
class Sensor:
    """One simulated source: its waveform and the habits of its hardware."""

    name: str
    wave: Waveform
    settings: dict[str, float | int | str]
    zone: str = ""
    """For powercap: the folder of the zone, such as `intel-rapl:0:1`."""
    label: str = ""
    """For powercap: what the zone's `name` says."""
    wrap_joules: float = 262143.328850

    def failing(self, *, at: float | None = None, when: Path | None = None) -> Sensor:
        """The same sensor, which vanishes at a second of the script or when a file appears."""
        lost = GPU_IS_LOST if "model" in self.settings else errno.ENODEV
        condition: dict[str, float | int | str] = {"fails_with": lost}
        if at is not None:
            condition["fails_at"] = at
        if when is not None:
            condition["fails_when"] = str(when)
        return replace(self, settings={**self.settings, **condition})

    def answering_work(self, watts: float) -> Sensor:
        """The same sensor, which also draws so many watts for each CPU that the scene keeps busy."""
        return replace(self, settings={**self.settings, "busy_watts": watts})

    def denied(self) -> Sensor:
        """The same sensor, which this user may not open."""
        return replace(self, settings={**self.settings, "denied": 1})


def _zone(zone: str, label: str, name: str, wave: Waveform, model: RaplModel | None, wrap: float) -> Sensor:
    model = model or RaplModel()
    settings: dict[str, float | int | str] = {
        "update": model.update_period,
        "jitter": model.jitter,
        "noise": model.noise,
        "quantum": model.quantum,
        "offset": 1000.0,
    }
    return Sensor(name, wave, settings, zone, label, wrap)


def package(
    socket: int, wave: Waveform, model: RaplModel | None = None, *, wrap: float = 262143.328850
) -> Sensor:
    """A processor package."""
    return _zone(f"intel-rapl:{socket}", f"package-{socket}", f"package-{socket}", wave, model, wrap)


def dram(
    socket: int, wave: Waveform, model: RaplModel | None = None, *, wrap: float = 65712.999613
) -> Sensor:
    """The memory of a package."""
    return _zone(f"intel-rapl:{socket}:1", "dram", f"dram-{socket}", wave, model, wrap)


def core(socket: int, wave: Waveform) -> Sensor:
    """The cores of a package: a part of it."""
    return _zone(f"intel-rapl:{socket}:0", "core", f"core-{socket}", wave, None, 262143.328850)


def psys(zone: int, wave: Waveform) -> Sensor:
    """The whole platform, packages included."""
    return _zone(f"intel-rapl:{zone}", "psys", "psys", wave, None, 262143.328850)


def mmio(socket: int, wave: Waveform) -> Sensor:
    """A package shown a second time, through memory-mapped registers."""
    return _zone(
        f"intel-rapl-mmio:{socket}", f"package-{socket}", f"mmio-{socket}", wave, None, 262143.328850
    )


def power_event(event: str, cpu: int, wave: Waveform, model: RaplModel | None = None) -> Sensor:
    """A perf event of one socket, named by the CPU that reads it."""
    sensor = _zone("", "", f"{event}-{cpu}", wave, model, 0.0)
    return replace(sensor, settings={**sensor.settings, "perf_config": PERF_EVENTS[event], "perf_cpu": cpu})


def gpu(
    model: str,
    wave: Waveform,
    *,
    name: str = "GPU 0",
    tells: Literal["energy", "power", "nothing"] = "energy",
    noise: float = 0.005,
    latency: float = 0.0,
    temperature: int = 41,
    limit: float = 0.0,
) -> Sensor:
    """An NVIDIA GPU; update period and window are those of the real one."""
    habits = GPUS[model]
    settings: dict[str, float | int | str] = {
        "model": model,
        "update": habits.update_period,
        "window": habits.window,
        "noise": noise,
        "quantum": 1e-3,
        "offset": 5000.0,
        "has_energy": int(tells == "energy"),
        "has_power": int(tells != "nothing"),
        "architecture": 4 if "GTX 10" in model else 7,
        "temperature": temperature,
        "latency": latency,
        "limit": limit,
    }
    return Sensor(name, wave, settings)


@dataclass(eq=False)
class Scene:
    """The machine in a folder; its script starts when it is made."""

    folder: Path
    built: Built
    sensors: Sequence[Sensor]
    perf_denied: bool = False
    """Events of the whole machine are for root alone."""
    perf_closed: bool = False
    """No perf events at all, not even of one's own processes, as in many containers."""
    nvml_init: int = 0
    """What starting NVML answers; 0: it works."""
    start_ns: int = field(default_factory=time.monotonic_ns)
    _by_name: dict[str, Sensor] = field(init=False)

    def __post_init__(self) -> None:
        self._by_name = {sensor.name: sensor for sensor in self.sensors}
        self.sysfs = self.folder / "sys"
        self.script = self.folder / "script.txt"
        self.workers = self.folder / "workers"
        self.workers.mkdir()
        for sensor in self.sensors:
            if sensor.zone:
                self._make_zone(sensor)
        if any("perf_config" in sensor.settings for sensor in self.sensors):
            self._make_power_events()
        (self.sysfs / "class").mkdir(parents=True, exist_ok=True)
        self.script.write_text("\n".join(self._lines()) + "\n")

    @property
    def environment(self) -> dict[str, str]:
        """Variables that put a process into this machine."""
        return {
            "LD_PRELOAD": str(self.built.powercap),
            "ENERGY_LAB_SCRIPT": str(self.script),
            "ENERGY_LAB_WORKERS": str(self.workers),
            "ENERGY_LSP_SYSFS_ROOT": str(self.sysfs),
            "ENERGY_LSP_NVML_LIBRARY": str(self.built.nvml),
        }

    def true_joules(self, name: str, start_ns: int, end_ns: int) -> float:
        """What a source really used between two moments of the monotonic clock."""
        wave = self._by_name[name].wave
        return float(wave.energy((start_ns - self.start_ns) / 1e9, (end_ns - self.start_ns) / 1e9))

    def _zone_folder(self, sensor: Sensor) -> Path:
        """Zones of parts lie inside those of packages, as in the kernel."""
        control = sensor.zone.split(":")[0]
        parents = [sensor.zone.rsplit(":", 1)[0]] if sensor.zone.count(":") > 1 else []
        return self.sysfs.joinpath("devices/virtual/powercap", control, *parents, sensor.zone)

    def _make_zone(self, sensor: Sensor) -> None:
        folder = self._zone_folder(sensor)
        folder.mkdir(parents=True)
        (folder / "name").write_text(sensor.label + "\n")
        (folder / "max_energy_range_uj").write_text(f"{sensor.wrap_joules * 1e6:.0f}\n")
        (folder / "energy_uj").write_text("0\n")
        (folder / "enabled").write_text("1\n")
        shown = self.sysfs / "class/powercap" / sensor.zone
        shown.parent.mkdir(parents=True, exist_ok=True)
        shown.symlink_to(folder)

    def _make_power_events(self) -> None:
        pmu = self.sysfs / "bus/event_source/devices/power"
        (pmu / "events").mkdir(parents=True)
        (pmu / "type").write_text(f"{PERF_TYPE}\n")
        events = {s.name.rsplit("-", 1)[0] for s in self.sensors if "perf_config" in s.settings}
        cpus = sorted({int(s.settings["perf_cpu"]) for s in self.sensors if "perf_cpu" in s.settings})
        (pmu / "cpumask").write_text(",".join(map(str, cpus)) + "\n")
        for event in events:
            (pmu / "events" / event).write_text(f"event=0x{PERF_EVENTS[event]:02x}\n")
            (pmu / "events" / f"{event}.scale").write_text(JOULES_PER_COUNT + "\n")
            (pmu / "events" / f"{event}.unit").write_text("Joules\n")

    def _lines(self) -> list[str]:
        lines = [
            f"start_ns {self.start_ns}",
            f"perf_type {PERF_TYPE}",
            f"perf_denied {int(self.perf_denied)}",
        ]
        lines += [f"perf_closed {int(self.perf_closed)}", f"nvml_init {self.nvml_init}"]
        for sensor in self.sensors:
            lines.append(f"source {sensor.name}")
            if sensor.zone:
                lines.append(f"path {(self._zone_folder(sensor) / 'energy_uj').resolve()}")
                lines.append(f"wrap {sensor.wrap_joules!r}")
            lines += [f"{key} {value}" for key, value in sensor.settings.items()]
            pairs = zip(sensor.wave.seconds.tolist(), sensor.wave.watts.tolist(), strict=True)
            lines += [f"point {seconds!r} {watts!r}" for seconds, watts in pairs]
        return lines
