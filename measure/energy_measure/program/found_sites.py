"""What a program records beside the calls that were instrumented: imports, graphs, compiled functions, iterations.

Each process numbers them as they come up; here they get numbers that are the same in all processes and runs, and
become sites with file, line, column and text, as the instrumented calls are.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from energy_code.analysis.call_text import call_text
from energy_data.model import CallKind, PhaseName
from energy_data.untrusted.reading import read_source
from energy_measure.program.call_sites import CallSite, Instrumented, column_of, relative

PHASE_OF: Mapping[str, PhaseName] = {
    "import": "imports",
    "tracing": "tracing",
    "callback": "callbacks",
    "data": "data",
    "exit": "exit",
    "compiled": "compiled",
    "iteration": "iteration",
    "call": "calls",
}
KIND_OF: Mapping[str, CallKind] = {"compiled": "compiled", "iteration": "iteration", "call": "api"}


class FoundSites:
    """All sites of a program: the instrumented calls, and what its runs have recorded beside them."""

    def __init__(self, instrumented: Instrumented) -> None:
        self._instrumented = instrumented
        self.sites: list[CallSite] = list(instrumented.sites)
        self._numbers: dict[str, int] = {}
        self._sources: dict[str, bytes] = {
            cell["name"]: cell["source"].encode() for cells in instrumented.cells.values() for cell in cells
        }
        self._trees: dict[str, ast.Module | None] = {}

    def read(self, folder: Path) -> dict[str, dict[int, int]]:
        """For each file of events the numbers of its own, and the ones that stand for them here."""
        found: dict[str, dict[int, int]] = {}
        for path in sorted(folder.glob("places-*.jsonl")):
            process = path.name[len("places-") : -len(".jsonl")]
            numbers = found[f"events-{process}.bin"] = {}
            for line in path.read_text("utf-8", "replace").splitlines():
                try:
                    place = json.loads(line)
                    number = int(place.pop("number"))
                    numbers[number] = self._number(place)
                except (ValueError, KeyError, TypeError, AttributeError):
                    continue  # cut off when the process was killed
        return found

    def _number(self, place: Mapping[str, Any]) -> int:
        key = json.dumps(place, sort_keys=True)
        if key not in self._numbers:
            site = self._site(place)
            self._numbers[key] = len(self.sites)
            self.sites.append(site)
        return self._numbers[key]

    def _site(self, place: Mapping[str, Any]) -> CallSite:
        name, phase = str(place["name"]), PHASE_OF[place["kind"]]
        if "file" not in place:
            return CallSite(name, "", 0, False, name, phase=phase, listed=False)
        kind = KIND_OF[place["kind"]]
        filename, line = str(place["file"]), int(place["line"])
        title = filename if filename in self._instrumented.notebooks else ""
        file = self._instrumented.notebooks.get(filename) or relative(
            Path(filename), Path(self._instrumented.project or os.getcwd())
        )
        column, text, function = self._written(filename, place, "" if kind == "iteration" else name)
        listed = bool(place.get("listed", True))
        if not title:
            shown = f"{file}:{line}"
            return CallSite(name, file, line, False, shown, column, function, text, kind, phase, listed)
        cell = int(title.rstrip(">").rpartition(" ")[2])
        row = self._instrumented.cell_rows.get(title, 0) + line
        shown = f"{file} cell {cell}:{line}"
        return CallSite(
            name, file, row, False, shown, column, function, text, kind, phase, listed, cell, line
        )

    def _written(self, filename: str, place: Mapping[str, Any], callee: str) -> tuple[int, str, str]:
        """Column, text and function around it of what stands at a place."""
        source, tree = self._source(filename), self._tree(filename)
        lines = source.splitlines(keepends=True)
        first, last = int(place["line"]), int(place.get("end_line") or 0)
        begin, end = int(place["column"]), int(place["end_column"])
        if begin < 0 and tree is not None:
            found = _called_on(tree, first, callee.rpartition(".")[2])
            if found is not None:
                first, begin = found.lineno, found.col_offset
                last, end = found.end_lineno or first, found.end_col_offset or 0
        if not callee and tree is not None and (loop := _loop_at(tree, first, begin)) is not None:
            first, begin = loop.iter.lineno, loop.iter.col_offset
            last, end = loop.iter.end_lineno or first, loop.iter.end_col_offset or 0
        function = _function_around(tree, first) if tree is not None else ""
        if begin < 0 or not 0 < first <= last <= len(lines):
            return 0, "", function
        start = sum(len(line) for line in lines[: first - 1])
        stop = sum(len(line) for line in lines[: last - 1]) + end
        return column_of(source, start + begin), call_text(source[start + begin : stop]), function

    def _source(self, filename: str) -> bytes:
        if filename not in self._sources:
            try:
                self._sources[filename] = read_source(Path(filename))
            except OSError:
                self._sources[filename] = b""
        return self._sources[filename]

    def _tree(self, filename: str) -> ast.Module | None:
        if filename not in self._trees:
            try:
                self._trees[filename] = ast.parse(self._source(filename))
            except (SyntaxError, ValueError, RecursionError):
                self._trees[filename] = None
        return self._trees[filename]


def _called_on(tree: ast.Module, line: int, name: str) -> ast.Call | None:
    """The call on a line, of a function of this name where there is one, for a Python that does not know columns."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno == line]
    named = [call for call in calls if _last_name(call.func) == name]
    return next(iter(named or calls), None)


def _loop_at(tree: ast.Module, line: int, column: int) -> ast.For | ast.AsyncFor | None:
    """The loop that begins at a place: what it goes over is what iterates, whatever stands in it."""
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.For, ast.AsyncFor))
            and node.lineno == line
            and column in (-1, node.col_offset)
        ):
            return node
    return None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _function_around(tree: ast.AST, line: int) -> str:
    """Qualified name of the innermost function or class method that holds a line."""
    names: list[str] = []
    parts: Sequence[ast.AST] = list(ast.iter_child_nodes(tree))
    is_function = False
    while True:
        inner = next((part for part in parts if _holds(part, line)), None)
        if inner is None:
            return ".".join(names) if is_function else ""
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(inner.name)
            is_function = not isinstance(inner, ast.ClassDef)
        parts = list(ast.iter_child_nodes(inner))


def _holds(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is not None and last is not None and first <= line <= last
