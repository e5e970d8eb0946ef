"""Where the program's own compiled functions and PyTorch are called and datasets iterated over: measured, and unknown to the
reader.

That knows calls of TensorFlow and Keras only; these are found in the text by what they looked like when they were measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from energy_code.analysis.call_text import call_text
from energy_code.analysis.calls import ONCE
from energy_code.model import Call

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis.analysis import Analysis
    from energy_data.model import Figure, MeasuredSite

_GAP = r"(?:\s|\\\r?\n|#[^\n]*\n)*"
LOOPS = ("for_statement", "for_in_clause")
_NAME = re.compile(rb"\w+\Z")


class OwnStep(NamedTuple):
    """One of them, as a call with its figure."""

    call: Call
    figure: Figure


def own_steps(analysis: Analysis, sites: Sequence[MeasuredSite]) -> list[OwnStep]:
    """Those of the sites that are in the text, in its order; of several that look alike the nearest to the measured line.

    One place may have run several: a loop over whatever dataset a function is given, a call of one function or another.
    """
    found: list[OwnStep] = []
    taken: set[tuple[int, int]] = set()
    left: list[list[MeasuredSite]] = []
    newest = max((site.started for site in sites), default="")
    places: dict[tuple[int, int, str], list[MeasuredSite]] = {}
    for site in sites:
        places.setdefault((site.line, site.column, site.text), []).append(site)
    wanted = [(there, _alike(analysis, there[0])) for there in places.values()]
    # Who stands where it was measured first: what has moved takes what is left.
    for there, nodes in sorted(wanted, key=lambda one: not _unmoved(one[0][0], one[1])):
        node = _nearest(nodes, there[0], taken)
        if node is not None:
            start, end = node.start_byte, node.end_byte
            found += [OwnStep(_call(analysis, site, start, end), site.figure) for site in there]
        elif any(site.started == newest for site in there):  # what older runs measured may be gone for long
            left.append([site for site in there if site.started == newest])
    for there in left:
        node = _nearest(list(_edited(analysis, there[0])), there[0], taken)
        if node is not None:
            start, end = node.start_byte, node.end_byte
            found += [
                OwnStep(_call(analysis, site, start, end), replace(site.figure, edited=True))
                for site in there
            ]
    return sorted(found, key=lambda step: step.call.span.start_byte)


def _alike(analysis: Analysis, site: MeasuredSite) -> list[Node]:
    """The expressions that look as this one did."""
    nodes = list(_nodes(analysis, site.text))
    if site.figure.kind == "iteration":
        loops = [node for node in nodes if _is_looped_over(node)]
        return loops if loops or any(_edited(analysis, site)) else nodes
    return nodes


def _unmoved(site: MeasuredSite, nodes: Sequence[Node]) -> bool:
    return any(node.start_point[0] + 1 == site.line for node in nodes)


def _nearest(nodes: Sequence[Node], site: MeasuredSite, taken: set[tuple[int, int]]) -> Node | None:
    """The one nearest to the line that was measured, of those that stand for no other; it is taken then."""
    free = [node for node in nodes if (node.start_byte, node.end_byte) not in taken]
    node = min(free, key=lambda one: abs(one.start_point[0] + 1 - site.line), default=None)
    if node is not None:
        taken.add((node.start_byte, node.end_byte))
    return node


def _edited(analysis: Analysis, site: MeasuredSite) -> Iterator[Node]:
    """Calls of the same function with other arguments, and loops over something that begins alike."""
    for node in _beginning(analysis, site.text.partition("(")[0]):
        if site.figure.kind == "iteration":
            if _is_looped_over(node):
                yield node
        elif node.type == "call" and _callee(analysis, node) == site.text.partition("(")[0]:
            yield node


def _callee(analysis: Analysis, node: Node) -> str:
    return call_text(analysis.source[node.start_byte : node.end_byte]).partition("(")[0]


def _is_looped_over(node: Node) -> bool:
    around = node.parent
    return around is not None and around.type in LOOPS and around.child_by_field_name("right") == node


def _nodes(analysis: Analysis, text: str) -> Iterator[Node]:
    """The expressions of the source that look like a text."""
    at = -1
    for node in _beginning(analysis, text.partition("(")[0]):
        alike = call_text(analysis.source[node.start_byte : node.end_byte]) == text
        if node.start_byte != at and alike:
            at = node.start_byte
            yield node


def _beginning(analysis: Analysis, callee: str) -> Iterator[Node]:
    """The expressions of the source that begin with a text; of several at one place the innermost first."""
    words = re.findall(r"\w+|[^\w\s]", callee)
    if not words:
        return
    pattern = rf"(?<![\w.]){_GAP.join(map(re.escape, words))}(?!\w)".encode()
    for match in re.finditer(pattern, analysis.source):
        node = analysis.tree().root_node.descendant_for_byte_range(match.start(), match.start() + 1)
        while node is not None and node.start_byte == match.start():
            yield node
            node = node.parent


def _call(analysis: Analysis, site: MeasuredSite, start: int, end: int) -> Call:
    lines, source = analysis.lines, analysis.source
    opening = source.find(b"(", start, end)
    callee_end = start + len(source[start : opening if opening >= 0 else end].rstrip())
    name = _NAME.search(source[start:callee_end])
    name_start = start + name.start() if name else start
    return Call(
        site.api,
        lines.span(start, end),
        lines.span(name_start, max(callee_end, name_start)),
        (),
        site.function,
        1.0,
        ONCE,
        "eager",
    )
