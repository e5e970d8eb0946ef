"""The vocabulary of the energy database: what was measured, where, with what, and what may be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Device = Literal["cpu", "ram", "gpu"]
DEVICES: tuple[Device, ...] = ("cpu", "ram", "gpu")

Method = Literal["in place", "replayed", "imported"]
Source = Literal["here", "team", "published"]
"""Who measured a figure."""
Origin = Literal["site", "signature", "predicted", "api"]
"""How close a figure is to a call: measured at it, at another call with the same shapes, predicted for it, or of another
call of the same API, for orientation only."""
CallKind = Literal["api", "compiled", "iteration"]
"""A call of an API, of a function that the program compiled itself, or a step of iterating over a dataset."""
Covers = Literal["", "sampling", "sampling and runs", "runs of this machine"]
"""What an interval holds: what meter and sampling leave open in one run; that and the scatter of repeated runs; one run with
the spread that runs usually have on that machine and meter. Empty where nobody noted it."""
RunStatus = Literal["finished", "failed", "partial"]
RUN_STATUSES: tuple[RunStatus, ...] = ("finished", "failed", "partial")
COVERS: tuple[Covers, ...] = ("", "sampling", "sampling and runs", "runs of this machine")
CALL_KINDS: tuple[CallKind, ...] = ("api", "compiled", "iteration")
Pass = Literal["forward", "backward", "optimizer", "loss", "input", "runtime"]
PhaseName = Literal[
    "imports",
    "data",
    "tracing",
    "calls",
    "compiled",
    "iteration",
    "callbacks",
    "python",
    "exit",
    "children",
    "unexplained",
]
PHASES: tuple[PhaseName, ...] = (
    "imports",
    "data",
    "tracing",
    "calls",
    "compiled",
    "iteration",
    "callbacks",
    "python",
    "exit",
    "children",
    "unexplained",
)


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
    backend: str = ""
    """Keras' back end: `tensorflow`, `jax`, `torch`; empty where nobody noted it."""
    backend_version: str = ""
    device: str = ""
    precision: str = ""
    """Keras' precision policy, such as `float32` or `mixed_bfloat16`."""


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
    """The name of its folder; runs of earlier versions hold the whole path (`project_places.place_of`)."""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    joules: Mapping[Device, Quantity] = field(default_factory=dict)
    """Net energy of the whole program."""
    unaccounted_joules: float | None = None
    project_id: str = ""
    """The project's identity: its root commit, else a salted hash of its folder."""
    status: RunStatus = "finished"
    """`failed`: the program ended with an error; `partial`: it was stopped before its end."""
    error: str = ""
    """The program's last error, in one line."""
    repository: str = ""
    owner: str = ""
    branch: str = ""
    commit_date: str = ""
    settings: Mapping[str, str | float | bool] = field(default_factory=dict)
    """What the run was measured with: period, repeats, limits."""
    temperature_series: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """By sensor: seconds from the start of the run, degrees."""
    stability_seconds: float | None = None
    """How long the machine was given to come to rest."""


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
    column: int = 0
    """1-based, in characters; 0 where it is not known."""
    function: str = ""
    """Qualified name of the function around the call; empty at module level."""
    text: str = ""
    """What the call looks like: its source without white space and comments, shortened by a hash where it is long."""
    kind: CallKind = "api"
    first_joules: float | None = None
    """Net joules of the first call of a run (start-up, tracing, allocation); `joules` are of the later ones."""
    first_seconds: float | None = None
    covers: Covers = ""
    """What the interval holds."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of what the whole program spent; all phases of a run add up to it."""

    run_id: str
    name: PhaseName
    joules: float
    seconds: float
    detail: Mapping[str, float] = field(default_factory=dict)
    """Joules by what the phase is made of: for imports the top packages, for children their commands."""


@dataclass(frozen=True, slots=True)
class Part:
    """A share of one call's energy: a Keras layer (or what is around the layers) in one pass. Apportioned, not metered."""

    run_id: str
    measurement_id: str
    path: str
    """The layer's qualified name, such as `classifier/block_1/conv`."""
    kind: str
    """The layer's class, or the operation's type."""
    direction: Pass
    file: str
    line: int
    """Where the layer was created; 0 where nobody knows."""
    joules: float
    """Of all calls of one run."""
    seconds: float
    count: int
    observed: int
    """How many of the `count` were profiled; the rest is extrapolated."""
    low: float | None = None
    high: float | None = None
    called_file: str = ""
    called_line: int = 0
    operations: Mapping[str, float] = field(default_factory=dict)
    """Joules by the types of the operations in it."""
    repeats: tuple[float, ...] = ()
    """Joules in each run of the measurement."""
    fused: tuple[tuple[str, str, int], ...] = ()
    """Layers that TensorFlow runs as part of it: path, file and line."""


@dataclass(frozen=True, slots=True)
class Inside:
    """How a run was looked into, and how values flow between its layers."""

    run_id: str
    note: str
    looked_at: float
    """Part of the calls' energy that was drawn while the profiler looked."""
    flows: tuple[tuple[str, str], ...] = ()
    """From which layer's path to which."""
    sparse: Mapping[str, float] = field(default_factory=dict)
    """Similarity of the account to one with so many times fewer samples."""
    lines: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """By file the text of the lines that parts name, by which they are found again after edits."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a machine and a version of TensorFlow were found to cost."""

    id: str
    machine_id: str
    machine: str
    environment: Environment
    meter: str
    estimated: bool
    measured: str
    """UTC, ISO 8601."""
    quick: bool
    repeatability: float
    """Relative scatter of the probe that was repeated from time to time."""
    scale: float = 1.0
    """The machine's own factor, learned from later measurements."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The cost model of one API (or layer, optimizer, overhead) in one mode, as fitted by a calibration."""

    calibration_id: str
    name: str
    """Canonical API, or `layer:Dense`, `optimizer:Adam`, `step`, `fit`, `trace`."""
    mode: str
    """`eager`, `graph`, `forward`, `backward`."""
    family: str
    values: tuple[float, ...]
    """Joules per feature; the family says which features."""
    smallest: float
    largest: float
    """Range of CPU seconds that was calibrated."""
    points: int
    reach: tuple[float, ...] = ()
    """The largest of each feature that was calibrated; beyond it a prediction says so."""
    watts: float = 0.0
    """Net power while it runs: what makes seconds of joules."""
    trace: float = 0.0
    """For layers: joules that tracing one takes."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Power of one device over a run, for the report: seconds from the start of the run, watts."""

    run_id: str
    device: Device
    seconds: tuple[float, ...]
    watts: tuple[float, ...]


STEP_SPAN, LAYER_SPAN = "step:", "layer:"
"""Begin the names of spans that are no calls: steps inside of calls, and layers inside of steps."""


@dataclass(frozen=True, slots=True)
class CallSpan:
    """When one call ran, for the report: seconds from the start of the run; the longest calls are kept.

    So are some steps inside of them, and layers inside of these (`STEP_SPAN`, `LAYER_SPAN`).
    """

    run_id: str
    api: str
    file: str
    line: int
    thread: int
    start: float
    end: float


ENOUGH_RECORDS = 5
"""Published records from which on a middle is given."""
WIDEST_SPREAD = 10.0
"""How many times the lower quartile the upper one may be for that."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The answer to "what does this API cost?", with everything needed to say where it comes from.

    Joules are net and per call. `total`, `low`, `high` are None when nothing was resolved; `below` is then
    the energy the call must lie under.
    """

    api: str
    source: Source
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
    covers: Covers = ""
    """What an interval holds."""
    run_status: RunStatus = "finished"
    """How the run of a figure that is one call site's ended."""
    origin: Origin = "api"
    """How close the figure is to the call it is shown at."""
    times: int | None = None
    """How often the call ran in one run, where that was measured."""
    exclusive: float | None = None
    """Joules per call without the API calls nested in it, where that was measured: what sums may add up."""
    kind: CallKind = "api"
    shapes: tuple[str, ...] = ()
    """What the call was given, where all its calls were given the same."""
    method: Method = "in place"
    """As it ran, or repeated alone, when caches and Python are warm: a short call then costs a part of it."""
    backend: str = ""
    edited: bool = False
    """Measured at this call before somebody edited it."""
    of_last_run: bool = True
    """False for a call that ran in an older run of its program, and not in the last one."""
    first: float | None = None
    """Joules of the first call of a run, where that is known apart from the later ones."""
    citation: str = ""
    """For published figures: the study, its data and their licence."""
    version: str = ""
    """TensorFlow version of the measurements."""

    @property
    def has_middle(self) -> bool:
        """False for published records that are too few, or lie too far apart, for their median to mean something."""
        if self.source != "published" or self.total is None:
            return self.total is not None
        if self.resolved < ENOUGH_RECORDS or self.low is None or self.high is None:
            return False
        return 0.0 < self.high <= WIDEST_SPREAD * self.low

    def of_run(self, times: int) -> float | None:
        """Joules of so many calls in one run, the first of them with what only the first one costs."""
        if self.total is None:
            return None
        return self.total * times + self.surplus

    def own_of_run(self, times: int) -> float | None:
        """The same without the API calls nested in it, which have figures of their own."""
        if self.total is None:
            return None
        return (
            self.total * times + self.surplus
            if self.exclusive is None
            else self.exclusive * times + self.surplus
        )

    @property
    def surplus(self) -> float:
        """What only the first call of a run costs, beside what every call does."""
        return 0.0 if self.first is None or self.total is None else self.first - self.total


@dataclass(frozen=True, slots=True)
class MeasuredSite:
    """A call of a project as it was when it was last measured, with what it cost."""

    api: str
    file: str
    line: int
    column: int
    """1-based; 0 where nobody noted it."""
    function: str
    text: str
    """Empty for measurements of before texts were noted: their line has to do."""
    run_id: str
    started: str
    figure: Figure


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
    source: Source = "here"

    @property
    def differs(self) -> bool:
        """True when the two sides measurably differ: significant, and outside the A/A noise."""
        outside_noise = self.high < min(1.0, self.control_ratio) or self.low > max(1.0, self.control_ratio)
        return self.p_value < 0.05 and outside_noise
