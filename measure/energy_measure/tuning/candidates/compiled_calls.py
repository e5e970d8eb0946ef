"""A model that is called by hand in a loop, compiled: reinforcement learning and inference ask it row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from energy_code.model import Call
from energy_code.rule_engine.context import Edit
from energy_code.rule_engine.edits.names import Names
from energy_measure.tuning.candidate import Candidate, Source

if TYPE_CHECKING:
    from tree_sitter import Node

ORDER = 20
_MODELS = ("keras.Model", "keras.Sequential", "keras.Functional")
_COUNTS = re.compile(
    rb"def (?:call|__call__)\([^)]*\)[^:]*:\n(?:[ \t].*\n|\n)*?[ \t]+self\.\w+\s*[-+*/]?=(?!=)"
)
_LOOPS = ("for_statement", "while_statement")


def find(sources: Sequence[Source]) -> Iterator[Candidate]:
    """For each model that a loop calls eagerly by its plain name, all such calls of the file."""
    for source in sources:
        if _COUNTS.search(source.text):
            continue  # a model that changes itself when it is called
        by_model: dict[str, list[tuple[Call, Node]]] = {}
        for call in source.analysis.calls:
            node = _callee(source, call)
            if node is not None:
                by_model.setdefault(source.written(node).decode(), []).append((call, node))
        for model, found in by_model.items():
            names = Names(source.analysis)
            compiled = _free(source.text, f"{model}_compiled")
            loop = _outermost_loop(found[0][1])
            if loop is None or any(_outermost_loop(node) != loop for _, node in found):
                continue
            margin = source.text[source.text.rfind(b"\n", 0, loop.start_byte) + 1 : loop.start_byte].decode()
            definition = f"{compiled} = {names.name('tf.function')}({model})\n{margin}"
            edits = [
                *names.import_edits(),
                Edit(loop.start_byte, loop.start_byte, definition),
                *(Edit(node.start_byte, node.end_byte, compiled) for _, node in found),
            ]
            line = found[0][0].span.start.row + 1
            title = f"call `{model}` through `tf.function`"
            yield Candidate("compiled-calls", title, source.name, line, {source.name: edits})


def _callee(source: Source, call: Call) -> Node | None:
    """The name of the model, where an eager loop calls one."""
    if call.mode != "eager" or not (call.api.endswith(".__call__") or call.api in _MODELS):
        return None
    root = source.analysis.tree.root_node
    node = root.descendant_for_byte_range(call.span.start_byte, call.span.end_byte)
    function = node.child_by_field_name("function") if node is not None and node.type == "call" else None
    if function is None or function.type != "identifier" or source.analysis.type_of(function) not in _MODELS:
        return None
    loop = _outermost_loop(function)
    name = source.written(function)
    bound = re.compile(rb"(?<![\w.])" + re.escape(name) + rb"\s*(,[^=\n]*)?=[^=]")
    if loop is None or bound.search(source.text, loop.start_byte, loop.end_byte):
        return None
    return function


def _outermost_loop(node: Node) -> Node | None:
    """Of the same function: what is made before it is made once."""
    found, parent = None, node.parent
    while parent is not None and parent.type not in ("function_definition", "lambda", "module"):
        if parent.type in _LOOPS:
            found = parent
        parent = parent.parent
    return found


def _free(text: bytes, name: str) -> str:
    while name.encode() in text:
        name += "_"
    return name
