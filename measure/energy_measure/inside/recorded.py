"""What was noted inside a program, as arrays: layers, operations of graphs, steps, windows, and what ran in them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from energy_measure.injected.inside import reader

Integers = npt.NDArray[np.int64]

COLUMNS = len(reader.COLUMNS)
READING_SECONDS = 300.0
_CELL = re.compile(r"^<.* cell (\d+)>$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the program, as Python names the file."""

    file: str
    line: int
    function: str
    cell: tuple[int, int] = (0, 0)
    """In a notebook: the cell and the line in it, where `line` counts through all cells."""

    def as_json(self) -> dict[str, Any]:
        """As all lines are printed: in a notebook the cell's."""
        return place_json(self.file, self.line, self.cell)


def place_json(file: str, line: int, cell: tuple[int, int]) -> dict[str, Any]:
    """A file and a line; those of a notebook as the cell and the line in it."""
    if cell[0]:
        return {"file": file, "line": cell[1], "cell": cell[0]}
    return {"file": file or None, "line": line or None}


@dataclass(slots=True)
class LayerRecord:
    """A layer or module: its class, where it was created, and its qualified name."""

    kind: str
    place: Place | None
    path: str = ""
    within: tuple[int, ...] = ()
    """Numbers of the layers that its path names, itself last."""


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """An operation of a graph, as it was seen when it was made."""

    graph: int
    """Graphs by the order in which they became functions."""
    layer: int
    """0: none."""
    forward: str
    """The operation that it is the gradient of; empty if it is none."""
    role: str
    place: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Operations of several layers that TensorFlow may run as one."""

    head: str
    """Type of the operation that it begins with: a convolution, a product of matrices."""
    names: tuple[str, ...]
    """From the one before the last back to the head."""


@dataclass(frozen=True, slots=True)
class Session:
    """A window that the profiler looked at; nanoseconds of the monotonic clock."""

    began: int
    """When beginning it began: until `opened` and from `closing` on the program did nothing of its own."""
    opened: int
    closing: int
    closed: int
    cpu_ns: int
    """CPU time that the process used between `opened` and `closing`; 0 where that is not known."""


@dataclass(slots=True)
class Recorded:
    """Everything that one process noted."""

    layers: dict[int, LayerRecord] = field(default_factory=dict)
    places: dict[int, Place] = field(default_factory=dict)
    graphs: list[str] = field(default_factory=list)
    operations: dict[str, list[OperationRecord]] = field(default_factory=dict)
    chains: dict[tuple[int, str], list[Chain]] = field(default_factory=dict)
    """By graph and operation: what TensorFlow may have fused it with, the shortest chain first."""
    functions: dict[int, str] = field(default_factory=dict)
    sessions: list[Session] = field(default_factory=list)
    steps: Integers = field(default_factory=lambda: np.zeros((0, 5), np.int64))
    """Function, start, end, thread, how many."""
    rows: Integers = field(default_factory=lambda: np.zeros((0, COLUMNS), np.int64))
    names: list[str] = field(default_factory=list)
    modules: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    flows: set[tuple[int, int]] = field(default_factory=set)
    """From which layer to which values flow, by number."""

    def flow_paths(self) -> set[tuple[str, str]]:
        """The flows by the layers' paths."""
        paths = {number: layer.path for number, layer in self.layers.items()}
        found = {(paths.get(one, ""), paths.get(other, "")) for one, other in self.flows}
        return {(one, other) for one, other in found if one and other and one != other}

    def rename(self, named: Callable[[str], tuple[str, int]]) -> None:
        """Name files otherwise: `named` gives a file's name and the lines to add."""

        def renamed(place: Place) -> Place:
            file, before = named(place.file)
            title = _CELL.search(place.file)
            cell = (int(title[1]), place.line) if title and file != place.file else (0, 0)
            return Place(file, place.line + before, place.function, cell)

        for layer in self.layers.values():
            layer.place = None if layer.place is None else renamed(layer.place)
        self.places = {number: renamed(place) for number, place in self.places.items()}

    def running(self, rows: Integers) -> Integers:
        """The function that executed when each row began; -1: none."""
        steps = self.steps
        if not len(steps):
            return np.full(len(rows), -1)
        at = np.searchsorted(steps[:, 1], rows[:, 4], "right") - 1
        inside = (at >= 0) & (rows[:, 4] < steps[np.maximum(at, 0), 2])
        return np.where(inside, steps[np.maximum(at, 0), 0], -1)

    @property
    def overhead(self) -> list[tuple[int, int]]:
        """When the profiler was begun and its profiles were written: no part of the program."""
        return [
            interval
            for session in self.sessions
            for interval in ((session.began, session.opened), (session.closing, session.closed))
        ]


def read_profiles(python: Path, folder: Path) -> list[str]:
    """Have the profiles in a run's folder read by the program's interpreter; gives what went wrong."""
    if not any(folder.glob("inside-*.jsonl")):
        return []
    command = [str(python), str(Path(reader.__file__)), str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=READING_SECONDS)
    except subprocess.TimeoutExpired:
        return ["Reading the profiles took too long: what is inside calls is not known."]
    except OSError as problem:
        return [f"The profiles cannot be read ({problem.strerror}): what is inside calls is not known."]
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1][:200]
        return [f"The profiles cannot be read ({last}): what is inside calls is not known."]
    return []


def read_recorded(folder: Path) -> list[Recorded]:
    """What each process of a run noted; those that noted no step are left out."""
    found = [_read(journal) for journal in sorted(folder.glob("inside-*.jsonl"))]
    return [recorded for recorded in found if recorded.sessions or recorded.notes]


def _read(journal: Path) -> Recorded:
    recorded = Recorded()
    steps: list[list[int]] = []
    for kind, content in _records(journal):
        if kind == "layer":
            number, name, place = content
            recorded.layers[number] = LayerRecord(name, Place(*place) if place else None)
        elif kind == "path":
            if content[0] in recorded.layers:
                number, path, *within = content
                recorded.layers[number].path = path
                recorded.layers[number].within = tuple(within[0]) if within else ()
        elif kind == "place":
            recorded.places[content[0]] = Place(*content[1:])
        elif kind == "graph":
            _add_graph(recorded, *content)
        elif kind == "function":
            recorded.functions[content[0]] = content[1]
        elif kind == "session":
            _, opened, closing, _, began, closed, *rest = content
            recorded.sessions.append(Session(began, opened, closing, closed, rest[0] if rest else 0))
        elif kind == "steps":
            steps += content
        elif kind == "flow":
            recorded.flows.update((one, other) for one, other in content)
        elif kind == "note":
            recorded.notes.append(content)
    if steps:
        found = np.array(steps, dtype=np.int64)
        recorded.steps = found[np.argsort(found[:, 1], kind="stable")]
    _tell_apart(recorded.layers)
    _add_rows(recorded, journal)
    return recorded


def _tell_apart(layers: Mapping[int, LayerRecord]) -> None:
    """Number layers of one path that are written in different places, or that one layer has several of.

    A model that is built again and again has its layers in the same places; they stay one.
    """
    written: dict[str, list[tuple[str, Place | None, int]]] = {}
    siblings: dict[tuple[object, ...], int] = {}
    named: dict[int, str] = {}
    for number, layer in sorted(layers.items(), key=lambda item: (len(item[1].within), item[0])):
        names = layer.path.split("/")
        if not layer.path or len(names) != len(layer.within):
            continue
        layer.path = "/".join(named.get(one, name) for one, name in zip(layer.within, names, strict=True))
        alike = written.setdefault(layer.path, [])
        inside = (layer.within[:-1] or (number,), layer.path, layer.kind, layer.place)
        siblings[inside] = siblings.get(inside, 0) + 1
        what = layer.kind, layer.place, siblings[inside]
        if what not in alike:
            alike.append(what)
        if alike.index(what):
            mark = f" ({alike.index(what) + 1})"
            layer.path += mark
            named[number] = names[-1] + mark


def _records(journal: Path) -> Iterator[tuple[str, Any]]:
    """The records of a journal; a line cut off by a killed process is left out."""
    with journal.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                kind, content = json.loads(line)
            except ValueError:
                continue
            yield kind, content


def _add_graph(
    recorded: Recorded, name: str, rows: Sequence[Sequence[Any]], chains: Sequence[Any] = ()
) -> None:
    graph = len(recorded.graphs)
    recorded.graphs.append(name)
    for operation, layer, forward, role, place in rows:
        record = OperationRecord(graph, layer, forward, role, place)
        recorded.operations.setdefault(operation, []).append(record)
    for last, found in chains:
        recorded.chains[graph, rows[last][0]] = [
            Chain(head, tuple(rows[number][0] for number in numbers)) for head, *numbers in found
        ]


def _add_rows(recorded: Recorded, journal: Path) -> None:
    rows, names = journal.with_suffix(".rows"), journal.with_suffix(".json")
    if not rows.exists() or not names.exists():
        return
    content = json.loads(names.read_text("utf-8"))
    data = np.fromfile(rows, dtype="<i8")
    recorded.rows = data[: len(data) // COLUMNS * COLUMNS].reshape(-1, COLUMNS)
    recorded.names = content["names"]
    recorded.modules = content["modules"]
    recorded.notes += content["problems"]
