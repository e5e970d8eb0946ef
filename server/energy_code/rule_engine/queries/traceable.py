"""Whether some code can be a `tf.function`: what it reaches has no effect in Python, and reads no Python that changes.

A trace runs Python once. What the code, and the functions, lambdas and methods of the file that it calls, do with tensors
stays; what they do in Python happens once or fails: formatting a value, asking NumPy, making a layer, reading what the
loop changes. The file is read as Python reads it, statement by statement; what cannot be read is left as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from energy_code.rule_engine.queries.program import (
    STATIC_LIBRARIES,
    FileNames,
    Function,
    free_names_of,
    root_name,
)

_OUTSIDE = frozenset(
    {"print", "open", "input", "next", "exec", "eval", "globals", "locals", "setattr", "delattr"}
)
_OF_VALUES = frozenset({"float", "int", "bool", "str", "repr", "format", "round", "min", "max", "iter"})
"""Builtins that a symbolic tensor does not have."""
_OF_ITEMS = frozenset({"list", "tuple", "set", "sorted", "dict"})
_CHANGES = frozenset(
    {
        "numpy",
        "item",
        "tolist",
        "append",
        "extend",
        "insert",
        "update",
        "pop",
        "remove",
        "clear",
        "setdefault",
    }
)
"""Methods that change an object of Python, or ask for the value of a tensor."""
_GROWS = (_CHANGES | {"add", "compile"}) - {"numpy", "item", "tolist"}
_LIBRARIES = ("tensorflow", "keras", "tf_keras", "functools", "typing")
_MAKES_VARIABLES = re.compile(
    r"(?:\.layers\.(?!\w*\.)|\.optimizers\.(?!schedules)|\.metrics\.)[A-Z]\w*$"
    r"|\.(?:Variable|Sequential|Model|SeedGenerator|Generator)$"
)
_SAFE_ATTRIBUTES = frozenset({"learning_rate", "lr"})
"""Setting them sets a variable of TensorFlow."""


class Reach:
    """Some code, and the functions of its file that run with it."""

    def __init__(self, program: FileNames, code: Sequence[ast.AST]) -> None:
        self.program, self.code = program, code
        models = [one for name in ("call", "__call__") for one in program.methods.get(name, ())]
        waiting: list[ast.AST] = [*code, *models]
        known = set(waiting)
        self.functions: list[Function] = models
        while waiting:
            for called in self._called(waiting.pop()):
                if called not in known:
                    known.add(called)
                    self.functions.append(called)
                    waiting.append(called)

    def _called(self, code: ast.AST) -> Iterator[Function]:
        for node in ast.walk(code):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield from self.program.functions.get(node.id, ())
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield from self.program.methods.get(node.attr, ())

    @property
    def free(self) -> set[str]:
        """Names that its functions read and do not bind."""
        return set().union(*map(free_names_of, self.functions)) if self.functions else set()


def has_effect(reach: Reach, given: Iterable[str] = ()) -> bool:
    """Whether code that would be traced does something in Python; `given`: names of tensors that it is given."""
    whole: list[tuple[ast.AST, set[str]]] = [(one, set(given)) for one in reach.code]
    for function in reach.functions:
        arguments = function.args
        names = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        whole.append((function, names - {"self"}))
    return any(_effects(reach.program, code, names) for code, names in whole)


def _effects(program: FileNames, code: ast.AST, given: set[str]) -> bool:
    bodies = code.body if isinstance(code, (ast.FunctionDef, ast.AsyncFunctionDef)) else [code]
    return any(_is_effect(program, node, given) for body in bodies for node in _walk(body))


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """All of some code but what it says when it fails."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, (ast.Raise, ast.Assert)):
            waiting += ast.iter_child_nodes(one)


def _is_effect(program: FileNames, node: ast.AST, given: set[str]) -> bool:
    if isinstance(
        node, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)
    ):
        return True
    if isinstance(node, ast.JoinedStr):
        return any(
            isinstance(one, ast.FormattedValue) and not _is_static(program, one.value) for one in node.values
        )
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return isinstance(node.ctx, (ast.Store, ast.Del))
    if isinstance(node, ast.comprehension):
        return _is_tensor(node.iter, given)
    return isinstance(node, ast.Call) and _calls_effect(program, node, given)


def _calls_effect(program: FileNames, call: ast.Call, given: set[str]) -> bool:
    name = program.dotted(call.func)
    if isinstance(call.func, ast.Name) and call.func.id not in program.imports:
        plain = all(_is_static(program, one) for one in call.args)
        if call.func.id in _OUTSIDE or call.func.id in program.classes:
            return True
        if call.func.id in _OF_VALUES:
            return not plain
        return call.func.id in _OF_ITEMS and any(_is_tensor(one, given) for one in call.args)
    if not program.is_imported(call.func):
        return isinstance(call.func, ast.Attribute) and (
            call.func.attr in _CHANGES
            or (call.func.attr == "format" and isinstance(call.func.value, ast.Constant))
        )
    library = name.partition(".")[0]
    if library in STATIC_LIBRARIES:
        return ".random" in name or not all(_is_static(program, one) for one in call.args)
    if library.startswith(_LIBRARIES):
        return _MAKES_VARIABLES.search(name) is not None
    return library in ("random", "time", "os", "sys", "logging", "datetime")


def _is_tensor(node: ast.expr, given: set[str]) -> bool:
    """Whether an expression is one of the given tensors, or computed from them by operators."""
    if isinstance(node, ast.Name):
        return node.id in given
    if isinstance(node, ast.Subscript):
        return not isinstance(node.slice, ast.Constant) and _is_tensor(node.value, given)
    return isinstance(node, ast.BinOp)


def _is_static(program: FileNames, node: ast.expr) -> bool:
    """Whether an expression is known while tracing: constants, plain numbers, sizes, attributes of the object."""
    if isinstance(node, (ast.Constant, ast.Slice)):
        return True
    if isinstance(node, ast.Name):
        return program.is_number(node.id) and node.id not in program.parameters
    if isinstance(node, ast.Attribute):
        return node.attr == "shape" or root_name(node) == "self" or program.is_imported(node)
    if isinstance(node, ast.Subscript):
        return _is_static(program, node.value)
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Tuple, ast.List, ast.Compare)):
        return all(
            _is_static(program, one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)
        )
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Name) and node.func.id in _OF_VALUES | {"len", "abs", "sum", "pow"}
        library = program.dotted(node.func).partition(".")[0] in STATIC_LIBRARIES
        return (known or library) and all(_is_static(program, one) for one in node.args)
    return False


def reads_what_changes(reach: Reach, around: Sequence[ast.AST], names: Iterable[str]) -> bool:
    """Whether the loops around, outside of the code, change what the code takes for granted.

    `names`: what the code itself reads and is not given. What the functions it calls read may not be bound by the loops
    either: nobody gives it to them.
    """
    program = reach.program
    read = {name for name in (*names, *reach.free) if not program.is_of_library(name)}
    stored, changed = set(program.declared_global), set[str]()
    called: list[tuple[Function, ast.Call]] = []
    for node in (one for code in around for one in ast.walk(code)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.add(node.id)
        changed |= _changed_by(node)
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else None
            attribute = node.func.attr if isinstance(node.func, ast.Attribute) else None
            called += [(one, node) for one in program.functions.get(name or "", ())]
            called += [(one, node) for one in program.methods.get(attribute or "", ())]
    if reach.free & stored or (read & program.declared_global) or read & changed:
        return True
    attributes = {
        node.attr
        for code in (*reach.code, *reach.functions)
        for node in ast.walk(code)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    return any(_changes_read(function, call, read, attributes) for function, call in called)


def _changed_by(node: ast.AST) -> set[str]:
    """The names whose attributes or items a node sets, or that it makes longer."""
    target: ast.AST | None = None
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        if not (isinstance(node, ast.Attribute) and node.attr in _SAFE_ATTRIBUTES):
            target = node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS:
        target = node.func.value
    name = root_name(target) if target is not None else None
    return {name} - {"self"} if name is not None else set()


def _changes_read(function: Function, call: ast.Call, read: set[str], attributes: set[str]) -> bool:
    """Whether a function that the loop calls changes what is read: by its own name, through a parameter, or of itself."""
    listed = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    method = bool(listed) and listed[0] == "self"
    given = dict(zip(listed[1:] if method else listed, (root_name(one) for one in call.args), strict=False))
    given.update({one.arg: root_name(one.value) for one in call.keywords if one.arg})
    changed = set().union(*(_changed_by(node) for node in ast.walk(function)))
    if any((given.get(name) if name in listed else name) in read for name in changed):
        return True
    own = {
        node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and root_name(node) == "self"
    }
    return bool(own & attributes)
