"""The one small interface that all meters share, and what can be said of a meter before it is used."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Literal

from energy_data.model import DEVICES, Device, MeterInfo
from energy_data.problems import Problem

Kind = Literal["energy", "power"]
"""`energy`: a counter of joules; `power`: watts, averaged by the sensor over its window."""

UNKNOWN = float("nan")
"""What a source reads once it has stopped answering."""


class MeterProblem(Problem):
    """A meter cannot be used; the message says why and what to do, in one sentence."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where the system shows its sensors. Replaced by the simulated sensors of the tests."""

    sysfs: Path = Path("/sys")
    procfs: Path = Path("/proc")
    nvml: str = ""
    """Path of libnvidia-ml.so.1; empty: wherever the dynamic linker finds it."""

    @classmethod
    def from_environment(cls) -> Roots:
        """From ENERGY_LSP_SYSFS_ROOT, ENERGY_LSP_PROCFS_ROOT and ENERGY_LSP_NVML_LIBRARY, where set."""
        return cls(
            Path(os.environ.get("ENERGY_LSP_SYSFS_ROOT") or "/sys"),
            Path(os.environ.get("ENERGY_LSP_PROCFS_ROOT") or "/proc"),
            os.environ.get("ENERGY_LSP_NVML_LIBRARY", ""),
        )


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that a meter reads: a processor package, its memory, a GPU, a process tree."""

    name: str
    device: Device
    kind: Kind
    update_period_s: float
    """How often the sensor's own value moves."""
    quantum: float
    """Smallest step of a reading: joules or watts."""
    window_s: float = 0.0
    """For power: what the sensor averages over."""
    limit_watts: float = 0.0
    """The most it can draw, where that is known."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a meter can be used here; if not, why, and the exact command that opens it."""

    name: str
    usable: bool
    reason: str
    command: str = ""
    sources: tuple[Source, ...] = ()
    estimated: bool = False
    notes: tuple[str, ...] = field(default=())
    """What a user should know of a usable meter, such as a domain that stays closed."""


class Meter(ABC):
    """A set of sources that are read together. Open it, read it as often as you like, close it."""

    name: ClassVar[str]
    estimated: ClassVar[bool] = False
    period_s: ClassVar[float]
    """How often reading it pays."""
    far_period_s: ClassVar[float] = 0.0
    """How often it is read at most where it is not to be looked at closely."""

    def __init__(self, roots: Roots | None = None) -> None:
        self.roots = roots or Roots.from_environment()
        self.closely = False
        """Set before opening, it asks for the finest view there is, even if that slows what is looked at a little."""
        self.sources: Sequence[Source] = ()
        self.problems: list[str] = []
        """What went wrong while reading, one sentence each; a source that stopped answering is named here."""

    @classmethod
    @abstractmethod
    def availability(cls, roots: Roots) -> Availability:
        """Whether this meter would open here, found out by trying."""

    @abstractmethod
    def open(self) -> None:
        """Fill `sources` and make ready to read, or raise `MeterProblem`."""

    @abstractmethod
    def read(self) -> Sequence[float]:
        """One number per source: joules since opening, or watts; `UNKNOWN` from one that has vanished."""

    @abstractmethod
    def close(self) -> None:
        """Give back what `open` took. Harmless when not open."""

    def follow(self, pid: int) -> None:  # noqa: B027 (most meters see the whole machine and need not be told)
        """Tell a meter that looks at processes which tree to look at."""

    @property
    def info(self) -> MeterInfo:
        """The meter as a run records it."""
        devices = {source.device for source in self.sources}
        return MeterInfo(
            name=self.name,
            devices=tuple(device for device in DEVICES if device in devices),
            resolution_seconds=max((s.update_period_s for s in self.sources), default=0.0),
            resolution_joules=max((resolution_joules(s) for s in self.sources), default=0.0),
            estimated=self.estimated,
        )

    def __enter__(self) -> Meter:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def resolution_joules(source: Source) -> float:
    """The smallest energy that two readings of a source can tell apart."""
    return source.quantum if source.kind == "energy" else source.quantum * source.window_s
