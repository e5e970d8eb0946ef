"""Goes through a program in the order in which it runs, and notes the shapes that its calls are given.

Nothing is run. Functions and classes of the program, also those of its other files, are entered where they are called. Of a
branch whose test is not known both sides are taken, and what they leave different is unknown afterwards. A short loop over
known values is gone through turn by turn; of another the body is taken twice: with what stands before it, and with what is
still true after one turn.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from energy_code.static_shapes import written
from energy_code.static_shapes.arrays import elements
from energy_code.static_shapes.calls import Calls
from energy_code.static_shapes.expressions import SIGNS, OutOfBudgetError, names_stored, truth
from energy_code.static_shapes.libraries import Libraries
from energy_code.static_shapes.values import (
    SOME_NUMBER,
    UNKNOWN,
    Array,
    Asked,
    Bound,
    Class,
    Dataset,
    Function,
    Instance,
    Items,
    Layer,
    Made,
    Method,
    Model,
    Name,
    Node,
    Scope,
    Super,
    Table,
    arrays_of,
    is_symbolic,
    joined,
    mapped,
)  # fmt: skip
from energy_data.catalogue.naming import canonical
from energy_data.prediction.specs import LayerSpec

STEPS = 60_000
"""Expressions and statements that are looked at: a program must not keep its reader."""
MOST_TURNS = 40
"""A loop of more turns is not gone through turn by turn."""
MOST_SHAPES = 4
"""A call that is given more different shapes has none."""
MOST_MODULES = 60
FULL_NAMES = {"tensorflow.keras": "keras", "tf_keras": "keras", "tensorflow.compat.v2": "tensorflow"}
STARTERS = ("app.run", "fire.Fire", "typer.run")
"""What calls the program's main function for it."""

Place = tuple[int, int, int, int]
"""Line and column (bytes) of the first and the last character of a call, lines from 1."""
Found = dict[Place, tuple[Asked, ...]]
Find = Callable[[str, int, str], "Source | None"]
"""Finds a module of the project: its dotted name, how many levels up, and the file that asks."""


@dataclass(frozen=True, slots=True)
class Source:
    """A module of the project."""

    text: str
    file: str
    name: str
    package: bool = False


@dataclass(slots=True)
class Notes:
    """What was found in one file."""

    found: Found = field(default_factory=dict)
    blurred: set[Place] = field(default_factory=set)
    """Calls that were reached with too many shapes, or with one that is not known."""


def shapes_in(
    source: str,
    file: str = "",
    find: Find | None = None,
    recorded: Mapping[tuple[int, int], tuple[str, ...]] | None = None,
) -> Found:
    """The calls of a file whose shapes the source tells, by place; empty where it is no Python."""
    return shapes_of_program(source, file, find, recorded).get(file, {})


def shapes_of_program(
    source: str,
    file: str = "",
    find: Find | None = None,
    recorded: Mapping[tuple[int, int], tuple[str, ...]] | None = None,
) -> dict[str, Found]:
    """The same for every file of the project that the program leads to.

    `recorded`: the shapes that a run saw at calls of the file, by line and column: they come before all others.
    """
    walk = Walk(find)
    walk.recorded = {(file, *place): texts for place, texts in (recorded or {}).items()}
    with suppress(OutOfBudgetError, RecursionError):  # what was found until then holds
        walk.main(source, file)
    return {
        name: {place: asked for place, asked in notes.found.items() if place not in notes.blurred}
        for name, notes in walk.notes.items()
    }


class Walk(Calls):
    """One walk through a program."""

    def __init__(self, find: Find | None) -> None:
        super().__init__(STEPS)
        self.find = find
        self.notes: dict[str, Notes] = {}
        self.modules: dict[str, Scope | None] = {}
        self.written: dict[str, dict[int, dict[str, written.Told]]] = {}
        self.recorded: dict[tuple[str, int, int], tuple[str, ...]] = {}
        self.flags: dict[str, Any] = {}
        self.inside = 0
        """Depth of methods of models whose layers are gone through."""
        self.silent = 0
        """Depth of what is gone through only to know what it gives."""
        self.at = ("", 0)
        """The file and line of the call that is under way."""
        self.libraries = Libraries(self)

    # -- programs and modules --------------------------------------------------------------------------------------

    def main(self, source: str, file: str) -> None:
        """The program itself."""
        scope = self._module(source, file, "__main__", False)
        if scope is not None:
            self._entered_nowhere(scope)

    def _module(self, source: str, file: str, name: str, package: bool) -> Scope | None:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        scope = Scope({"__name__": name}, None, file, "" if name == "__main__" else name, package)
        self.modules[name] = scope
        self.written[file] = written.comments(source)
        self.notes.setdefault(file, Notes())
        self.run(tree.body, scope)
        return scope

    def _entered_nowhere(self, scope: Scope) -> None:
        """Functions that nothing called: their parameters are unknown, what they make themselves is not."""
        self.uncertain += 1
        # Who calls others most often stands below them, and gives them more than is known without.
        for value in reversed(list(scope.names.values())):
            if isinstance(value, Function) and value.scope is scope and id(value.code) not in self.entered:
                self._guarded(value, [])
            elif isinstance(value, Class) and value.scope is scope:
                for member in list(value.members.values()):
                    if isinstance(member, Function) and id(member.code) not in self.entered:
                        self._guarded(member, [UNKNOWN])
        self.uncertain -= 1

    def _guarded(self, function: Function, given: list[Any]) -> None:
        steps = self.steps
        self.steps = min(steps, STEPS // 10)
        spent = self.steps
        try:
            self.enter(function, given, {}, unknown=True)
        except OutOfBudgetError:
            self.depth = 0
        self.steps = steps - max(0, spent - max(self.steps, 0))
        if self.steps <= 0:
            raise OutOfBudgetError

    # -- statements --------------------------------------------------------------------------------------------------

    def run(self, statements: list[ast.stmt], scope: Scope) -> str:
        """Statements, one after the other; how they end: `return`, `break`, `continue`, `raise`, or nothing."""
        told = self.written.get(scope.file)
        last = statements[0].lineno if statements else 0
        for statement in statements:
            self.step()
            if told:
                self._apply_written(told, last, statement.lineno - 1, scope)
            end = self.statement(statement, scope)
            if told and not isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.If, ast.With, ast.Try)):
                head = (
                    statement.lineno
                    if hasattr(statement, "body")
                    else statement.end_lineno or statement.lineno
                )
                self._apply_written(told, statement.lineno, head, scope)
            last = (statement.end_lineno or statement.lineno) + 1
            if end:
                return end
        return ""

    def _apply_written(
        self, told: dict[int, dict[str, written.Told]], first: int, last: int, scope: Scope
    ) -> None:
        for line in range(first, last + 1):
            for name, about in told.get(line, {}).items():
                scope.names[name] = written.with_shape(scope.find(name), about)

    def statement(self, node: ast.stmt, scope: Scope) -> str:
        """One statement."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imported(node, scope)
        elif isinstance(node, ast.Assign):
            value = self.value(node.value, scope)
            for target in node.targets:
                self.assign(target, value, scope)
        elif isinstance(node, ast.AnnAssign):
            value = UNKNOWN if node.value is None else self.value(node.value, scope)
            about = written.annotated(node.annotation)
            if node.value is not None or about:
                self.assign(node.target, written.with_shape(value, about) if about else value, scope)
        elif isinstance(node, ast.AugAssign):
            current = self.value(_loaded(node.target), scope)
            more = self.value(node.value, scope)
            self.assign(node.target, self.combined(SIGNS[type(node.op)], current, more), scope)
        elif isinstance(node, ast.Expr):
            self.value(node.value, scope)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope.names[node.name] = self.defined(node, scope)
        elif isinstance(node, ast.ClassDef):
            scope.names[node.name] = self.class_of(node, scope)
        elif isinstance(node, ast.Return):
            if self.returned:
                self.returned[-1].append(None if node.value is None else self.value(node.value, scope))
            return "return"
        elif isinstance(node, ast.If):
            return self.branches(node, scope)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self.loop(node, scope)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                value = self.value(item.context_expr, scope)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, value, scope)
            return self.run(node.body, scope)
        elif isinstance(node, ast.Try):
            return self.tried(node, scope)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            scope.outside.update(node.names)
        elif isinstance(node, ast.Raise):
            return "raise"
        elif isinstance(node, ast.Break):
            return "break"
        elif isinstance(node, ast.Continue):
            return "continue"
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    scope.names.pop(target.id, None)
        elif isinstance(node, ast.Assert):
            self.value(node.test, scope)
        elif isinstance(node, ast.Match):
            self.value(node.subject, scope)
            self._alternatives([case.body for case in node.cases] + [[]], scope)
        return ""

    def branches(self, node: ast.If, scope: Scope) -> str:
        """The side that is taken, or both."""
        test = truth(self.value(node.test, scope))
        if test is not None:
            return self.run(node.body if test else node.orelse, scope)
        return self._alternatives([node.body, node.orelse], scope)

    def _alternatives(self, sides: list[list[ast.stmt]], scope: Scope) -> str:
        """Statements of which one list or another runs."""
        before = scope.names
        left: list[dict[str, Any]] = []
        ends: list[str] = []
        self.uncertain += 1
        for statements in sides:
            scope.names = dict(before)
            end = self.run(statements, scope)
            if end in ("", "continue", "break"):
                left.append(scope.names)
            ends.append(end)
        self.uncertain -= 1
        if not left:
            scope.names = dict(before)
            return ends[0]
        names = left[0]
        for other in left[1:]:
            for name in {**names, **other}:
                # A name that only one side binds is that where it is read: elsewhere the program would not run.
                if name in names and name in other:
                    names[name] = joined(names[name], other[name])
                else:
                    names[name] = names.get(name, other.get(name))
        scope.names = names
        return ends[0] if len(set(ends)) == 1 else ""

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> str:
        """A loop, turn by turn where it is short and known."""
        if isinstance(node, ast.While):
            if truth(self.value(node.test, scope)) is False:
                return self.run(node.orelse, scope)
            return self._repeated(node, lambda: None, scope)
        values, sample = self.turns(self.value(node.iter, scope))
        if values is not None and len(values) <= MOST_TURNS:
            for value in values:
                self.assign(node.target, value, scope)
                self._header(node, scope)
                end = self.run(node.body, scope)
                if end == "break":
                    return ""
                if end in ("return", "raise"):
                    return end
            return self.run(node.orelse, scope)
        if values is not None:
            sample = values[0]
            for each in values[1:]:
                sample = joined(sample, each)
            if sample is UNKNOWN and all(isinstance(each, int) for each in values):
                sample = SOME_NUMBER
        target = node.target

        def begin() -> None:
            self.assign(target, sample, scope)
            self._header(node, scope)

        return self._repeated(node, begin, scope)

    def _header(self, node: ast.For | ast.AsyncFor, scope: Scope) -> None:
        told = self.written.get(scope.file)
        if told:
            self._apply_written(told, node.lineno, node.lineno, scope)

    def _repeated(
        self, node: ast.For | ast.AsyncFor | ast.While, begin: Callable[[], None], scope: Scope
    ) -> str:
        """A body that runs some number of times: once as it begins, and again with what then still holds."""
        before = dict(scope.names)
        self.uncertain += 1
        begin()
        self.run(node.body, scope)
        stored = [name for name in dict.fromkeys(names_stored(node)) if name in before]
        changed = False
        for name in stored:
            both = joined(before[name], scope.names.get(name, before[name]))
            changed = changed or both is not before[name]
            scope.names[name] = both
        if changed:
            begin()
            self.run(node.body, scope)
            for name in stored:
                scope.names[name] = joined(before[name], scope.names.get(name, before[name]))
        self.uncertain -= 1
        return ""

    def tried(self, node: ast.Try, scope: Scope) -> str:
        """A `try` whose body does not fail; what its handlers do is looked at and forgotten."""
        before = dict(scope.names)
        end = self.run(node.body, scope)
        after = scope.names
        self.uncertain += 1
        for handler in node.handlers:
            scope.names = dict(before)
            marks = len(self.returned[-1]) if self.returned else 0
            self.run(handler.body, scope)
            if self.returned:
                del self.returned[-1][marks:]
        self.uncertain -= 1
        scope.names = after
        if not end:
            end = self.run(node.orelse, scope)
        return self.run(node.finalbody, scope) or end

    # -- definitions -------------------------------------------------------------------------------------------------

    def defined(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, home: Class | None = None
    ) -> Any:
        """A function with what its decorators make of it."""
        made = Function(node, scope, self.defaults(node.args, scope), home=home)
        found: Any = made
        for decorator in reversed(node.decorator_list):
            value = self.value(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
            name = canonical(_full(value.dotted)) if isinstance(value, Name) else ""
            if name in ("staticmethod", "classmethod", "property"):
                made.kind = name
            elif name == "tensorflow.function":
                for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
                    if keyword.arg == "input_signature":
                        signature = self.value(keyword.value, scope)
                        made.signature = tuple(signature) if isinstance(signature, (tuple, Items)) else ()
            elif isinstance(value, (Function, Bound)) and not isinstance(decorator, ast.Call):
                found = self.invoke(value, [found], {})
            elif not name.startswith(
                ("tensorflow.", "keras.", "functools.", "contextlib.", "typing.", "abc.", "numba.")
            ):
                found = UNKNOWN
        if found is UNKNOWN:
            # What it does is not known, but its body may run.
            scope.names[f"{node.name} undecorated"] = made
        return found

    def class_of(self, node: ast.ClassDef, scope: Scope) -> Any:
        """A class of the program."""
        bases = tuple(
            Name(canonical(_full(base.dotted))) if isinstance(base, Name) else base
            for base in (self.value(each, scope) for each in node.bases)
        )
        made = Class(node.name, bases, {}, node, scope)
        for decorator in node.decorator_list:
            value = self.value(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
            made.dataclass = made.dataclass or (
                isinstance(value, Name) and value.dotted.endswith("dataclass")
            )
        inner = Scope(made.members, scope, scope.file, scope.module, scope.package)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                made.members[statement.name] = self.defined(statement, scope, made)
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.value, ast.Call):
                made.members.update(self._field(statement, inner))
            else:
                self.statement(statement, inner)
        made.members = inner.names
        return made

    def _field(self, node: ast.AnnAssign, scope: Scope) -> dict[str, Any]:
        """A field of a dataclass whose default is made by `field(…)`."""
        assert isinstance(node.value, ast.Call)
        value: Any = self.value(node.value, scope)
        for keyword in node.value.keywords:
            if keyword.arg == "default":
                value = self.value(keyword.value, scope)
            elif keyword.arg == "default_factory":
                value = self.invoke(self.value(keyword.value, scope), [], {})
        return {node.target.id: value} if isinstance(node.target, ast.Name) else {}

    def imported(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        """Modules of the project are gone through; libraries are their dotted names."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                first = alias.name.split(".")[0]
                module = self._project_module(alias.name if alias.asname else first, 0, scope)
                if not alias.asname and "." in alias.name and module is not None:
                    self._project_module(alias.name, 0, scope)
                name = alias.asname or first
                scope.names[name] = module or Name(_full(alias.name if alias.asname else first))
                continue
            base = node.module or ""
            module = self._project_module(base, node.level, scope)
            if module is None and node.level == 0:
                scope.names[alias.asname or alias.name] = Name(_full(f"{base}.{alias.name}"))
            elif alias.name == "*":
                scope.names.update(
                    {
                        name: value
                        for name, value in (module.names if module else {}).items()
                        if not name.startswith("_")
                    }
                )
            else:
                scope.names[alias.asname or alias.name] = self._from_module(
                    module, base, alias.name, node.level, scope
                )

    def _from_module(self, module: Scope | None, base: str, name: str, level: int, scope: Scope) -> Any:
        if module is not None and name in module.names:
            return module.names[name]
        below = self._project_module(f"{base}.{name}".strip("."), level, scope)
        return UNKNOWN if below is None else below

    def _project_module(self, dotted: str, level: int, scope: Scope) -> Scope | None:
        if self.find is None or (not dotted and not level):
            return None
        source = self.find(dotted, level, scope.file)
        if source is None:
            return None
        if source.name not in self.modules:
            if len(self.modules) > MOST_MODULES:
                return None
            self.modules[source.name] = None
            uncertain, self.uncertain = self.uncertain, 0
            self._module(source.text, source.file, source.name, source.package)
            self.uncertain = uncertain
        return self.modules[source.name]

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind a value to what stands on the left."""
        if isinstance(target, ast.Name):
            home: Scope | None = scope
            if target.id in scope.outside:
                home = scope.outer
                while home is not None and home.outer is not None and target.id not in home.names:
                    home = home.outer
            home = home or scope
            home.names[target.id] = (
                joined(home.names.get(target.id, value), value)
                if home is not scope and self.uncertain
                else value
            )
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, scope)
        elif isinstance(target, ast.Attribute):
            self.set_member(self.value(target.value, scope), target.attr, value)
        elif isinstance(target, ast.Subscript):
            owner = self.value(target.value, scope)
            index = self._index(target.slice, scope)
            if isinstance(owner, Table) and isinstance(index, (str, int)) and self.uncertain <= owner.born:
                owner[index] = value
            elif isinstance(owner, Items) and isinstance(index, int) and -len(owner) <= index < len(owner):
                owner[index] = value if self.uncertain <= owner.born else joined(owner[index], value)
            elif isinstance(owner, (Table, Items)):
                owner.known = False
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, scope)

    def _unpack(self, targets: list[ast.expr], value: Any, scope: Scope) -> None:
        if isinstance(value, Items):
            parts: list[Any] | None = list(value) if value.known else None
        elif isinstance(value, Array) and value.shape:
            parts = [Array(value.dtype, value.shape[1:], value.numpy)] * len(targets)
        else:
            parts = list(value) if isinstance(value, tuple) else None
        starred = [place for place, each in enumerate(targets) if isinstance(each, ast.Starred)]
        if parts is not None and len(starred) == 1 and len(parts) >= len(targets) - 1:
            first, after = starred[0], len(targets) - starred[0] - 1
            middle = Items(parts[first : len(parts) - after], self.uncertain)
            parts = [*parts[:first], middle, *parts[len(parts) - after :]]
        if parts is None or len(parts) != len(targets):
            parts = [UNKNOWN] * len(targets)
        for each, part in zip(targets, parts, strict=True):
            self.assign(each, part, scope)

    def told(self, node: ast.AST, name: str, value: Any, annotation: ast.expr | None, scope: Scope) -> Any:
        """A parameter, with what the user wrote about it."""
        about = written.annotated(annotation)
        lines = self.written.get(scope.file)
        if lines and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for line in range(node.lineno, max(node.body[0].lineno, node.lineno + 1)):
                about = lines.get(line, {}).get(name, about)
        return value if about is None else written.with_shape(value, about)

    # -- members and calls ---------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """A member of a library, of a module of the project, or of a value."""
        if isinstance(owner, Name):
            if owner.dotted.endswith("flags.FLAGS"):
                return self.flags.get(name, UNKNOWN)
            return Name(_full(f"{owner.dotted}.{name}"))
        if isinstance(owner, Scope):
            if name in owner.names:
                return owner.names[name]
            below = self._project_module(f"{owner.module}.{name}", 0, owner)
            return UNKNOWN if below is None else below
        if isinstance(owner, (Array, Node)):
            return self._of_array(owner, name)
        if isinstance(owner, Instance):
            return self._of_model(owner.model, name, owner) if owner.model else self.member(owner, name)
        if isinstance(owner, Super):
            return self.inherited(owner, name)
        if isinstance(owner, Class):
            found = owner.find(name)
            if isinstance(found, Function) and found.kind == "classmethod":
                return Bound(found, owner)
            if "Enum" in owner.library and found is not None:
                return Table({"value": found, "name": name})
            return UNKNOWN if found is None else found
        if isinstance(owner, Table) and name in owner:
            return owner[name] if owner.known else UNKNOWN
        if isinstance(owner, Model):
            return self._of_model(owner, name, None)
        if isinstance(owner, Dataset) and name == "element_spec":
            return owner.element
        if isinstance(owner, Layer) and name in owner.config:
            return owner.config[name]
        if isinstance(owner, Function) and name in ("python_function", "__wrapped__"):
            return owner
        if owner is UNKNOWN or owner is SOME_NUMBER or owner is None or isinstance(owner, (Function, Bound)):
            return UNKNOWN
        return Method(owner, name)

    def _of_array(self, owner: Array | Node, name: str) -> Any:
        array = owner.array if isinstance(owner, Node) else owner
        if name == "shape":
            unknown = None if isinstance(owner, Node) else SOME_NUMBER
            return tuple(unknown if size is None else size for size in array.shape)
        if name == "dtype":
            return array.dtype
        if name == "ndim":
            return len(array.shape)
        if name == "T" and isinstance(owner, Array):
            return Array(array.dtype, array.shape[::-1], array.numpy)
        if name == "size" and isinstance(owner, Array):
            total = elements(array.shape)
            return SOME_NUMBER if total is None else total
        return Method(owner, name) if isinstance(owner, Array) else UNKNOWN

    def _of_model(self, model: Model, name: str, instance: Instance | None) -> Any:
        if instance is not None:
            found = self.member(instance, name)
            if not isinstance(found, Method):
                return found
        if name in ("output", "outputs", "input", "inputs") and model.kind == "functional":
            value = model.outputs if name.startswith("output") else model.inputs
            return value if not name.endswith("s") or isinstance(value, (tuple, list)) else Items([value])
        if name in ("output_shape", "input_shape") and model.kind == "functional":
            value = model.outputs if name.startswith("output") else model.inputs
            return value.array.shape if isinstance(value, Node) else UNKNOWN
        if name == "layers" and model.kind == "sequential":
            return (
                Items([each for each in model.layers if not isinstance(each, Node)])
                if model.known
                else UNKNOWN
            )
        if name in (
            "trainable_variables",
            "trainable_weights",
            "weights",
            "variables",
            "layers",
            "optimizer",
            "history",
        ):
            return UNKNOWN
        return Method(instance if instance is not None else model, name)

    def call(self, node: ast.Call, scope: Scope) -> Any:
        """A call as it stands in the source."""
        if isinstance(node.func, ast.Name) and node.func.id == "super" and "super" not in scope.names:
            return self._super(node, scope)
        function = self.value(node.func, scope)
        given, named, complete = self.unpacked(node, scope)
        self.at = (scope.file, node.lineno)
        if not complete:
            return UNKNOWN
        told = self.recorded.get((scope.file, node.lineno, node.col_offset))
        if told:
            given, named = _as_recorded(told, given, named)
        if isinstance(function, Name) and ".DEFINE_" in f".{function.dotted}" and given:
            self.flags[str(given[0])] = given[1] if len(given) > 1 else named.get("default")
            return Made("flag")
        value, asked = self.answer(function, given, named)
        library = not isinstance(function, (Function, Bound, Class)) and function is not UNKNOWN
        if library and not self.silent:
            place = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            if asked is not None:
                asked = replace(
                    asked,
                    recorded=told is not None,
                    inside=self.inside > 0,
                    signature=_signature(given, named),
                    arguments=_arguments(given, named),
                )
            self.note(scope.file, place, asked)
        return value

    def _super(self, node: ast.Call, scope: Scope) -> Any:
        home, owner = scope.find("__class__"), scope.find("self")
        if len(node.args) == 2:
            home, owner = self.value(node.args[0], scope), self.value(node.args[1], scope)
        return Super(home, owner) if isinstance(home, Class) else UNKNOWN

    def invoke(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """The value of a call."""
        return self.answer(function, given, named)[0]

    def answer(self, function: Any, given: list[Any], named: dict[str, Any]) -> tuple[Any, Asked | None]:
        """The value of a call, and what it was given if that is worth keeping."""
        self.step()
        if isinstance(function, Function):
            return self.enter(function, given, named), None
        if isinstance(function, Bound):
            return self.enter(function.function, [function.owner, *given], named), None
        if isinstance(function, Class):
            return self.make(function, given, named), None
        if isinstance(function, Table) and function.get("") == "partial":
            first, *more = function["given"]
            return self.answer(first, [*more, *given], {**function["named"], **named})
        if isinstance(function, Name) and function.dotted.endswith(STARTERS) and given:
            return self.invoke(given[0], [UNKNOWN], {}) if isinstance(given[0], Function) else UNKNOWN, None
        if self._builds(function) and (is_symbolic(given) or is_symbolic(named)):
            about = arrays_of(tuple(given[:1] if isinstance(function, (Layer, Model, Instance)) else given))
            return self.symbolic(function, given, named), Asked(
                shape=", ".join(map(str, about))
            ) if about else None
        try:
            return self.libraries.call(function, given, named, self.at[1], self.at[0])
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            return UNKNOWN, None  # arguments that the library would not take either, or that no rule foresaw

    def _builds(self, function: Any) -> bool:
        """Whether a call with a tensor of a functional model is a part of that model."""
        if isinstance(function, (Layer, Model, Made)):
            return True
        if isinstance(function, Instance):
            return True
        if not isinstance(function, Name):
            return False
        name = (
            canonical(_full(function.dotted))
            if function.dotted.startswith(("tensorflow", "keras"))
            else function.dotted
        )
        if name.startswith("keras.applications."):
            return name.endswith(".preprocess_input")
        return name.startswith(("tensorflow.", "keras.ops.", "keras.activations.", "(operator)."))

    def symbolic(self, function: Any, given: list[Any], named: dict[str, Any]) -> Any:
        """A call with tensors of a functional model: what it would give, and how to ask again with a batch."""
        trace, self.trace = self.trace, None
        self.silent += 1
        try:
            found = self.invoke(function, _plain(given), dict(_plain(named)))
        finally:
            self.trace = trace
            self.silent -= 1
        kept, keywords = tuple(given), tuple(named.items())

        def wrapped(value: Any, part: tuple[Any, ...]) -> Any:
            if isinstance(value, Array):
                return Node(value, function, kept, keywords, part, self.at)
            if isinstance(value, tuple):
                return tuple(wrapped(each, (*part, at)) for at, each in enumerate(value))
            if isinstance(value, list):
                return Items(wrapped(each, (*part, at)) for at, each in enumerate(value))
            if isinstance(value, dict):
                return Table({key: wrapped(each, (*part, key)) for key, each in value.items()})
            return value

        return wrapped(found, ())

    def start_library(self, owner: Instance, given: list[Any], named: dict[str, Any]) -> None:
        """`super().__init__(…)` of a class that comes from a library."""
        self.libraries.start(owner, given, named)

    # -- what is found -----------------------------------------------------------------------------------------------------

    def applied(self, layer: LayerSpec | None) -> None:
        """Keep a layer of the model that is gone through; None where something about it is not known."""
        if self.trace is not None:
            self.trace.append(layer)

    def operation(self, api: str, given: list[Array], attributes: dict[str, Any] | None = None) -> None:
        """Keep an operation of the model that is gone through."""
        if self.trace is None:
            return
        tensors = [one.tensor for one in given if not one.variable] or [one.tensor for one in given]
        spec = self.libraries.models.spec(
            "Operation", given, {"api": api, **(attributes or {})}, api, *self.at
        )
        self.trace.append(spec if all(tensor is not None for tensor in tensors) else None)

    def note(self, file: str, place: Place, asked: Asked | None) -> None:
        """Keep what a call was given; a call that was given something unknown once has no shape."""
        notes = self.notes.setdefault(file, Notes())
        known = notes.found.get(place, ())
        if asked is None or len(known) >= MOST_SHAPES:
            notes.blurred.add(place)
        elif not any(each.shape == asked.shape and each.inside == asked.inside for each in known):
            notes.found[place] = (*known, asked)


def _arguments(given: list[Any], named: dict[str, Any]) -> tuple[tuple[str, str, bool], ...]:
    """The tensors of a call, by the keyword or the place of the argument they stand in."""
    found: list[tuple[str, str, bool]] = []
    for label, value in [*((str(place), value) for place, value in enumerate(given)), *named.items()]:
        leaves: list[Any] = []
        mapped(value, leaves.append)
        for leaf in leaves:
            array = leaf.array if isinstance(leaf, Node) else leaf
            if isinstance(array, Array):
                found.append((label, str(array), array.written))
    return tuple(found)


def _signature(given: list[Any], named: dict[str, Any]) -> tuple[str, ...]:
    """The tensors of a call as measurements note them; nothing where one is not wholly known."""
    texts: list[str] = []
    for label, value in [("", tuple(given)), *((f"{name}=", value) for name, value in named.items())]:
        leaves: list[Any] = []
        mapped(value, leaves.append)
        for leaf in leaves:
            if leaf is UNKNOWN or (isinstance(leaf, Array) and leaf.tensor is None):
                return ()
            if isinstance(leaf, Array):
                texts.append(f"{label}{leaf}")
    return tuple(texts)


def _as_recorded(
    told: tuple[str, ...], given: list[Any], named: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments with the shapes that a run saw, where they can be told apart."""
    places = iter([array for text in told if "=" not in text and (array := written.read(text)) is not None])
    count = sum("=" not in text for text in told)

    def open_leaf(leaf: Any) -> bool:
        return isinstance(leaf, Array) or leaf is UNKNOWN

    leaves: list[Any] = []
    mapped(given, leaves.append)
    if sum(open_leaf(leaf) for leaf in leaves) == count:

        def one(leaf: Any) -> Any:
            if not open_leaf(leaf):
                return leaf
            seen = next(places, leaf)
            return (
                replace(seen, numpy=leaf.numpy)
                if isinstance(leaf, Array) and isinstance(seen, Array)
                else seen
            )

        given = list(mapped(given, one))
    for text in told:
        name, sign, rest = text.partition("=")
        seen = written.read(rest) if sign else None
        if seen is not None and open_leaf(named.get(name)):
            named = {**named, name: seen}
    return given, named


def _plain(value: Any) -> Any:
    """The arrays that the tensors of a functional model stand for."""
    return mapped(value, lambda leaf: leaf.array if isinstance(leaf, Node) else leaf)


def _loaded(target: ast.expr) -> ast.expr:
    """What stands on the left of `+=`, as an expression."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def _full(dotted: str) -> str:
    for short, name in FULL_NAMES.items():
        if dotted == short or dotted.startswith(short + "."):
            return name + dotted[len(short) :]
    return dotted
