"""What the reader says of one file at one moment: what rules and hints read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from contextlib import AbstractContextManager
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, Protocol

import tree_sitter

from energy_code.analysis.calls import Calls, Found, Made, Renewed
from energy_code.analysis.enclosing import EnclosingCode, EnclosingFunctions
from energy_code.analysis.functions import Functions
from energy_code.analysis.ignore_comments import Ignores, ignores_in
from energy_code.analysis.layout import Layout
from energy_code.incremental.engine import Engine
from energy_code.incremental.module_summary import OUTSIDE, Knowledge, summary_of_module
from energy_code.interpreter.domain.definitions import Module, UserClass, UserInstance
from energy_code.interpreter.domain.values import (
    UNKNOWN,
    ApiClass,
    ApiFunction,
    ApiInstance,
    ApiMethod,
    ApiModule,
    Union,
    Value,
)
from energy_code.ir.code import Code, FunctionCode, TopLevelStatement
from energy_code.model import Call, Definition, Mode
from energy_code.syntax.pieces import Repair
from energy_code.syntax.tree import parse, parse_stretch
from energy_code.text.lines import Lines

FEW = 8
"""While less than this part of a text has been looked at statement by statement, each is parsed alone."""


DEFINITIONS = (b"def ", b"class ", b"async ", b"@")


class LastReading(NamedTuple):
    """What an analysis leaves for the next one."""

    layout: Layout
    found: Sequence[Found]
    knowledge: Knowledge


class StatementRange(NamedTuple):
    """A statement of a module's top level: where it is, its code, how many of the codes and calls of the file it has."""

    start: int
    end: int
    code: Code
    codes: tuple[int, int]
    first: int
    last: int


class KeptFindings(Protocol):
    """What rules found at their last search (`rule_engine.cache.FindingCache`)."""

    source: bytes


class ReadText(Protocol):
    """The text that an analysis is of (`workspace.document.Document`)."""

    path: Path | None
    source: bytes
    engine: Engine
    module: Module
    broken: list[tuple[int, int]]
    remembered: KeptFindings | None

    def lines(self) -> Lines:
        """Where the lines start."""

    def tree(self) -> tree_sitter.Tree:
        """The syntax tree of the whole text."""

    @property
    def repaired(self) -> bytes:
        """The text as it is read."""

    @property
    def whole(self) -> bool:
        """True while the text has no syntax error."""

    @property
    def repairs(self) -> list[Repair]:
        """What is read in place of what is written."""

    def reading(self) -> AbstractContextManager[None]:
        """Stop what takes too long."""


class Analysis:
    """A snapshot: later edits of the document do not change it."""

    def __init__(
        self,
        document: ReadText,
        kept: Made,
        unchanged: int,
        before: LastReading | None = None,
    ) -> None:
        self.source = document.source
        self.document = document
        self.whole = document.whole
        """True when the text has no syntax error."""
        self.broken = tuple(document.broken)
        """Where the statements with syntax errors begin and end."""
        self.repairs = document.repairs
        """What is read there in place of what is written."""
        self.lines = document.lines()
        self.engine = document.engine
        self.module = document.module
        self.module_summary = summary_of_module(self.engine, self.module)
        self._before = before
        self.layout = Layout(self.module.statements, before.layout if before is not None else None)
        self._kept = kept
        self._unchanged = unchanged
        self._compared: tuple[Knowledge, set[Code]] | None = None
        self._repaired = document.repaired
        self._trees: dict[tuple[int, int], tree_sitter.Tree] = {}
        """Of single statements, by where they begin and end."""
        self._parsed = 0
        self._tree: tree_sitter.Tree | None = None
        self._calls: Calls | None = None
        self._functions: Functions | None = None
        self._ignores: Ignores | None = None
        self._around = EnclosingFunctions(self.layout.enclosing_codes, self.module_summary)

    def tree(self) -> tree_sitter.Tree:
        """The syntax tree of the text this analysis saw."""
        if self._tree is None:
            is_newest = self.document.source is self.source
            self._tree = self.document.tree() if is_newest else parse(self.source)
        return self._tree

    def root_at(self, place: int) -> tree_sitter.Node:
        """The root of a tree that holds the statement of the top level at a place.

        After an edit rules look at one or two statements: to bring the tree of a long text up to date for them would take
        most of the time that a key takes. Where many are looked at it is that of the whole text, and for statements that are
        no definitions: rules look at their neighbours. In broken text it reaches from one error to the next, as an error
        may take the statements behind it with it.
        """
        stretch = self._broken_around(place) or self._definition_around(place) or self._sound_around(place)
        if stretch is None:
            return self.tree().root_node
        start, end = stretch
        tree = self._trees.get(stretch)
        if tree is None:
            points = self.lines.point(start), self.lines.point(end)
            tree = self._trees[stretch] = parse_stretch(self._repaired, start, end, points)
            self._parsed += end - start
        return tree.root_node

    def _broken_around(self, place: int) -> tuple[int, int] | None:
        """The stretch with a syntax error around a place: it is read by itself, and looked at so, too."""
        number = bisect_right(self.broken, place, key=itemgetter(0)) - 1
        return self.broken[number] if number >= 0 and place < self.broken[number][1] else None

    def _definition_around(self, place: int) -> tuple[int, int] | None:
        """A function or class that is looked at by itself."""
        layout = self.layout
        number = bisect_right(layout.statement_starts, place) - 1
        if number < 0:
            return None
        start, code = layout.statements[number]
        alone = (
            not self.whole
            or (start, start + code.end) in self._trees
            or self._parsed < len(self.source) // FEW
        )
        is_inside = place < start + code.end and self.source.startswith(DEFINITIONS, start)
        return (start, start + code.end) if is_inside and alone else None

    def _sound_around(self, place: int) -> tuple[int, int] | None:
        """The stretch between two errors; None in a text without any."""
        if self.whole:
            return None
        number = bisect_right(self.broken, place, key=itemgetter(0))
        start = self.broken[number - 1][1] if number else 0
        return start, self.broken[number][0] if number < len(self.broken) else len(self.source)

    # calls ----------------------------------------------------------------------------------------------------

    def calls(self) -> Calls:
        """Every API call, by place."""
        if self._calls is None:
            found = self._reached()
            around = self._around.of_call
            self._calls = Calls(found, self.lines, around, self._kept, self._unchanged, self.repairs)
        return self._calls

    def _reached(self) -> list[Found]:
        """Where each call is and what it reaches; those of statements that are what they were are taken over."""
        layout, before, self._before = self.layout, self._before, None
        if before is None:
            return self._found_in(layout.enclosing_codes)
        front, back, by = layout.same_but_for(self.changed_since(before.knowledge))
        enclosing_codes = layout.enclosing_codes[layout.tops[front] : layout.tops[-1 - back]]
        renewed = Renewed(
            before.found,
            bisect_left(before.found, (before.layout.start_of(front),)),
            bisect_left(before.found, (before.layout.start_of(len(before.layout.statements) - back),)),
            by,
        )
        return renewed.around(self._found_in(enclosing_codes))

    def _found_in(self, enclosing_codes: Sequence[EnclosingCode]) -> list[Found]:
        """The calls that some codes make, by place."""
        sites = self.module_summary.sites()
        bases: dict[Code, int] = {}
        twins: list[tuple[int, Code]] = []
        for start, _, code, _ in enclosing_codes:
            if bases.setdefault(code, start) != start:  # the same function written twice, as in two branches
                twins.append((start, code))
        found: list[Found] = [
            (
                (base := bases[expression.enclosing_code]) + expression.start,
                -(base + expression.end),
                expression,
                site,
            )
            for expression, site in sites.items()
            if expression.enclosing_code in bases
        ]
        for base, code in twins:
            found += [
                (base + expression.start, -(base + expression.end), expression, site)
                for expression, site in sites.items()
                if expression.enclosing_code is code
            ]
        found.sort(key=itemgetter(0, 1))
        return found

    def let_go(self) -> None:
        """Keep nothing of the analysis before: whoever takes something over from it has done so."""
        self._compared = None

    def seen(self) -> LastReading:
        """What the next analysis of the document can take over."""
        return LastReading(self.layout, self.calls().reached, self.knowledge())

    # questions about nodes ------------------------------------------------------------------------------------

    def _enclosing_code(self, start: int, end: int) -> tuple[int, Code] | None:
        """The innermost code around a stretch, and where it starts."""
        layout = self.layout
        position = bisect_right(layout.starts, start) - 1
        while position >= 0:
            base, stop, code, _ = layout.enclosing_codes[position]
            if end <= stop:
                return base, code
            position -= 1
        return None

    def function_around(self, start: int, end: int) -> tuple[int, int] | None:
        """Where the named function around a stretch begins and ends; of a function the one around it."""
        layout = self.layout
        position = bisect_right(layout.starts, start) - 1
        while position >= 0:
            first, last, code, parent = layout.enclosing_codes[position]
            if end <= last:
                if type(code) is FunctionCode and code.name != "<lambda>" and (first, last) != (start, end):
                    return first, last
                if parent is None:
                    return None
            position -= 1
        return None

    def value_of(self, node: tree_sitter.Node) -> Value:
        """What the interpreter knows of an expression."""
        while node.type in ("parenthesized_expression", "type") and node.named_child_count == 1:
            node = node.named_children[0]
        start, end = node.start_byte, node.end_byte
        found = self._enclosing_code(start, end)
        while found is not None:
            base, enclosing_code = found
            value = self.module_summary.value_at(enclosing_code, start - base, end - base)
            parent = self._around.parents().get(enclosing_code)
            if value is not UNKNOWN or parent is None:
                return value
            outer = next((start for start, _, code, _ in self.layout.enclosing_codes if code is parent), None)
            found = (outer, parent) if outer is not None else None
        return UNKNOWN

    def call_of(self, node: tree_sitter.Node) -> Call | None:
        """The API call that this very call node is."""
        if node.type != "call":
            return None
        reached, wanted = self.calls().reached, (node.start_byte, -node.end_byte)
        place = bisect_left(reached, wanted)
        while place < len(reached) and reached[place][:2] == wanted:
            if not reached[place][3].decorator:
                return self.calls()[place]
            place += 1
        return None

    def api_of(self, node: tree_sitter.Node) -> str | None:
        """Canonical API of a callee, a name, an attribute or a call expression."""
        if node.type == "call":
            call = self.call_of(node)
            return call.api if call is not None else None
        value = self.value_of(node)
        if isinstance(value, Union):
            value = value.options[0]
        if isinstance(value, (ApiFunction, ApiClass, ApiMethod, ApiModule)):
            return value.name
        return None

    def type_of(self, node: tree_sitter.Node) -> str | None:
        """Canonical class of an expression's value; the nearest public class for instances of the program's own."""
        value = self.value_of(node)
        if isinstance(value, Union):
            value = value.options[0]
        if isinstance(value, ApiInstance):
            return value.cls
        if isinstance(value, UserInstance):
            bases = self.engine.classes.api_bases(value.cls)
            return bases[0] if bases else None
        return None

    def mode_at(self, node: tree_sitter.Node) -> Mode:
        """Whether code at this place runs eagerly, as a graph or compiled."""
        found = self._enclosing_code(node.start_byte, node.end_byte)
        return self._around.mode(found[1]) if found is not None else "eager"

    def called_from_outside(self, node: tree_sitter.Node) -> bool:
        """Whether another file of the project calls the function around a node in eager code."""
        found = self._enclosing_code(node.start_byte, node.end_byte)
        code = found[1] if found is not None else None
        return isinstance(code, FunctionCode) and OUTSIDE["eager"] in self.module_summary.callers.get(
            code, ()
        )

    def statements_at(self, place: int) -> StatementRange | None:
        """The statement of the module's top level that a byte lies in; None between statements."""
        layout, reached = self.layout, self.calls().reached
        number = bisect_right(layout.statement_starts, place) - 1
        if number < 0:
            return None
        start, code = layout.statements[number]
        end = start + code.end
        if place >= end:
            return None
        calls = bisect_left(reached, (start,))
        numbers = layout.tops[number], layout.tops[number + 1]
        return StatementRange(start, end, code, numbers, calls, bisect_left(reached, (end,), calls))

    def knowledge(self) -> Knowledge:
        """What all answers about expressions rest on."""
        return self.module_summary.knowledge()

    def changed_since(self, old: Knowledge) -> set[Code]:
        """The codes of which something else was known then."""
        if self._compared is None or self._compared[0] is not old:
            self._compared = (old, self.knowledge().changed_since(old))
        return self._compared[1]

    # about the file -------------------------------------------------------------------------------------------

    def functions(self) -> Sequence[Definition]:
        """Functions and classes by place."""
        if self._functions is None:
            found = [
                (start, end, code)
                for start, end, code, _ in self.layout.enclosing_codes
                if type(code) is not TopLevelStatement and code.name != "<lambda>"
            ]
            self._functions = Functions(found, self.lines)
        return self._functions

    def ignores(self) -> Ignores:
        """Rows with `# energy: ignore[a, b]` and the rules they name."""
        if self._ignores is None:
            self._ignores = ignores_in(self.source, self.lines)
        return self._ignores

    def spelling(self, api: str) -> str | None:
        """How this file would write a name: the shortest way from something it imports."""
        best: str | None = None
        for name, value in self.module.names.items():
            written = self._spelled(name, value, api)
            if written is not None and (best is None or len(written) < len(best)):
                best = written
        return best

    def _spelled(self, name: str, value: Value, api: str) -> str | None:
        """One binding as the start of a spelling."""
        if isinstance(value, (ApiFunction, ApiClass)) and value.name == api:
            return name
        if isinstance(value, ApiClass) and api.startswith(f"{value.name}."):
            return f"{name}{api[len(value.name) :]}"
        if not isinstance(value, ApiModule):
            return None
        for owner in self.engine.public.spellings(api):
            if owner.startswith(f"{value.name}."):
                return f"{name}{owner[len(value.name) :]}"
        return None

    def user_class(self, node: tree_sitter.Node) -> UserClass | None:
        """The program's own class that a name stands for."""
        value = self.value_of(node)
        return value if isinstance(value, UserClass) else None
