"""Calls of `compile` that say nothing yet of how steps run, with one more argument."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine.edits.arguments import with_argument
from energy_measure.tuning.candidate import Candidate, ProgramFile

if TYPE_CHECKING:
    from tree_sitter import Node

IN_LAYERS = re.compile(
    rb"\b(?:Conv|Separable|Depthwise|LSTM|GRU|RNN|Embedding|Bidirectional|\w*Attention|TextVector)"
)
"""Layers that compute for longer than a call takes. On a CPU several steps a call (1.09 to 1.25 times) and XLA (1.43)
were dearer whenever they were tried on such models."""
_SETTLED = (b"steps_per_execution", b"jit_compile", b"run_eagerly", b"**")


def with_compile_argument(source: ProgramFile, argument: str, name: str, title: str) -> Iterator[Candidate]:
    """One candidate for all such calls of a file."""
    lists = list(_argument_lists(source))
    if lists:
        edits = [with_argument(arguments, argument) for arguments in lists]
        line = lists[0].start_point[0] + 1
        yield Candidate(name, f"{title}: `{argument}`", source.name, line, {source.name: edits})


def _argument_lists(source: ProgramFile) -> Iterator[Node]:
    for call in source.analysis.calls():
        if not call.api.endswith(".compile") or not call.api.startswith("keras."):
            continue
        node = source.analysis.tree().root_node.descendant_for_byte_range(
            call.span.start_byte, call.span.end_byte
        )
        arguments = node.child_by_field_name("arguments") if node is not None else None
        if arguments is not None and not any(word in source.written(arguments) for word in _SETTLED):
            yield arguments
