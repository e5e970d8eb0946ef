"""Measuring a part of a program: a selection, a notebook's cell, or one test. What it took is shown, nothing is kept.

What a selection needs stands before it, so the program runs from its beginning to the end of the selection; one inside a
function runs the whole program, as somebody has to call it. It runs from a copy, in its own folder, with a database that
goes with the server.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from energy_code.workspace.notebook import Notebook
from energy_data.untrusted.reading import read_source
from energy_data.untrusted.writing import private_folder, write_file
from energy_lsp.features.programs.failed_run import sentence
from energy_lsp.features.programs.measure_choice import MeasureChoice
from energy_lsp.features.programs.measuring import Finished, run_under_progress
from energy_lsp.presentation.notation.units import counted, marked, percent
from energy_measure.problems import MeasureProblem
from energy_measure.program.interpreters import find_interpreter

if TYPE_CHECKING:
    from lsprotocol import types

    from energy_lsp.session.server import EnergyServer
    from energy_lsp.workspace.folders import Folder

TEST = """import sys

import pytest

sys.exit(pytest.main(["--assert=plain", "-q", "-p", "no:cacheprovider", {node!r}]))
"""


class ProgramPart(NamedTuple):
    """A program to run, and the lines of it, from 1, that are asked about."""

    text: str
    first: int
    last: int


def selected(text: str, first: int, last: int) -> ProgramPart:
    """A program up to the end of some lines; all of it where they stand inside of a function."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as problem:
        raise MeasureProblem(f"The file is no Python that could run ({problem}): mend it first.") from problem
    end = last
    for statement in tree.body:
        if statement.lineno <= last <= (statement.end_lineno or 0):
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                return ProgramPart(text, first, last)
            end = statement.end_lineno or last
    return ProgramPart("".join(text.splitlines(keepends=True)[:end]), first, last)


def cell_program(data: bytes, path: Path, number: int) -> ProgramPart:
    """The cells of a notebook up to one of its code cells, counted from 1, which is asked about."""
    notebook = Notebook.read(data, path=path)
    if not 1 <= number <= len(notebook.starts):
        raise MeasureProblem(f"{path.name} has no code cell {number}: save it first.")
    program = notebook.document.source
    starts = [*notebook.starts, len(program)]
    text = program[: starts[number]]
    before = program[: starts[number - 1]].count(b"\n")
    return ProgramPart(text.decode("utf-8", "replace"), before + 1, text.count(b"\n"))


def beside(part: ProgramPart, folder: Path) -> ProgramPart:
    """The same with the modules of its own folder, which it is not in any more, to be imported."""
    lines = part.text.splitlines(keepends=True)
    futures = [
        statement.end_lineno or 0
        for statement in ast.parse(part.text).body
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    ]
    place = max(futures, default=0)
    lines.insert(place, f"import sys as _sys; _sys.path.insert(1, {str(folder)!r})\n")
    first, last = (line + 1 if line > place else line for line in part[1:])
    return ProgramPart("".join(lines), first, last)


async def measure_part(
    ls: EnergyServer, target: Path, argument: Mapping[str, Any], token: types.ProgressToken | None
) -> dict[str, Any]:
    """What a part took, in words. Raises MeasureProblem."""
    folder, choice = ls.folders.of(target), MeasureChoice.of(argument)
    place = ls.scratch() / "part"
    private_folder(place)
    script, what, part = place / f"{target.stem}.py", "", None
    if isinstance(test := argument.get("test"), str):
        write_file(script := place / "run_test.py", TEST.format(node=f"{target}::{test}"), private=True)
        what = f"Test {test}"
    else:
        part, what = _part(target, argument)
        part = beside(part, target.parent)
        write_file(script, part.text, private=True)

    def command(folder: Folder, target: Path) -> list[str]:
        python = choice.python or folder.settings.measure_python
        chosen = python or str(find_interpreter(target.parent, folder.root, "").path)
        asked = MeasureChoice(python=chosen, how_often="quick", inside="off", variables=choice.variables)
        words = asked.command(folder, script)
        words[words.index("--project") + 1] = str(place if part is not None else folder.root)
        if part is None:
            words[1] = str(folder.root)
            words += ["--entry", str(script)]
        return [*_without(words, "--db"), "--db", str(place / "part.db")]

    done = await run_under_progress(ls, target, command, f"Measuring {what}", token, cwd=target.parent)
    return _told(done, what, part, target, folder.root)


def _part(target: Path, argument: Mapping[str, Any]) -> tuple[ProgramPart, str]:
    if isinstance(cell := argument.get("cell"), int):
        return cell_program(read_source(target), target, cell), f"cell {cell} of {target.name}"
    first, last = argument.get("first"), argument.get("last")
    if not isinstance(first, int) or not isinstance(last, int) or not 0 <= first <= last:
        raise MeasureProblem("`first` and `last` are lines, from 0, of the selection.")
    part = selected(read_source(target).decode("utf-8", "replace"), first + 1, last + 1)
    lines = f"line {first + 1}" if first == last else f"lines {first + 1} to {last + 1}"
    return part, f"{lines} of {target.name}"


def _told(done: Finished, what: str, part: ProgramPart | None, target: Path, root: Path) -> dict[str, Any]:
    try:
        report = json.loads(done.output)
        calls, estimated = report["calls"], report["estimated"]
        total = report["program"]["joules"]
        if report["status"] != "finished":
            raise MeasureProblem(sentence(what, report["status"], report["error"], None))
    except (ValueError, KeyError, TypeError) as problem:
        raise MeasureProblem(f"`energy-lsp measure` printed no usable result ({problem}).") from problem
    inside = [call for call in calls if part is None or part.first <= call["line"] <= part.last]
    known = [call["total_joules"] for call in inside if call["total_joules"] is not None]
    spent = sum(known)
    text = f"{what[0].upper()}{what[1:]}: {marked(spent, estimated)} in {counted(len(known), 'call')}"
    if len(known) < len(inside):
        text += f", {len(inside) - len(known)} below what the meter can tell"
    if total:
        until = "the whole test run" if part is None else "what ran until there"
        text += f"; {percent(min(1.0, spent / total))} of {marked(total, estimated)} for {until}"
    return {"text": f"{text}. Nothing of it was stored.", "joules": spent, "estimated": estimated}


def _without(words: Sequence[str], option: str) -> list[str]:
    if option not in words:
        return list(words)
    place = words.index(option)
    return [*words[:place], *words[place + 2 :]]
