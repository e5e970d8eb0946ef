"""Taking statements out of a loop, or of a function that loops call, into a function of their own, as a person would."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from energy_code.rule_engine.context import Edit, RuleContext
from energy_code.rule_engine.queries.loops import targets
from energy_code.rule_engine.queries.program import (
    FileNames,
    free_names_of,
    is_size,
    program_of,
    statements_at,
    without,
)
from energy_code.rule_engine.queries.purity import applies_gradients_of
from energy_code.rule_engine.queries.traceable import Reach, has_effect, reads_what_changes

if TYPE_CHECKING:
    from tree_sitter import Node

_SIMPLE = frozenset({"expression_statement", "with_statement", "delete_statement", "comment"})
"""What may run or not, or several times, would leave names unbound: such statements end what is taken."""
TAPE_NAMES = re.compile(rb"GradientTape\([^)]*\)\s+as\s+(\w+)")
_CONDITIONS = frozenset({"if_statement", "elif_clause", "else_clause"})
_OF_PYTHON = frozenset({"zip", "map", "len", "int", "float", "str", "bool", "range", "enumerate"})
_COUNTED = re.compile(r"(range|enumerate)\(")


class LoopStep(NamedTuple):
    """Neighbouring statements that can be a function: what they are given and what they give."""

    statements: Sequence[Node]
    around: Sequence[Node]
    """The loops around them, the innermost first, or the function that they are part of; theirs goes before the last."""
    inputs: Sequence[str]
    outputs: Sequence[str]
    owner: str = ""
    """`self` in a method: the function becomes a method beside it."""


class StatementNames(NamedTuple):
    """The names of some statements."""

    read: frozenset[str]
    """Before the statements themselves bind them."""
    bound: frozenset[str]


def step_at(
    place: RuleContext, first: Node, ends: Callable[[Node], bool], function: Node | None = None
) -> LoopStep | None:
    """What can be taken out from a statement on, up to the first effect; None where names do not allow it.

    Of the loops around the statement, or of `function`, which runs again and again.
    """
    around = [function] if function is not None else _loops(place, first)
    block = first.parent
    program = program_of(place.analysis)
    if not around or block is None or not _runs_in(block, around[0]):
        return None
    place.shared.looked_anywhere = True  # any function of the file may be one that runs with it
    statements = _taken(place, block, first, lambda one: ends(one) or _has_effect(program, one))
    names = _names(place, statements)
    if names is None or (function is not None and names.bound & program.declared_global):
        return None
    inside = _names_around(place, program, around, statements)
    inputs = sorted(name for name in names.read if name in inside or name in names.bound)
    owner = "self" if function is not None and "self" in inputs else ""
    inputs = [name for name in inputs if name != owner]
    if any(name in counted(place, around) for name in inputs):
        return None  # a Python number is another graph for each value
    if _depends_on_python(place, program, names, inputs, around, statements):
        return None
    tapes = TAPE_NAMES.findall(place.shared.code(), statements[0].start_byte, statements[-1].end_byte)
    outputs = [
        name
        for name in sorted(names.bound - {tape.decode() for tape in tapes})
        if name in names.read or _is_read_outside(place, program, name, around, statements)
    ]
    if any(_is_python(program, name, statements) for name in outputs):
        return None
    return LoopStep(statements, around, inputs, outputs, owner)


def _loops(place: RuleContext, statement: Node) -> list[Node]:
    return [
        one for one in place.within_function(statement) if one.type in ("for_statement", "while_statement")
    ]


def _runs_in(block: Node, around: Node) -> bool:
    """Whether a block is the body of a loop or function, or of a condition in it: its statements run one after the other."""
    body = around.child_by_field_name("body")
    while block != body:
        condition = block.parent
        if condition is None or condition.type not in _CONDITIONS or condition.parent is None:
            return False
        block = condition.parent
        if block.type == "if_statement":  # of an else or elif
            if block.parent is None:
                return False
            block = block.parent
    return True


def _has_effect(program: FileNames, statement: Node) -> bool:
    return has_effect(Reach(program, _parsed(program, statement, statement)))


def _parsed(program: FileNames, first: Node, last: Node) -> list[ast.stmt]:
    """Statements as Python reads them."""
    (row, column), (end_row, end_column) = first.start_point, last.end_point
    return statements_at(program, (row, column), (end_row, end_column))


def _is_python(program: FileNames, name: str, statements: Sequence[Node]) -> bool:
    """Whether the statements make something of Python of a name, which a trace would give back as a tensor or not at all."""
    if program.is_number(name):
        return True
    values = [
        node.value
        for statement in _parsed(program, statements[0], statements[-1])
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    ]
    return any(is_python(program, value) for value in values)


def is_python(program: FileNames, value: ast.expr) -> bool:
    """Whether an expression gives something of Python."""
    if isinstance(value, ast.Name):
        return program.is_number(value.id) and value.id not in program.parameters
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in _OF_PYTHON
    if isinstance(value, ast.Constant):
        return value.value is not None
    return isinstance(value, (ast.Lambda, ast.GeneratorExp, ast.JoinedStr)) or (
        isinstance(value, ast.Attribute) and value.attr == "shape"
    )


def extracted(place: RuleContext, step: LoopStep, decorator: str, name: str) -> list[Edit]:
    """The function before the loops, and a call of it in place of the statements."""
    source = place.analysis.source
    outermost = step.around[-1]
    margin = _margin(source, outermost.start_byte)
    start, end = step.statements[0].start_byte, step.statements[-1].end_byte
    body = textwrap.dedent(_margin(source, start) + source[start:end].decode())
    own = [step.owner] if step.owner else []
    lines = [decorator, f"def {name}({', '.join([*own, *step.inputs])}):"]
    lines += textwrap.indent(body, "    ").split("\n")
    if step.outputs:
        lines.append(f"    return {', '.join(step.outputs)}")
    blank = 1 if margin else 2
    text = "".join(f"{margin}{line}\n" if line.strip() else "\n" for line in lines) + "\n" * blank
    call = f"{'.'.join([*own, name])}({', '.join(step.inputs)})"
    result = f"{', '.join(step.outputs)} = {call}" if step.outputs else call
    at = outermost.start_byte - len(margin.encode())
    return [Edit(at, at, text), Edit(start, end, result)]


def free_name(place: RuleContext, wanted: str, before: int = 0) -> str:
    """A name that the file does not use yet; `before`: how many others of the file may be given one at the same time."""
    taken = place.analysis.source
    names = (wanted, *(f"{wanted}_{number}" for number in range(2, 1000)))
    free = (name for name in names if not re.search(rb"\b" + name.encode() + rb"\b", taken))
    return next(itertools.islice(free, min(before, 500), None))


def _taken(place: RuleContext, block: Node, first: Node, has_effect: Callable[[Node], bool]) -> list[Node]:
    """Statements from one on as long as they have no effect in Python and run exactly once a pass."""
    found: list[Node] = []
    for statement in block.named_children:
        if statement.start_byte < first.start_byte:
            continue
        text = place.analysis.source[statement.start_byte : statement.end_byte]
        if statement.type not in _SIMPLE or has_effect(statement) or b'"""' in text or b"'''" in text:
            break
        if _adds_up(statement):
            break
        found.append(statement)
    while found and found[-1].type == "comment":
        found.pop()
    return found


def _adds_up(statement: Node) -> bool:
    """`total += loss`: what was a Python number before would become a tensor."""
    return bool(statement.named_children) and statement.named_children[0].type == "augmented_assignment"


def _names(place: RuleContext, statements: Sequence[Node]) -> StatementNames | None:
    if not statements:
        return None
    source = place.analysis.source
    start, end = statements[0].start_byte, statements[-1].end_byte
    try:
        tree = ast.parse(textwrap.dedent(_margin(source, start) + source[start:end].decode()))
    except (SyntaxError, ValueError, RecursionError):
        return None
    finder = _Finder()
    finder.visit(tree)
    return StatementNames(frozenset(finder.read), frozenset(finder.bound))


class _Finder(ast.NodeVisitor):
    """Reads and bindings in the order in which they happen."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.bound: set[str] = set()
        self._local: list[set[str]] = []

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            (self._local[-1] if self._local else self.bound).add(node.id)
        elif node.id not in self.bound and not any(node.id in names for names in self._local):
            self.read.add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        given = node.args
        self._within({one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}, [node.body])

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._local.append(set())
        for generator in node.generators:
            self.visit(generator.iter)
            self.visit(generator.target)
            for test in generator.ifs:
                self.visit(test)
        for part in parts:
            self.visit(part)
        self._local.pop()

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension  # noqa: N815

    def _within(self, names: set[str], nodes: Sequence[ast.AST]) -> None:
        self._local.append(names)
        for node in nodes:
            self.visit(node)
        self._local.pop()


def _names_around(
    place: RuleContext, program: FileNames, around: Sequence[Node], statements: Sequence[Node]
) -> set[str]:
    """Names that loops or a function bind outside of the statements: they mean something else each time."""
    found = {name for one in around for name in targets(place, one)}
    for function in _parsed(program, around[-1], around[-1]):
        if isinstance(function, ast.FunctionDef):
            given = function.args
            found |= {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            found |= {one.arg for one in (given.vararg, given.kwarg) if one is not None}
    start, end = statements[0].start_byte, statements[-1].end_byte
    for target in _assigned(around[-1]):
        if target.type not in ("attribute", "subscript") and not start <= target.start_byte < end:
            found |= place.names(target) | ({place.text(target)} if target.type == "identifier" else set())
    return found


def _assigned(code: Node) -> Iterator[Node]:
    waiting = [code]
    while waiting:
        node = waiting.pop()
        if node.type in ("assignment", "augmented_assignment"):
            left = node.child_by_field_name("left")
            if left is not None:
                yield left
        waiting += node.named_children


def _depends_on_python(
    place: RuleContext,
    program: FileNames,
    names: StatementNames,
    inputs: Sequence[str],
    around: Sequence[Node],
    statements: Sequence[Node],
) -> bool:
    """Whether the code around changes what a trace would take for granted, or give each call another number or optimizer."""
    source = place.analysis.source
    start, end = statements[0].start_byte, statements[-1].end_byte
    taken, whole = _parsed(program, statements[0], statements[-1]), _parsed(program, around[-1], around[-1])
    if len(taken) != sum(one.type != "comment" for one in statements) or len(whole) != 1:
        return True
    reach = Reach(program, taken)
    return (
        has_effect(reach, inputs)
        or reads_what_changes(reach, without(whole[0], taken), names.read - set(inputs) - {"self"})
        or applies_gradients_of(source[start:end], inputs)
        or any(program.is_number(name) and not is_size(program, name) for name in inputs)
        or any(_starts_as_number(program, name) or is_list_of_python(program, name) for name in inputs)
    )


def _starts_as_number(program: FileNames, name: str) -> bool:
    """Whether a name is given a number somewhere: what is made of it may be one of Python, another graph for each."""
    return any(
        isinstance(value, ast.Constant) and isinstance(value.value, (int, float))
        for value in program.assigned.get(name, ())
    )


def is_list_of_python(program: FileNames, name: str) -> bool:
    """Whether a name may be a list that grows, or one of items picked by Python: each would be another graph."""
    if name in program.appended:
        return True
    picked = (ast.Name, ast.Subscript, ast.Attribute, ast.Constant)
    return any(
        isinstance(value, ast.ListComp) and isinstance(value.elt, picked)
        for value in program.assigned.get(name, ())
    )


def counted(place: RuleContext, loops: Sequence[Node]) -> set[str]:
    """Names that count: over `range`, and the first of `enumerate`."""
    found: set[str] = set()
    for loop in loops:
        left, right = loop.child_by_field_name("left"), loop.child_by_field_name("right")
        counted = _COUNTED.match(place.text(right)) if left is not None and right is not None else None
        if counted is None or left is None:
            continue
        first = left.named_children[0] if counted.group(1) == "enumerate" and left.named_children else left
        found |= place.names(first) | {place.text(first)}
    for target in _assigned(loops[-1]):
        value = target.parent.child_by_field_name("right") if target.parent is not None else None
        if value is not None and value.type in ("integer", "float", "true", "false", "string"):
            found.add(place.text(target))
    return found


def _is_read_outside(
    place: RuleContext, program: FileNames, name: str, around: Sequence[Node], statements: Sequence[Node]
) -> bool:
    """Whether a name is met around the statements, behind them in the same scope, or in a function that has none of it."""
    code, whole = place.shared.code(), around[-1]
    of_function = whole.type == "function_definition"
    scope = whole if of_function else place.scope(whole)
    start, end = statements[0].start_byte, statements[-1].end_byte
    word = re.compile(rb"(?<![\w.])" + name.encode() + rb"(?!\w)")
    if word.search(code, whole.start_byte, start) or word.search(code, end, scope.end_byte):
        return True
    functions = [one for named in program.functions.values() for one in named]
    methods = [one for named in program.methods.values() for one in named]
    return not of_function and any(name in free_names_of(one) for one in (*functions, *methods))


def _margin(source: bytes, start: int) -> str:
    line = source.rfind(b"\n", 0, start) + 1
    return source[line:start].decode()
