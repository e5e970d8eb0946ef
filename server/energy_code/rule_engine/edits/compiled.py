"""Calling a model through `tf.function`: the compiled one is made once, where the model is known and before the loop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import Edit
from energy_code.rule_engine.edits.names import Spelling

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis.analysis import Analysis

_LOOPS = ("for_statement", "while_statement")
_CALL_METHOD = re.compile(rb"([ \t]*)def (?:call|__call__)\(")
_SETS_ATTRIBUTE = re.compile(rb"[ \t]+self\.\w+[ \t]*[-+*/]?=(?!=)")


def compiled_calls(analysis: Analysis, callees: Sequence[Node]) -> list[Edit]:
    """Edits that call one model through `tf.function` at some places; empty where that cannot be known to be right."""
    source = analysis.source
    if not callees or changes_itself(source):
        return []
    written = source[callees[0].start_byte : callees[0].end_byte].decode()
    if re.fullmatch(r"\w+(?:\.\w+)?", written) is None or (
        "." in written and not written.startswith("self.")
    ):
        return []
    place = _place_in_front(source, callees, written) or _place_behind(analysis, written)
    if place is None:
        return []
    at, before, after, target = place
    compiled = f"{target}_compiled"
    while compiled.encode() in source:
        compiled += "_"
    names = Spelling(analysis)
    definition = f"{before}{compiled} = {names.name('tf.function')}({written}){after}"
    return [
        *names.import_edits(),
        Edit(at, at, definition),
        *(Edit(node.start_byte, node.end_byte, compiled) for node in callees),
    ]


def changes_itself(source: bytes) -> bool:
    """Whether a model of the file counts in Python whenever it is called; each line is read once."""
    margin: int | None = None
    for line in source.splitlines():
        method = _CALL_METHOD.match(line)
        if method is not None:
            margin = len(method.group(1))
        elif margin is not None and _SETS_ATTRIBUTE.match(line):
            return True
        elif margin is not None and line.strip() and len(line) - len(line.lstrip()) <= margin:
            margin = margin if line.lstrip().startswith(b")") else None  # a long signature ends so
    return False


def outermost_loop(node: Node) -> Node | None:
    """Of the same function: what is made before it is made once."""
    found, parent = None, node.parent
    while parent is not None and parent.type not in ("function_definition", "lambda", "module"):
        if parent.type in _LOOPS:
            found = parent
        parent = parent.parent
    return found


def _place_in_front(source: bytes, callees: Sequence[Node], written: str) -> tuple[int, str, str, str] | None:
    """Before the one loop that all of them are in, where the loop does not bind the model anew."""
    loop = outermost_loop(callees[0])
    if loop is None or any(outermost_loop(node) != loop for node in callees):
        return None
    bound = re.compile(rb"(?<![\w.])" + re.escape(written.encode()) + rb"\s*(,[^=\n]*)?=[^=]")
    if bound.search(source, loop.start_byte, loop.end_byte):
        return None
    margin = source[source.rfind(b"\n", 0, loop.start_byte) + 1 : loop.start_byte].decode()
    return (loop.start_byte, "", f"\n{margin}", written.rpartition(".")[2]) if not margin.strip() else None


def _place_behind(analysis: Analysis, written: str) -> tuple[int, str, str, str] | None:
    """Behind the one statement that sets the attribute of `self`, or the name of the module."""
    source = analysis.source
    found = list(re.finditer(rb"(?m)^([ \t]*)" + re.escape(written.encode()) + rb"[ \t]*=(?!=)", source))
    others = re.findall(rb"(?<![\w])" + re.escape(written.encode()) + rb"\s*(?:,[^=\n()]*)?=(?!=)", source)
    if len(found) != 1 or len(others) != 1 or ("." not in written and found[0].group(1)):
        return None
    start = found[0].end(1)
    node = analysis.root_at(start).descendant_for_byte_range(start, start + 1)
    while node is not None and node.type != "expression_statement":
        node = node.parent
    if node is None or source[node.end_byte : node.end_byte + 1] not in (b"\n", b"\r", b""):
        return None
    return node.end_byte, f"\n{found[0].group(1).decode()}", "", written
