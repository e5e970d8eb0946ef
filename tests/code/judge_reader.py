"""Compares what the reader says of programs with what they did when they ran.

    python judge_reader.py FOLDER...

runs every program of the folders under TensorFlow (see trace_programs.py) and prints the three figures
and the misses.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from energy_code.model import Call
from energy_code.workspace.notebook import Notebook
from energy_code.workspace.project import Project
from energy_data.catalogue.catalogue import Catalogue

HERE = Path(__file__).parent
PRIVATE = "?"
Trace = dict[str, list[tuple[int, int, list[str]]]]
"""By file: start byte, end byte and the APIs reached of every call expression that ran."""


@dataclass
class Verdict:
    """Counts over the executed call expressions, and every disagreement in words."""

    apis: int = 0
    found: int = 0
    named: int = 0
    claims: int = 0
    true_claims: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    misnamed: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Share of the API calls that ran which the reader saw."""
        return self.found / max(self.apis, 1)

    @property
    def precision(self) -> float:
        """Share of the reader's claims on executed calls that were API calls."""
        return self.true_claims / max(self.claims, 1)

    @property
    def naming(self) -> float:
        """Share of the calls it saw that it named as they were."""
        return self.named / max(self.found, 1)

    def __str__(self) -> str:
        return (
            f"{self.apis} executed API calls: recall {self.recall:.4f} ({self.found}), "
            f"precision {self.precision:.4f} ({self.true_claims}/{self.claims}), "
            f"right name {self.naming:.4f} ({self.named})"
        )

    def report(self) -> str:
        """The figures and all disagreements."""
        parts = [str(self)]
        for title, lines in (("missed", self.missed), ("wrong", self.wrong), ("misnamed", self.misnamed)):
            parts += [f"{title} {line}" for line in lines]
        return "\n".join(parts)


def programs(folder: Path) -> list[Path]:
    """Files, notebooks and folders with a main.py."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in (".py", ".ipynb") or (path.is_dir() and (path / "main.py").exists())
    )


def trace(paths: Sequence[Path]) -> Trace:
    """Runs the programs: those that switch TensorFlow 2 off (v1_...) in a process of their own."""
    found: Trace = {}
    old = [path for path in paths if path.name.startswith("v1_")]
    for group in (old, [path for path in paths if path not in old]):
        if not group:
            continue
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "trace.json"
            command = [sys.executable, str(HERE / "trace_programs.py"), str(output), *map(str, group)]
            environment = {**os.environ, "HOME": folder, "CUDA_VISIBLE_DEVICES": ""}
            run = subprocess.run(command, capture_output=True, text=True, env=environment)
            if run.returncode:
                raise AssertionError(run.stderr[-4000:])
            found |= {
                file: [(start, end, reached) for start, end, reached in sites]
                for file, sites in json.loads(output.read_text())["files"].items()
            }
    return found


def read(paths: Iterable[Path]) -> dict[str, list[Call]]:
    """The reader's answer for every file; of a notebook per cell, named as the tracer names them."""
    answers: dict[str, list[Call]] = {}
    for program in paths:
        if program.is_dir():
            with tempfile.TemporaryDirectory() as folder:
                project = Project(program, store=Path(folder) / "index")
                project.index()
            for path in project.files():
                analysis = project.analyse(path)
                assert analysis is not None
                answers[str(path)] = list(analysis.calls())
        elif program.suffix == ".ipynb":
            notebook = Notebook.read(program.read_bytes(), path=program)
            for call in notebook.analyse().calls():
                cell, span = notebook.locate(call.span)
                answers.setdefault(f"{program}#{cell}", []).append(dataclasses.replace(call, span=span))
        else:
            analysis = Project(program.parent).analyse(program)
            assert analysis is not None
            answers[str(program)] = list(analysis.calls())
    return answers


def judge(paths: Sequence[Path], traced: Trace) -> Verdict:
    """Reads the programs and compares with what was traced when they ran."""
    catalogue, answers = Catalogue.load(), read(paths)
    verdict = Verdict()
    for file, sites in traced.items():
        if not any(Path(file.partition("#")[0]).is_relative_to(program) for program in paths):
            continue
        path, _, cell = file.partition("#")
        source = cell_source(path, int(cell)) if cell else Path(path).read_bytes()
        claims = {(call.span.start_byte, call.span.end_byte): call for call in answers.get(file, ())}
        for start, end, reached in sites:
            call = claims.get((start, end))
            row = source[:start].count(b"\n") + 1
            where = f"{Path(path).name}{'#' + cell if cell else ''}:{row} {source[start:end].decode()[:80]!r}"
            weigh(verdict, catalogue, call, reached, where)
    return verdict


def weigh(verdict: Verdict, catalogue: Catalogue, call: Call | None, reached: list[str], where: str) -> None:
    """Counts one executed call expression."""
    apis = [name for name in reached if name != PRIVATE]
    if PRIVATE in reached and not apis:
        return  # neither right nor wrong: a private callable of TensorFlow
    if call is not None:
        verdict.claims += 1
        if apis:
            verdict.true_claims += 1
        else:
            verdict.wrong.append(f"{where}: {call.api}")
    if apis:
        verdict.apis += 1
        if call is None:
            verdict.missed.append(f"{where}: {', '.join(apis)}")
            return
        verdict.found += 1
        if call.api in apis or (len(apis) > 1 and is_common(catalogue, call.api, apis)):
            verdict.named += 1
        else:
            verdict.misnamed.append(f"{where}: {call.api} was {', '.join(apis)}")


def is_common(catalogue: Catalogue, claimed: str, reached: list[str]) -> bool:
    """A call that met several classes is rightly named by a public class they share."""
    owner, _, member = claimed.rpartition(".")
    pairs = [name.rpartition(".") for name in reached]
    return all(last == member and catalogue.is_subclass(cls, owner) for cls, _, last in pairs)


def cell_source(path: str, cell: int) -> bytes:
    """The text of a notebook's cell."""
    return "".join(json.loads(Path(path).read_text(encoding="utf-8"))["cells"][cell]["source"]).encode()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        found = programs(Path(name).resolve())
        print(Path(name).name, judge(found, trace(found)).report())
