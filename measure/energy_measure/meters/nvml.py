"""NVIDIA GPUs through NVML: the counter of total energy, or on older GPUs power averaged over a window."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from energy_measure.meters import sysfs
from energy_measure.meters.counter import UnwrappedCounter
from energy_measure.meters.interface import UNKNOWN, Availability, Kind, Meter, MeterProblem, Roots, Source

DRIVER_COMMAND = "sudo apt install nvidia-driver   # or your distribution's name for it"
RESTART_COMMAND = "sudo nvidia-smi --gpu-reset"

NVIDIA_PCI_VENDOR = "0x10de"

COUNTER_UPDATE = {"volta": 0.020}
"""Seconds between two movements of the total-energy counter, by architecture."""
COUNTER_UPDATE_ELSEWHERE = 0.100

POWER_WINDOWS: tuple[tuple[str, float, float], ...] = (
    ("GTX 10", 0.020, 0.010),
    ("RTX 20", 0.100, 0.100),
    ("RTX 30", 0.100, 1.000),
    ("A100", 0.100, 0.025),
    ("H100", 0.100, 1.000),
)
"""Part of a GPU's name → update period and averaging window of its power reading, in seconds."""
POWER_WINDOW_ELSEWHERE = (0.100, 1.000)
"""The slowest known: a call looks unresolved rather than wrong."""


@dataclass(slots=True)
class Gpu:
    """One GPU and how it is read."""

    index: int
    model: str
    handle: Any
    source: Source
    counter: UnwrappedCounter
    lost: bool = False


class NvmlMeter(Meter):
    """Energy or power of every GPU of the machine."""

    name = "nvml"
    period_s = 5e-3

    def __init__(self, roots: Roots | None = None) -> None:
        super().__init__(roots)
        self._nvml: ModuleType | None = None
        self._gpus: list[Gpu] = []

    @classmethod
    def availability(cls, roots: Roots) -> Availability:
        """Opens NVML and asks each GPU once."""
        meter = cls(roots)
        try:
            meter.open()
        except NvmlProblem as problem:
            return Availability(cls.name, False, str(problem), problem.command)
        try:
            sources = tuple(meter.sources)
            reason = ", ".join(f"{gpu.source.name}: {gpu.model} ({gpu.source.kind})" for gpu in meter._gpus)
            return Availability(cls.name, True, reason, "", sources, notes=tuple(meter.problems))
        finally:
            meter.close()

    def open(self) -> None:
        """Find every GPU that tells its energy or its power."""
        self.close()
        self._nvml = nvml = start(self.roots)
        for index in range(nvml.nvmlDeviceGetCount()):
            try:
                self._gpus.append(_open_gpu(nvml, index))
            except nvml.NVMLError as error:
                self.problems.append(f"GPU {index} tells neither energy nor power: {error}.")
        self.sources = tuple(gpu.source for gpu in self._gpus)
        if not self._gpus:
            why = " ".join(self.problems) or "the driver is there, but no GPU."
            self.close()
            raise NvmlProblem(why)

    def read(self) -> Sequence[float]:
        """Joules since the first reading, or watts, of each GPU."""
        return [self._read_one(gpu) for gpu in self._gpus]

    def _read_one(self, gpu: Gpu) -> float:
        nvml = self._nvml
        if gpu.lost or nvml is None:
            return UNKNOWN
        resets = gpu.counter.resets
        try:
            if gpu.source.kind == "power":
                return float(nvml.nvmlDeviceGetPowerUsage(gpu.handle)) * 1e-3
            joules = gpu.counter.add(
                nvml.nvmlDeviceGetTotalEnergyConsumption(gpu.handle), time.monotonic_ns()
            )
        except nvml.NVMLError as error:
            gpu.lost = True
            self.problems.append(
                f"{gpu.source.name} ({gpu.model}) stopped answering: {error}; its energy is unknown since "
                f"(`{RESTART_COMMAND} -i {gpu.index}` or a restart usually brings it back)."
            )
            return UNKNOWN
        if gpu.counter.resets != resets:
            self.problems.append(f"The counter of {gpu.source.name} was reset; one interval is missing.")
        return joules

    def temperatures(self) -> dict[str, float]:
        """Degrees Celsius of each GPU that tells them."""
        nvml = self._nvml
        found: dict[str, float] = {}
        for gpu in self._gpus if nvml is not None else ():
            assert nvml is not None
            try:
                degrees = nvml.nvmlDeviceGetTemperature(gpu.handle, nvml.NVML_TEMPERATURE_GPU)
            except nvml.NVMLError:
                continue
            found[gpu.source.name] = float(degrees)
        return found

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the GPUs, in the order of the sources."""
        return tuple(gpu.model for gpu in self._gpus)

    def driver(self) -> str:
        """Version of the driver."""
        return str(self._nvml.nvmlSystemGetDriverVersion()) if self._nvml else ""

    def close(self) -> None:
        """Let go of NVML."""
        self._gpus.clear()
        if self._nvml is not None:
            self._nvml.nvmlShutdown()
            self._nvml = None


class NvmlProblem(MeterProblem):
    """NVML cannot be used; with the command that helps, where there is one."""

    def __init__(self, message: str, command: str = "") -> None:
        super().__init__(message)
        self.command = command


def start(roots: Roots) -> ModuleType:
    """NVIDIA's own binding, started."""
    import pynvml

    if roots.nvml:
        # The binding asks the linker for libnvidia-ml.so.1 by name and is given the one loaded here.
        try:
            ctypes.CDLL(roots.nvml)
        except OSError as error:
            raise NvmlProblem(f"{roots.nvml} cannot be loaded: {error}") from error
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError_LibraryNotFound as error:
        if not _card_there(roots):
            raise NvmlProblem("there is no NVIDIA GPU") from error
        message = "an NVIDIA GPU is there, but its driver is not installed (libnvidia-ml.so.1 is missing)"
        raise NvmlProblem(message, DRIVER_COMMAND) from error
    except pynvml.NVMLError_DriverNotLoaded as error:
        raise NvmlProblem("the NVIDIA driver is installed but not loaded", "sudo modprobe nvidia") from error
    except pynvml.NVMLError_NoPermission as error:
        raise NvmlProblem(
            "this user may not talk to the NVIDIA driver",
            "sudo usermod -aG video,render $USER   # then log in again",
        ) from error
    except pynvml.NVMLError as error:
        raise NvmlProblem(f"the NVIDIA driver does not answer: {error}") from error
    module: ModuleType = pynvml
    return module


def _card_there(roots: Roots) -> bool:
    cards = (roots.sysfs / "bus/pci/devices").glob("*/vendor")
    return any(sysfs.text(vendor) == NVIDIA_PCI_VENDOR for vendor in cards)


def _open_gpu(nvml: ModuleType, index: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    model = str(nvml.nvmlDeviceGetName(handle))
    kind: Kind = "energy"
    try:
        nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    except (nvml.NVMLError_NotSupported, nvml.NVMLError_FunctionNotFound):
        nvml.nvmlDeviceGetPowerUsage(handle)
        kind = "power"
    limit = _limit(nvml, handle)
    if kind == "energy":
        update = _counter_update(nvml, handle)
        source = Source(f"GPU {index}", "gpu", kind, update, 1e-3, limit_watts=limit)
    else:
        update, window = power_window(model)
        source = Source(f"GPU {index}", "gpu", kind, update, 1e-3, window, limit)
    return Gpu(index, model, handle, source, UnwrappedCounter(0, 1e-3))


def power_window(model: str) -> tuple[float, float]:
    """Update period and averaging window of the power reading of a GPU, by its name."""
    for part, update, window in POWER_WINDOWS:
        if part in model:
            return update, window
    return POWER_WINDOW_ELSEWHERE


def _counter_update(nvml: ModuleType, handle: Any) -> float:
    names = {nvml.NVML_DEVICE_ARCH_VOLTA: "volta"}
    try:
        return COUNTER_UPDATE.get(
            names.get(nvml.nvmlDeviceGetArchitecture(handle), ""), COUNTER_UPDATE_ELSEWHERE
        )
    except nvml.NVMLError:
        return COUNTER_UPDATE_ELSEWHERE


def _limit(nvml: ModuleType, handle: Any) -> float:
    """Watts that the driver lets the GPU draw; 0 where it does not tell."""
    try:
        return float(nvml.nvmlDeviceGetEnforcedPowerLimit(handle)) * 1e-3
    except nvml.NVMLError:
        return 0.0
