"""What the server says beyond plain LSP: the one source of these shapes.

`tools/build_protocol_types.py` writes the extension's types from them; a test holds the server's answers to them.
"""

from __future__ import annotations

from typing import Literal, TypedDict

Origin = Literal["site", "signature", "predicted", "api"]
Source = Literal["here", "team", "published"]


class Position(TypedDict):
    """A place in a text, in the client's position encoding."""

    line: int
    character: int


class Range(TypedDict):
    """A part of a text."""

    start: Position
    end: Position


# `pass` is a word of Python, so that this one cannot be written as a class.
PartSummary = TypedDict(
    "PartSummary",
    {
        "path": str,
        "kind": str,
        "pass": Literal["forward", "backward", "optimizer", "loss", "input", "runtime"],
        "joules": float,
        "text": str,
        "layer_text": str,
        "share": float,
        "count": float,
        "file": str | None,
        "line": int | None,
        "uri": str | None,
    },
)
"""A part of a call: `line`, from 0, and `uri` say where its layer is created now; null where that is not known.
`layer_text`: all passes of its layer together."""


class CallSummary(TypedDict):
    """One call. `total_joules` are of one run, `share` of what was measured; null for what is not part of that sum."""

    api: str
    range: Range
    joules: float | None
    low: float | None
    high: float | None
    runs: int
    times: int
    times_from: Literal["measured", "source"]
    total_joules: float | None
    first_joules: float | None
    origin: Origin | None
    source: Source | None
    layer: Source | None
    estimated: bool
    inside: list[PartSummary]
    creates_layer: bool
    edited: bool
    text: str
    each_text: str
    known_from: str
    provenance: str
    share: float | None


class FunctionSummary(TypedDict):
    """A function, or what stands outside of all of them (its name is empty)."""

    name: str
    known_joules: float
    text: str
    calls: list[CallSummary]


class CallPlace(TypedDict):
    """A call of the measured program; `uri` and `row`, from 0, say where it is now, or are null."""

    api: str
    file: str
    line: int
    uri: str | None
    row: int | None


class LayerUse(CallPlace):
    """What layers had of one call that uses them."""

    joules: float
    text: str
    share: float
    forward: float
    backward: float


class LayerSummary(TypedDict):
    """A line that creates layers: what they had of all calls, `share` of the costliest, `of_all` of the whole summary."""

    line: int
    joules: float
    text: str
    label: str
    share: float
    of_all: float | None
    of: CallPlace
    uses: list[LayerUse]


class FileSummary(TypedDict):
    """A file, or one cell of a notebook."""

    uri: str
    known_joules: float
    text: str
    functions: list[FunctionSummary]
    layers: list[LayerSummary]


class MachineTotal(TypedDict):
    """What the calls took that one machine measured with one meter."""

    source: Source
    machine: str
    meter: str
    estimated: bool
    joules: float
    calls: int
    text: str


class Totals(TypedDict):
    """Sums of what was measured at the calls, those of this machine first, and how many calls are not in them."""

    known_joules: float
    unknown_calls: int
    elsewhere_calls: int
    estimated: bool
    meter: str
    short: str
    text: str
    machines: list[MachineTotal]


class Summary(Totals):
    """The answer of `energyLsp.server.summary`."""

    uri: str | None
    files: list[FileSummary]


class Status(Totals):
    """The notification `energyLsp/status`."""

    uri: str
    state: Literal["ready", "indexing", "measuring"]


class FailurePlace(TypedDict):
    """A line, from 0, of the project's own code."""

    uri: str
    line: int


class Measured(TypedDict):
    """The answer of `energyLsp.server.measure`. `problem` is a sentence where the program did not come to its end."""

    run: str | None
    meter: str
    estimated: bool
    joules: float | None
    seconds: float | None
    text: str
    said: str
    status: Literal["finished", "failed", "partial"]
    problem: str
    place: FailurePlace | None
    output: str


class Program(TypedDict):
    """A program that could be measured, and how long it took last time."""

    file: str
    seconds: float | None


class InterpreterChoice(TypedDict):
    """An interpreter that could run it."""

    path: str
    version: str
    tensorflow: bool
    keras: bool


class Programs(TypedDict):
    """The answer of `energyLsp.server.programs`. `python` would be taken; null with `problem`, a sentence."""

    programs: list[Program]
    python: str | None
    problem: str | None
    interpreters: list[InterpreterChoice]
    can_create: bool


class PhaseSummary(TypedDict):
    """What one phase of a run took."""

    name: str
    joules: float
    seconds: float
    text: str
    share: float


class RunSummary(TypedDict):
    """One run of those that `energyLsp.server.runs` lists, the newest first."""

    id: str
    entry: str
    project: str
    started: str
    seconds: float
    joules: float | None
    text: str
    estimated: bool
    status: Literal["finished", "failed", "partial"]
    error: str
    commit: str
    machine: str
    meter: str
    phases: list[PhaseSummary]


class TextChange(TypedDict):
    """A change of a text."""

    range: Range
    newText: str


class ProvenEdit(TypedDict):
    """Changes of texts, by their URIs."""

    changes: dict[str, list[TextChange]]


class Tuned(TypedDict):
    """The answer of `energyLsp.server.tune`, beside what `energy-lsp tune --format json` prints. `text`: in a line."""

    edit: ProvenEdit | None
    patch: str
    text: str


class MeterState(TypedDict):
    """What is known of a meter; `command` would open it, where there is one."""

    name: str
    usable: bool
    estimated: bool
    reason: str
    command: str | None


class MachineNames(TypedDict):
    """What processors are called; the GPU's is empty without one."""

    cpu: str
    gpu: str


class Meters(TypedDict):
    """Of `energyLsp.server.meters` what is shown: `chosen` would measure now, `verdict` says whether it would be trusted."""

    machine: MachineNames
    meters: list[MeterState]
    chosen: list[str]
    verdict: str
    advice: list[str]


class MarkdownPage(TypedDict):
    """The answer of commands that give a page."""

    markdown: str


class HtmlPage(TypedDict):
    """The answer of `energyLsp.server.report`."""

    html: str


class MeasuredPart(TypedDict):
    """The answer of `energyLsp.server.measurePart`."""

    text: str


ANSWERS = (
    Position,
    Range,
    PartSummary,
    CallSummary,
    FunctionSummary,
    CallPlace,
    LayerUse,
    LayerSummary,
    FileSummary,
    MachineTotal,
    Totals,
    Summary,
    Status,
    FailurePlace,
    Measured,
    Program,
    InterpreterChoice,
    Programs,
    PhaseSummary,
    RunSummary,
    TextChange,
    ProvenEdit,
    Tuned,
    MeterState,
    MachineNames,
    Meters,
    MarkdownPage,
    HtmlPage,
    MeasuredPart,
)
