"""The vocabulary of the energy database: what was measured, where, with what, and what may be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Device = Literal["cpu", "ram", "gpu"]
DEVICES: tuple[Device, ...] = ("cpu", "ram", "gpu")

Method = Literal["in place", "replayed", "imported"]
Layer = Literal["here", "team", "published"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """Net joules of one device for one call, and the standard error of that figure."""

    value: float
    stderr: float


@dataclass(frozen=True, slots=True)
class MeterInfo:
    """A meter as it was at the time of a run: what it reads and how finely."""

    name: str
    devices: tuple[Device, ...]
    resolution_seconds: float
    resolution_joules: float
    estimated: bool


@dataclass(frozen=True, slots=True)
class Machine:
    """The hardware and system a run took place on."""

    cpu: str
    gpu: str
    memory_bytes: int
    os: str
    driver: str
    meters: tuple[MeterInfo, ...] = ()

    @property
    def label(self) -> str:
        """CPU and GPU in one short phrase for a hover or a table."""
        return f"{self.cpu} + {self.gpu}" if self.gpu else self.cpu


@dataclass(frozen=True, slots=True)
class Environment:
    """The versions that decide what a call does."""

    python: str
    tensorflow: str
    keras: str


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a program under the meters (or one imported file of records)."""

    id: str
    machine: Machine
    environment: Environment
    command: str
    started: str
    """UTC, ISO 8601."""
    meter: str
    estimated: bool
    stable: bool | None
    commit: str = ""
    project: str = ""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    joules: Mapping[Device, Quantity] = field(default_factory=dict)
    """Net energy of the whole program."""
    unaccounted_joules: float | None = None


@dataclass(frozen=True, slots=True)
class InputSignature:
    """What a call was given: a text per tensor-like argument such as ``float32[128,784]``, and bytes."""

    arguments: tuple[str, ...] = ()
    bytes_args: int = 0
    bytes_kwargs: int = 0
    bytes_object: int = 0

    @property
    def total_bytes(self) -> int:
        """Bytes of everything the call could read."""
        return self.bytes_args + self.bytes_kwargs + self.bytes_object


@dataclass(frozen=True, slots=True)
class Measurement:
    """Net energy of one API at one call site: per call, mean over `count` calls and `repeats` runs."""

    id: str
    run_id: str
    api: str
    """Canonical name, as the catalogue knows it."""
    file: str
    """Relative to the measured project, with forward slashes."""
    line: int
    """1-based; 0 where a source gives none."""
    signature: InputSignature
    seconds: float
    """Per call."""
    joules: Mapping[Device, Quantity]
    """Net of the idle baseline, per call; a device that was not metered is absent."""
    count: int
    """How often the call ran in one run."""
    repeats: int
    resolved: bool
    method: Method
    at_trace_time: bool = False
    """The call ran while `tf.function` traced: its energy is that of tracing, not of the operation."""
    tail_joules: float | None = None
    low: float | None = None
    """95% interval of the total net joules per call."""
    high: float | None = None
    exclusive_joules: float | None = None
    """Total net joules per call without the API calls nested in it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Power of one device over a run, for the report: seconds from the start of the run, watts."""

    run_id: str
    device: Device
    seconds: tuple[float, ...]
    watts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CallSpan:
    """When one call ran, for the report: seconds from the start of the run; the longest calls are kept."""

    run_id: str
    api: str
    file: str
    line: int
    thread: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Figure:
    """The answer to "what does this API cost?", with everything needed to say where it comes from.

    Joules are net and per call. `total`, `low`, `high` are None when nothing was resolved; `below` is then
    the energy the call must lie under.
    """

    api: str
    layer: Layer
    estimated: bool
    machine: str
    meter: str
    date: str
    runs: int
    measurements: int
    sites: int
    resolved: int
    """How many of the measurements the meter could resolve."""
    seconds: float
    total: float | None
    low: float | None
    high: float | None
    devices: Mapping[Device, float]
    below: float | None
    spread: Literal["interval", "range"] = "interval"
    """`interval`: 95% confidence of one figure; `range`: middle half of call sites and input sizes."""
    exact_site: bool = False
    """True when the figure was measured at this very call site rather than for the API in general."""
    source: str = ""
    """For published figures: the study, its data and their licence."""
    version: str = ""
    """TensorFlow version of the measurements."""


@dataclass(frozen=True, slots=True)
class RuleEvidence:
    """A measured comparison of the two sides of a substitution rule for one size and mode."""

    rule: str
    size: str
    mode: Literal["eager", "graph"]
    pairs: int
    ratio: float
    """Net energy after / before; median of the pairs."""
    low: float
    high: float
    p_value: float
    """Wilcoxon signed-rank, Holm-corrected over the rules measured together."""
    a12: float
    control_ratio: float
    """The same ratio of before against before in the same run (A/A)."""
    joules_before: float
    """Net joules per call of the side before."""
    machine: str
    meter: str
    estimated: bool
    measured: str
    """UTC, ISO 8601."""
    tensorflow: str
    layer: Layer = "here"

    @property
    def differs(self) -> bool:
        """True when the two sides measurably differ: significant, and outside the A/A noise."""
        outside_noise = self.high < min(1.0, self.control_ratio) or self.low > max(1.0, self.control_ratio)
        return self.p_value < 0.05 and outside_noise
