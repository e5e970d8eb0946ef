"""What each stage of the reader holds for a small program, as text: for learning and for finding mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.interpreter.domain.values import UNKNOWN, Value
from energy_code.ir.code import Code
from energy_code.ir.nodes import Expression

if TYPE_CHECKING:
    import tree_sitter

    from energy_code.analysis.analysis import Analysis

LEFT_OUT = frozenset(
    ["enclosing", "enclosing_code", "end", "start", "expressions", "moves", "blank", "parts"]
)
"""Fields of the lowered program that lead back, or only count."""

DEEPEST = 60
"""What is nested deeper is not printed."""


def tree(analysis: Analysis) -> Iterator[str]:
    """The syntax tree: kind of each node, where it stands, and the text of leaves."""
    stack: list[tuple[int, tree_sitter.Node]] = [(0, analysis.tree().root_node)]
    while stack:
        depth, node = stack.pop()
        row, column = node.start_point
        text = f" {node.text.decode('utf-8', 'replace')!r}" if node.text and not node.named_children else ""
        yield f"{'  ' * depth}{node.type} {row + 1}:{column}{text}"
        stack.extend((depth + 1, child) for child in reversed(node.named_children))


def ir(analysis: Analysis) -> Iterator[str]:
    """The lowered program: statements and expressions, with positions counted from their own statement."""
    for start, statement in analysis.module.statements:
        yield f"statement at byte {start}, binds {', '.join(sorted(statement.binds)) or 'nothing'}"
        for one in statement.statements:
            yield from node(one, 1, "")


def node(value: object, depth: int, label: str) -> Iterator[str]:
    """One node of the lowered program and what stands in it."""
    indent = "  " * depth + (f"{label}: " if label else "")
    if depth > DEEPEST:
        yield f"{indent}…"
        return
    if isinstance(value, tuple | list):
        for item in value:
            yield from node(item, depth, label)
        return
    slots = [name for cls in reversed(type(value).__mro__) for name in getattr(cls, "__slots__", ())]
    if isinstance(value, Value) or not slots:
        yield f"{indent}{value!r}"
        return
    plain: list[str] = []
    inner: list[tuple[str, object]] = []
    for name in slots:
        field = getattr(value, name, None)
        if name in LEFT_OUT or field is None or field in ((), {}, set(), False):
            continue
        if isinstance(field, str | int | float | set | Value):
            plain.append(f"{name}={sorted(field) if isinstance(field, set) else field!r}")
        else:
            inner.append((name, field))
    yield f"{indent}{type(value).__name__} {' '.join(plain)}".rstrip()
    for name, field in inner:
        yield from node(field, depth + 1, name)


def values(analysis: Analysis) -> Iterator[str]:
    """What each expression is, by line, as far as anything is known."""
    found: dict[tuple[int, int], str] = {}
    starts = places(analysis)
    for code, summaries in analysis.module_summary.summaries.items():
        for summary in summaries:
            for expression, value in summary.values.get(code, {}).items():
                if value is not UNKNOWN and code in starts and isinstance(expression, Expression):
                    start, end = starts[code] + expression.start, starts[code] + expression.end
                    found.setdefault((start, end), repr(value))
    for (start, end), text in sorted(found.items()):
        written = analysis.source[start:end].decode("utf-8", "replace")
        yield f"{analysis.lines.point(start).row + 1}: {written} → {text}"


def places(analysis: Analysis) -> dict[Code, int]:
    """Where each code starts."""
    found: dict[Code, int] = {}
    stack: list[tuple[int, Code]] = list(analysis.module.statements)
    while stack:
        start, code = stack.pop()
        found[code] = start
        stack.extend((start + offset, part) for offset, part in code.parts)
    return found


def summary(analysis: Analysis) -> Iterator[str]:
    """Each evaluation of the module: in which context, what it gives, what it rests on, which APIs its calls reached."""
    for code, summaries in analysis.module_summary.summaries.items():
        for number, one in enumerate(summaries, 1):
            yield f"{code.qualname or 'top level'}, evaluation {number}"
            yield f"  gives {one.returns!r}"
            for name, value in one.globals.items():
                yield f"  read global {name} = {value!r}"
            for question, subject, answer in one.dependencies:
                asked = ", ".join(repr(part) for part in subject[1:])
                yield f"  asked {question.__name__}({asked}) = {answer!r}"
            for site, call in one.sites.items():
                yield f"  call at +{site.start} reaches {call.api}, confidence {call.confidence:g}, {call.times} times"


STAGES = {"tree": tree, "ir": ir, "values": values, "summary": summary}
