"""Steps of the program's own that run as one: `model.train_step(batch)` by hand, what `strategy.run` is given.

They are no API of TensorFlow's, so the reader does not report them; their cost is what the program is about.
"""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import dataclass

from energy_code.model import Point, Span

STEPS = frozenset({"train_step", "test_step", "predict_step"})


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """A call of a step."""

    api: str
    """Qualified name of what is called, as far as the file tells."""
    span: Span
    name: Span
    function: str


def steps_by_hand(source: bytes, known: Set[tuple[int, int]]) -> list[CompiledStep]:
    """Calls of steps of the program's own classes in a file, but for those that are known as calls of an API."""
    if not any(name.encode() in source for name in STEPS):
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    finder = _Finder(source)
    finder.visit(tree)
    return [
        CompiledStep(finder.owner(step.api), step.span, step.name, step.function)
        for step in finder.found
        if (step.span.start_byte, step.span.end_byte) not in known
    ]


def called_with(call: bytes, function: str) -> str:
    """The name of the function that `strategy.run` is given; empty where it is no name."""
    try:
        tree = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if not isinstance(tree, ast.Call):
        return ""
    given = [word.value for word in tree.keywords if word.arg == "fn"]
    first = next(iter([*tree.args, *given]), None)
    if isinstance(first, ast.Name):
        return first.id
    if isinstance(first, ast.Attribute) and isinstance(first.value, ast.Name):
        owner = function.rpartition(".")[0] if first.value.id == "self" else first.value.id
        return f"{owner}.{first.attr}" if owner else first.attr
    return ""


class _Finder(ast.NodeVisitor):
    def __init__(self, source: bytes) -> None:
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.around: list[str] = []
        self.classes: dict[str, list[str]] = {}
        self.found: list[CompiledStep] = []

    def owner(self, name: str) -> str:
        """A step with the class that has it, where there is one such class in the file."""
        classes = self.classes.get(name, [])
        return f"{classes[0]}.{name}" if len(classes) == 1 else name

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name in STEPS:
                self.classes.setdefault(part.name, []).append(node.name)
        self._inside(node.name, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node.name, node)

    def _inside(self, name: str, node: ast.AST) -> None:
        self.around.append(name)
        self.generic_visit(node)
        self.around.pop()

    def visit_Call(self, node: ast.Call) -> None:
        callee = node.func
        is_own = not (isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Call))
        if isinstance(callee, ast.Attribute) and callee.attr in STEPS and is_own:
            span = self._span(node)
            end = self._span(callee)
            name = Span(end.end_byte - len(callee.attr), end.end_byte, end.end, end.end)
            self.found.append(CompiledStep(callee.attr, span, name, ".".join(self.around)))
        self.generic_visit(node)

    def _span(self, node: ast.expr) -> Span:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return Span(
            self.starts[node.lineno - 1] + node.col_offset,
            self.starts[end_line - 1] + end_column,
            Point(node.lineno - 1, node.col_offset),
            Point(end_line - 1, end_column),
        )
