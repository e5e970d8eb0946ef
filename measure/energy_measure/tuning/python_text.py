"""A file of the program as Python reads it, with places in bytes, for candidates that look at more than one call."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from energy_code.rule_engine.queries.program import FileNames, program_of
from energy_measure.tuning.candidate import ProgramFile

DATASET = "tensorflow.data.Dataset"


class Link(NamedTuple):
    """One method call of a chain such as `ds.map(f).batch(8)`."""

    name: str
    call: ast.Call


@dataclass(frozen=True, slots=True)
class PythonText:
    """A file and where its lines begin."""

    program: FileNames
    """The names of the file; places are those of `tree`."""
    tree: ast.Module
    starts: tuple[int, ...]

    @classmethod
    def of(cls, source: ProgramFile) -> PythonText | None:
        """None for what is no Python."""
        try:
            tree = ast.parse(source.text)
        except (SyntaxError, ValueError, RecursionError):
            return None
        lengths = (len(line) + 1 for line in source.text.split(b"\n"))
        return cls(program_of(source.analysis), tree, (0, *itertools.accumulate(lengths)))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """The byte where a node begins."""
        return self.starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """The byte behind a node."""
        return self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def functions(self, name: str) -> list[ast.FunctionDef | ast.Lambda]:
        """The functions of that name, and lambdas that were given it."""
        found: list[ast.FunctionDef | ast.Lambda] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                found.append(node)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
                found += [node.value for one in node.targets if isinstance(one, ast.Name) and one.id == name]
        return found

    def calls(self, method: str) -> Iterator[ast.Call]:
        """Calls of a method of that name, in the order of the text."""
        found = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == method
        ]
        yield from sorted(found, key=lambda node: (node.end_lineno, node.end_col_offset))

    def chain(self, call: ast.Call) -> list[Link]:
        """A call and those before it, the last first; through a name that is given on from statement to statement."""
        found: list[Link] = []
        node: ast.expr | None = call
        while node is not None:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                found.append(Link(node.func.attr, node))
                node = node.func.value
            elif isinstance(node, ast.Name):
                node = self._value_before(node)
            else:
                break
        return found

    def _value_before(self, name: ast.Name) -> ast.expr | None:
        """What a name was given last before a place, where that is a plain assignment of the same block."""
        for holder in ast.walk(self.tree):
            for block in (getattr(holder, "body", None), getattr(holder, "orelse", None)):
                if not isinstance(block, list):
                    continue
                before = [
                    one
                    for one in block
                    if isinstance(one, ast.Assign)
                    and (one.end_lineno or 0, one.end_col_offset or 0) <= (name.lineno, name.col_offset)
                    and [target.id for target in one.targets if isinstance(target, ast.Name)] == [name.id]
                ]
                if before and any(name in ast.walk(one) for one in block if isinstance(one, ast.stmt)):
                    return before[-1].value
        return None

    def is_dataset(self, call: ast.Call) -> bool:
        """Whether a chain begins with one of the functions that make datasets."""
        links = self.chain(call)
        return bool(links) and self.program.dotted(links[-1].call.func).startswith(DATASET)
