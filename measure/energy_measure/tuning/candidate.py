"""A change that may save energy: edits of the program's files, variables of its environment, or both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from energy_code.rule_engine.context import Edit
from energy_code.workspace.notebook import program_of
from energy_code.workspace.project import Project
from energy_measure.program.imports import reached_files

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis.analysis import Analysis


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change to try."""

    name: str
    title: str
    """What it does, in a few words."""
    file: str
    """Relative to the project; empty for a change of the environment alone."""
    line: int
    edits: Mapping[str, Sequence[Edit]] = field(default_factory=dict)
    """By file, in bytes of the text as it is."""
    environment: Mapping[str, str] = field(default_factory=dict)
    changes_results: bool = False
    """Results may differ though nothing is wrong: a larger batch, a lower precision."""
    note: str = ""
    needs: Sequence[str] = ()
    """Packages of which one has to be installed for it to make a difference."""
    places: Sequence[Candidate] = ()
    """The same at each place alone, where it changes several: an editor tries one."""
    cell: int = 0
    """Of a notebook the cell, counted from 1, in which `line` counts."""

    @property
    def where(self) -> str:
        """Where a person finds it: `train.py:12`, `study.ipynb cell 4:2`; empty for the environment."""
        if not self.file:
            return ""
        return f"{self.file} cell {self.cell}:{self.line}" if self.cell else f"{self.file}:{self.line}"


class Tried(Protocol):
    """Something about a candidate."""

    @property
    def candidate(self) -> Candidate:
        """Which."""


T = TypeVar("T", bound=Tried)


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A file of the program as the reader sees it."""

    name: str
    path: Path
    analysis: Analysis

    @property
    def text(self) -> bytes:
        """The bytes that edits count in."""
        return self.analysis.source

    def written(self, node: Node) -> bytes:
        """The source of a node; a tree that was parsed in pieces has no text of its own."""
        return self.text[node.start_byte : node.end_byte]


def read_sources(root: Path, entry: Path) -> list[ProgramFile]:
    """The entry point and the files of the project that it imports, read together."""
    project = Project(root)
    project.index()
    found = []
    entry = entry.resolve()
    cells = program_of(entry.read_bytes()) if entry.suffix == ".ipynb" else None
    for path in [entry, *reached_files(entry, cells)] if cells is not None else reached_files(entry):
        document = project.document(path)
        if document is None or not path.is_relative_to(root.resolve()):
            continue
        # Else edits would not fit the file as it is; those of a notebook are of its cells, one behind the other.
        if path.suffix == ".ipynb" or document.analyse().source == path.read_bytes():
            found.append(ProgramFile(path.relative_to(root.resolve()).as_posix(), path, document.analyse()))
    return found


def fitting(trials: Sequence[T]) -> list[T]:
    """Those whose edits do not overlap an earlier one's; trials have a `candidate`."""
    found: list[T] = []
    for trial in trials:
        if not any(_clash(trial.candidate, other.candidate) for other in found):
            found.append(trial)
    return found


def _clash(one: Candidate, other: Candidate) -> bool:
    return any(
        _overlap(new, old)
        for name, group in one.edits.items()
        for new in group
        for old in other.edits.get(name, ())
    )


def together(candidates: Iterable[Candidate]) -> tuple[dict[str, list[Edit]], dict[str, str]]:
    """Edits by file and variables of several candidates; one whose edits overlap an earlier one's is left out."""
    edits: dict[str, list[Edit]] = {}
    environment: dict[str, str] = {}
    taken: list[Candidate] = []
    for candidate in candidates:
        if any(_clash(candidate, other) for other in taken):
            continue
        taken.append(candidate)
        for name, group in candidate.edits.items():
            edits.setdefault(name, []).extend(edit for edit in group if edit not in edits.get(name, ()))
        environment.update(candidate.environment)
    return edits, environment


def edited(text: bytes, edits: Iterable[Edit]) -> bytes:
    """A text after some edits, which do not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start_byte] + edit.text.encode() + text[edit.end_byte :]
    return text


def _overlap(one: Edit, other: Edit) -> bool:
    if one == other:
        return False
    if one.start_byte == one.end_byte == other.start_byte == other.end_byte:
        return True
    return one.start_byte < other.end_byte and other.start_byte < one.end_byte
