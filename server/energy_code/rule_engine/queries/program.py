"""A file as Python reads it, statement by statement: what it binds, which names are plain numbers, where they stand."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis
    from energy_code.ir.code import TopLevelStatement

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

STATIC_LIBRARIES = frozenset({"numpy", "math"})
"""What they give of plain numbers is a plain number; of tensors, or at random, it is not."""
_LIBRARIES = frozenset({"tensorflow", "keras", "tf_keras", "numpy"})
_PUTS_IN = frozenset({"append", "extend", "insert"})
_NOT_PYTHON = re.compile(rb"(?m)^[ \t]*[%!].*$")
"""Lines of notebooks for the shell and for magic."""


@dataclass(slots=True)
class BoundNames:
    """What some statements bind, whatever the scope."""

    imports: dict[str, str] = field(default_factory=dict)
    functions: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    methods: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    classes: set[str] = field(default_factory=set)
    assigned: dict[str, list[ast.expr | None]] = field(default_factory=lambda: defaultdict(list))
    """None for what is not a plain assignment."""
    parameters: set[str] = field(default_factory=set)
    """Of any function."""
    declared_global: set[str] = field(default_factory=set)
    appended: set[str] = field(default_factory=set)
    """Lists that something is put into."""


class ModuleStatement(NamedTuple):
    """A statement of the module; places in its tree count from where it begins."""

    tree: ast.Module
    names: BoundNames


class FileNames(BoundNames):
    """A file as Python reads it, statement by statement: what is being typed elsewhere does not hide the rest."""

    __slots__ = ("_numbers", "parts")

    def __init__(self, parts: Sequence[tuple[int, int, ModuleStatement]]) -> None:
        super().__init__()
        self.parts = parts
        """Each with the row and the column where it begins."""
        for _, _, part in parts:
            self._add(part.names)
        self._numbers: dict[str, bool] = {}

    def is_number(self, name: str) -> bool:
        """Whether a name stands for plain numbers wherever it is assigned."""
        if name not in self._numbers:
            _find_numbers(self, name, self._numbers)
        return self._numbers[name]

    def _add(self, names: BoundNames) -> None:
        self.imports.update(names.imports)
        self.classes |= names.classes
        self.parameters |= names.parameters
        self.declared_global |= names.declared_global
        self.appended |= names.appended
        for name, functions in names.functions.items():
            self.functions[name] += functions
        for name, methods in names.methods.items():
            self.methods[name] += methods
        for name, values in names.assigned.items():
            self.assigned[name] += values

    def dotted(self, node: ast.AST) -> str:
        """`tensorflow.keras.layers.Dense` for what an expression names; empty for others."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.imports.get(node.id, node.id), *reversed(parts)])

    def is_of_library(self, name: str) -> bool:
        """Whether a name stands for something of TensorFlow, Keras or NumPy, which nobody changes: `tf.add` adds tensors."""
        return self.imports.get(name, "").partition(".")[0] in _LIBRARIES

    def is_imported(self, node: ast.AST) -> bool:
        """Whether an expression names something of a module."""
        return (name := root_name(node)) is not None and name in self.imports


_programs: WeakKeyDictionary[Analysis, FileNames] = WeakKeyDictionary()
_parts: WeakKeyDictionary[TopLevelStatement, tuple[bytes, ModuleStatement | None]] = WeakKeyDictionary()


def program_of(analysis: Analysis) -> FileNames:
    """A file, as far as it is Python; made once for all that ask about it."""
    if analysis not in _programs:
        _programs[analysis] = _made(analysis)
    return _programs[analysis]


def _made(analysis: Analysis) -> FileNames:
    source, row, before = analysis.source, 0, 0
    parts = []
    for start, statement in analysis.layout.statements:
        row, before = row + source.count(b"\n", before, start), start
        part = _kept(statement, source[start : start + statement.end])
        if part is not None:
            parts.append((row, start - source.rfind(b"\n", 0, start) - 1, part))
    return FileNames(parts)


def _kept(statement: TopLevelStatement, text: bytes) -> ModuleStatement | None:
    """A statement's part from before, unless its text is another: most stay as they are from one key to the next."""
    kept = _parts.get(statement)
    if kept is None or kept[0] != text:
        kept = _parts[statement] = (text, _part(text))
    return kept[1]


def _part(text: bytes) -> ModuleStatement | None:
    """What a statement binds; None for what is no Python."""
    for tried in (text, _NOT_PYTHON.sub(b"pass", text)):
        try:
            tree = ast.parse(tried)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        names = BoundNames()
        for node in ast.walk(tree):
            _note(names, node)
        return ModuleStatement(tree, names)
    return None


def _note(found: BoundNames, node: ast.AST) -> None:
    if isinstance(node, ast.Import):
        for name in node.names:
            found.imports[name.asname or name.name.partition(".")[0]] = (
                name.name if name.asname else name.name.partition(".")[0]
            )
    elif isinstance(node, ast.ImportFrom):
        for name in node.names:
            found.imports[name.asname or name.name] = f"{node.module or '.'}.{name.name}"
    elif isinstance(node, ast.ClassDef):
        found.classes.add(node.name)
        for one in node.body:
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found.methods[one.name].append(one)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        found.functions[node.name].append(node)
    elif isinstance(node, ast.Global | ast.Nonlocal):
        found.declared_global.update(node.names)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            _assign(found, target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and isinstance(node.target, ast.Name):
        _assign(found, node.target, node.value)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.assigned[node.target.id].append(ast.BinOp(_load(node.target), node.op, node.value))
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        _note_loop(found, node.target, node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        _assign(found, node.optional_vars, None)
    elif isinstance(node, ast.arg):
        found.parameters.add(node.arg)
    elif isinstance(node, ast.Attribute) and node.attr in _PUTS_IN and isinstance(node.value, ast.Name):
        found.appended.add(node.value.id)


def _load(name: ast.Name) -> ast.Name:
    return ast.Name(name.id, ast.Load())


def _note_loop(found: BoundNames, target: ast.expr, through: ast.expr) -> None:
    """A loop over `range` counts, one over `enumerate` counts with the first."""
    kind = through.func.id if isinstance(through, ast.Call) and isinstance(through.func, ast.Name) else ""
    first, others = target, []
    if kind == "enumerate" and isinstance(target, ast.Tuple) and target.elts:
        first, others = target.elts[0], target.elts[1:]
    plain = kind in ("range", "enumerate") or _is_list_of_numbers(through)
    _assign(found, first, ast.Constant(0) if plain else None)
    for other in others:
        _assign(found, other, None)


def _is_list_of_numbers(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Tuple)) and all(
        isinstance(one, ast.Constant) and isinstance(one.value, (int, float)) for one in node.elts
    )


def _assign(found: BoundNames, target: ast.expr, value: ast.expr | None) -> None:
    if isinstance(target, ast.Name):
        found.assigned[target.id].append(value)
        if isinstance(value, ast.Lambda):
            found.functions[target.id].append(value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
        for number, one in enumerate(target.elts):
            _assign(found, one, values[number] if len(values) == len(target.elts) else None)


def _find_numbers(found: FileNames, asked: str, numbers: dict[str, bool]) -> None:
    """Notes of a name, and of all that it is made of, whether they are numbers: unless one is given something else."""
    made_of: dict[str, set[str]] = {}
    used_by: dict[str, list[str]] = defaultdict(list)
    waiting = [asked]
    while waiting:
        name = waiting.pop()
        if name in made_of or name in numbers:
            continue
        values = found.assigned.get(name, ())
        made_of[name] = {
            node.id
            for value in values
            if value is not None
            for node in ast.walk(value)
            if isinstance(node, ast.Name)
        }
        for one in made_of[name]:
            used_by[one].append(name)
        waiting += made_of[name]
    numbers.update(dict.fromkeys(made_of, True))
    waiting = list(made_of)
    while waiting:
        name = waiting.pop()
        values = found.assigned.get(name, ())
        plain = bool(values) and all(
            value is not None and _is_number(found, value, numbers) for value in values
        )
        if numbers[name] and not plain:
            numbers[name] = False
            waiting += used_by[name]


def _is_number(found: FileNames, node: ast.expr, known: Mapping[str, bool]) -> bool:
    """Whether an expression gives a plain number, as far as the text tells."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    if isinstance(node, ast.Name):
        return known.get(node.id, False)
    if isinstance(node, ast.BinOp):
        return _is_number(found, node.left, known) and _is_number(found, node.right, known)
    if isinstance(node, ast.UnaryOp):
        return _is_number(found, node.operand, known)
    if isinstance(node, ast.IfExp):
        return _is_number(found, node.body, known) and _is_number(found, node.orelse, known)
    if isinstance(node, ast.Subscript):  # a size of an array
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id in ("float", "int", "len", "round"):
        return True
    plain = isinstance(node.func, ast.Name) and node.func.id in ("min", "max", "abs", "pow", "sum")
    library = found.dotted(node.func).partition(".")[0] in STATIC_LIBRARIES
    return (plain or library) and bool(node.args) and all(_is_number(found, one, known) for one in node.args)


def is_size(program: FileNames, name: str) -> bool:
    """Whether a name stands for nothing but the length of something: there are few of those."""
    return all(
        isinstance(value, ast.Subscript)
        or (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "len")
        for value in program.assigned.get(name, ())
    )


def root_name(node: ast.AST) -> str | None:
    """`model` of `model.layers[0].trainable`."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


@lru_cache(maxsize=4096)
def free_names_of(function: Function) -> frozenset[str]:
    """Names that a function reads from around it."""
    read, bound = set[str](), set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return frozenset(read - bound)


def statements_at(program: FileNames, start: tuple[int, int], end: tuple[int, int]) -> list[ast.stmt]:
    """The outermost statements that lie within two places, each a row and a column in bytes."""
    number = bisect_right(program.parts, start, key=lambda part: part[:2]) - 1
    if number < 0:
        return []
    row, column, part = program.parts[number]
    return _within(part.tree, _from(row, column, start), _from(row, column, end))


def _from(row: int, column: int, place: tuple[int, int]) -> tuple[int, int]:
    """A place as counted from another one."""
    return place[0] - row, place[1] - column * (place[0] == row)


def _within(tree: ast.Module, start: tuple[int, int], end: tuple[int, int]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            begins = (getattr(child, "lineno", 1) - 1, getattr(child, "col_offset", 0))
            ends = ((getattr(child, "end_lineno", 0) or 0) - 1, getattr(child, "end_col_offset", 0) or 0)
            if isinstance(child, ast.stmt) and begins >= start and ends <= end:
                found.append(child)
            elif not isinstance(child, ast.expr) and (not isinstance(child, ast.stmt) or ends >= start):
                waiting.append(child)
    return sorted(found, key=lambda one: (one.lineno, one.col_offset))


def without(loop: ast.AST, statements: Sequence[ast.stmt]) -> list[ast.AST]:
    """The parts of a loop outside of some of its statements."""
    left = []
    for child in ast.iter_child_nodes(loop):
        if child in statements:
            continue
        holds = any(child is not one and one in ast.walk(child) for one in statements)
        left += without(child, statements) if holds else [child]
    return left
