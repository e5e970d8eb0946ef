"""Taking statements out of a loop into a function of their own, as a person would write it."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from energy_code.rule_engine.context import Edit, RuleContext
from energy_code.rule_engine.queries.loops import targets
from energy_code.rule_engine.queries.purity import applies_gradients_of, changes_outside, starts_as_number

if TYPE_CHECKING:
    from tree_sitter import Node

_SIMPLE = frozenset({"expression_statement", "with_statement", "comment"})
"""What may run or not, or several times, would leave names unbound: such statements end what is taken."""
_COUNTED = re.compile(r"(range|enumerate)\(")


class Step(NamedTuple):
    """Neighbouring statements of a loop that can be a function: what they are given and what they give."""

    statements: Sequence[Node]
    loops: Sequence[Node]
    """Around them, the innermost first; the function goes before the outermost."""
    inputs: Sequence[str]
    outputs: Sequence[str]


class Names(NamedTuple):
    """The names of some statements."""

    read: frozenset[str]
    """Before the statements themselves bind them."""
    bound: frozenset[str]


def step_at(place: RuleContext, first: Node, effects: re.Pattern[bytes]) -> Step | None:
    """What can be taken out from a statement of a loop on, up to the first effect; None where names do not allow it."""
    loops = [
        loop for loop in place.within_function(first) if loop.type in ("for_statement", "while_statement")
    ]
    block = first.parent
    if not loops or block is None or block != loops[0].child_by_field_name("body"):
        return None
    statements = _taken(place, block, first, effects)
    names = _names(place, statements)
    if names is None:
        return None
    inside = _loop_names(place, loops, statements)
    inputs = sorted(name for name in names.read if name in inside or name in names.bound)
    if any(name in counted(place, loops) for name in inputs):
        return None  # a Python number is another graph for each value
    if _depends_on_python(place, names, inputs, loops, statements):
        return None
    outputs = [name for name in sorted(names.bound) if _is_read_outside(place, name, loops, statements)]
    return Step(statements, loops, inputs, outputs)


def extracted(place: RuleContext, step: Step, decorator: str, name: str) -> list[Edit]:
    """The function before the loops, and a call of it in place of the statements."""
    source = place.analysis.source
    outermost = step.loops[-1]
    margin = _margin(source, outermost.start_byte)
    start, end = step.statements[0].start_byte, step.statements[-1].end_byte
    body = textwrap.dedent(_margin(source, start) + source[start:end].decode())
    lines = [decorator, f"def {name}({', '.join(step.inputs)}):", *textwrap.indent(body, "    ").split("\n")]
    if step.outputs:
        lines.append(f"    return {', '.join(step.outputs)}")
    blank = 1 if margin else 2
    text = "".join(f"{margin}{line}\n" if line.strip() else "\n" for line in lines) + "\n" * blank
    call = f"{name}({', '.join(step.inputs)})"
    result = f"{', '.join(step.outputs)} = {call}" if step.outputs else call
    at = outermost.start_byte - len(margin.encode())
    return [Edit(at, at, text), Edit(start, end, result)]


def free_name(place: RuleContext, wanted: str) -> str:
    """A name that the file does not use yet."""
    taken = place.analysis.source
    names = (wanted, *(f"{wanted}_{number}" for number in range(2, 100)))
    return next(name for name in names if not re.search(rb"\b" + name.encode() + rb"\b", taken))


def _taken(place: RuleContext, block: Node, first: Node, effects: re.Pattern[bytes]) -> list[Node]:
    """Statements from one on as long as they have no effect in Python and run exactly once a pass."""
    found: list[Node] = []
    for statement in block.named_children:
        if statement.start_byte < first.start_byte:
            continue
        text = place.analysis.source[statement.start_byte : statement.end_byte]
        if statement.type not in _SIMPLE or effects.search(text) or b'"""' in text or b"'''" in text:
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


def _names(place: RuleContext, statements: Sequence[Node]) -> Names | None:
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
    return Names(frozenset(finder.read), frozenset(finder.bound))


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


def _loop_names(place: RuleContext, loops: Sequence[Node], statements: Sequence[Node]) -> set[str]:
    """Names that the loops bind outside of the statements: they mean something else in each pass."""
    found = {name for loop in loops for name in targets(place, loop)}
    start, end = statements[0].start_byte, statements[-1].end_byte
    for target in _assigned(loops[-1]):
        if target.type not in ("attribute", "subscript") and not start <= target.start_byte < end:
            found |= place.names(target) | ({place.text(target)} if target.type == "identifier" else set())
    return found


def _assigned(loop: Node) -> Iterator[Node]:
    waiting = [loop]
    while waiting:
        node = waiting.pop()
        if node.type in ("assignment", "augmented_assignment"):
            left = node.child_by_field_name("left")
            if left is not None:
                yield left
        waiting += node.named_children


def _depends_on_python(
    place: RuleContext, names: Names, inputs: Sequence[str], loops: Sequence[Node], statements: Sequence[Node]
) -> bool:
    """Whether the loops change what a trace would take for granted, or give each call another optimizer."""
    source = place.analysis.source
    start, end = statements[0].start_byte, statements[-1].end_byte
    around = source[loops[-1].start_byte : start] + b"\n" + source[end : loops[-1].end_byte]
    bound = {name for loop in loops for name in targets(place, loop)}
    return (
        changes_outside(around, names.read - bound)
        or applies_gradients_of(source[start:end], inputs)
        or any(starts_as_number(source, name) for name in inputs if name not in bound)
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
    place: RuleContext, name: str, loops: Sequence[Node], statements: Sequence[Node]
) -> bool:
    """Whether a name is met in the loops outside of the statements, or behind them in the same function or module."""
    source, scope = place.analysis.source, place.scope(loops[-1])
    start, end = statements[0].start_byte, statements[-1].end_byte
    word = re.compile(rb"(?<![\w.])" + name.encode() + rb"(?!\w)")
    return bool(word.search(source, loops[-1].start_byte, start) or word.search(source, end, scope.end_byte))


def _margin(source: bytes, start: int) -> str:
    line = source.rfind(b"\n", 0, start) + 1
    return source[line:start].decode()
