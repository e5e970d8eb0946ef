"""Whole programs, predicted and then measured: what `predict` says against what `measure` of the same program finds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PROGRAMS = Path(__file__).parent.parent / "predicted_programs"
MODEL_METHODS = ("fit", "evaluate", "predict")
SHORT, LONG = 1e-4, 1e-3
"""CPU seconds between which a call is a short one; above, the goals are tighter."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A call that was predicted and measured; joules of all its runs."""

    program: str
    line: int
    api: str
    predicted: float
    low: float
    high: float
    measured: float
    seconds: float
    """CPU time of one run, as measured."""

    @property
    def ratio(self) -> float:
        """Predicted by measured."""
        return self.predicted / self.measured

    @property
    def held(self) -> bool:
        """Whether the measurement lies in the interval."""
        return self.low <= self.measured <= self.high


def compared(database: Path, watts: float, programs: Sequence[Path]) -> list[Pair]:
    """Every call of the programs that has both figures. Each program is measured with a copy of the database."""
    found: list[Pair] = []
    with tempfile.TemporaryDirectory() as name:
        for program in programs:
            copy = Path(name) / "energy.db"
            shutil.copy(database, copy)
            predicted = _asked("predict", program, copy)
            measured = _asked("measure", program, copy, "--quick", "--inside", "off", "--progress", "none")
            found += _pairs(program.stem, predicted, measured, watts)
    return found


def _asked(command: str, program: Path, database: Path, *options: str) -> dict[str, Any]:
    run = [
        sys.executable,
        "-m",
        "energy_lsp",
        command,
        str(program),
        "--db",
        str(database),
        "--format",
        "json",
    ]
    done = subprocess.run([*run, *options], check=True, capture_output=True, text=True, cwd=program.parent)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _pairs(
    program: str, predicted: Mapping[str, Any], measured: Mapping[str, Any], watts: float
) -> Iterator[Pair]:
    runs = {(call["line"], call["column"], call["api"]): call for call in measured["calls"]}
    for call in predicted["calls"]:
        run = runs.get((call["line"], call["column"], call["api"]))
        if call["joules"] is None or run is None or not run["total_joules"]:
            continue
        every, spread = call["total_joules"], call["interval"]
        stretch = every / call["joules"]
        yield Pair(
            program, call["line"], call["api"], every, spread["low"] * stretch, spread["high"] * stretch,
            run["total_joules"], run["total_joules"] / watts / max(run["count"], 1),
        )  # fmt: skip


def figures(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Errors of `fit` and of single calls by length, and how many measurements the intervals hold."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        method = pair.api.rpartition(".")[2]
        if method in MODEL_METHODS:
            groups[f"whole {method}"].append(pair)
        elif pair.seconds >= LONG:
            groups["calls above 1 ms"].append(pair)
        elif pair.seconds >= SHORT:
            groups["calls of 0.1 to 1 ms"].append(pair)
    found = []
    for name, group in sorted(groups.items()):
        errors = [abs(pair.ratio - 1) for pair in group]
        goal = 0.15 if name == "whole fit" else 0.25 if name.endswith("above 1 ms") else None
        found.append(_figure(f"{name}, median error", float(np.median(errors)), goal, points=len(group)))
        if name == "whole fit":
            found.append(_figure(f"{name}, worst error", max(errors), 0.40))
        if name.startswith("calls of"):
            near = float(np.mean([0.5 <= pair.ratio <= 2.0 for pair in group]))
            found.append(_figure(f"{name}, within a factor of two", near, "0.75 to 1", points=len(group)))
        held = float(np.mean([pair.held for pair in group]))
        found.append(_figure(f"{name}, 90% intervals hold", held, "0.8 to 1", points=len(group)))
    long = [pair for group in groups.values() for pair in group]
    held = float(np.mean([pair.held for pair in long]))
    found.append(_figure("all calls, 90% intervals hold", held, "0.85 to 0.95", points=len(long)))
    return found + [
        _figure(f"{pair.program}:{pair.line} {pair.api}, predicted / measured", pair.ratio) for pair in long
    ]


def _figure(name: str, value: float, goal: object = None, **more: object) -> dict[str, Any]:
    return {"name": name, "value": value, "goal": goal, **more}
