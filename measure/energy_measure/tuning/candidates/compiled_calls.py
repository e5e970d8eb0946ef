"""A model that is called by hand in a loop, compiled: reinforcement learning and inference ask it row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from energy_code.model import Call
from energy_code.rule_engine.edits.compiled import compiled_calls, outermost_loop
from energy_measure.tuning.candidate import Candidate, ProgramFile

if TYPE_CHECKING:
    from tree_sitter import Node

ORDER = 20
_MODELS = ("keras.Model", "keras.Sequential", "keras.Functional")


def find(sources: Sequence[ProgramFile]) -> Iterator[Candidate]:
    """For each model that a loop calls eagerly by its name, all such calls of the file."""
    for source in sources:
        by_model: dict[str, list[tuple[Call, Node]]] = {}
        for call in source.analysis.calls():
            node = _callee(source, call)
            if node is not None:
                by_model.setdefault(source.written(node).decode(), []).append((call, node))
        for model, found in by_model.items():
            edits = compiled_calls(source.analysis, [node for _, node in found])
            if edits:
                line = found[0][0].span.start.row + 1
                title = f"call `{model}` through `tf.function`"
                yield Candidate("compiled-calls", title, source.name, line, {source.name: edits})


def _callee(source: ProgramFile, call: Call) -> Node | None:
    """The name of the model, where an eager loop calls one."""
    if call.mode != "eager" or not (call.api.endswith(".__call__") or call.api in _MODELS):
        return None
    root = source.analysis.tree().root_node
    node = root.descendant_for_byte_range(call.span.start_byte, call.span.end_byte)
    function = node.child_by_field_name("function") if node is not None and node.type == "call" else None
    if function is None or re.fullmatch(rb"\w+|self\.\w+", source.written(function)) is None:
        return None
    known = source.analysis.type_of(function) in _MODELS
    return function if known and outermost_loop(function) is not None else None
