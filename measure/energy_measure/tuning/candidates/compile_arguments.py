"""Arguments of `compile`: several steps per call for small models, XLA last (on a CPU it rarely pays)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from energy_code.rule_engine.context import Edit
from energy_measure.tuning.candidate import Candidate, Source

if TYPE_CHECKING:
    from tree_sitter import Node

ORDER = 40
STEPS = 16


def find(sources: Sequence[Source]) -> Iterator[Candidate]:
    """Both arguments, where a program compiles a model and gives neither."""
    for source in sources:
        lists = list(_argument_lists(source))
        if lists:
            line = lists[0].start_point[0] + 1
            yield _with(
                source,
                lists,
                line,
                f"steps_per_execution={STEPS}",
                "steps-per-execution",
                "several steps per call",
            )
    for source in sources:
        lists = list(_argument_lists(source))
        if lists:
            line = lists[0].start_point[0] + 1
            yield _with(source, lists, line, "jit_compile=True", "jit-compile", "compile with XLA")


def _argument_lists(source: Source) -> Iterator[Node]:
    for call in source.analysis.calls:
        if not call.api.endswith(".compile") or not call.api.startswith("keras."):
            continue
        node = source.analysis.tree.root_node.descendant_for_byte_range(
            call.span.start_byte, call.span.end_byte
        )
        arguments = node.child_by_field_name("arguments") if node is not None else None
        words = source.written(arguments) if arguments is not None else b"run_eagerly"
        if arguments is not None and not any(
            word in words for word in (b"steps_per_execution", b"jit_compile", b"run_eagerly", b"**")
        ):
            yield arguments


def _with(
    source: Source, lists: Sequence[Node], line: int, argument: str, name: str, title: str
) -> Candidate:
    edits = []
    for arguments in lists:
        last = arguments.named_children[-1] if arguments.named_children else None
        at = last.end_byte if last is not None else arguments.start_byte + 1
        edits.append(Edit(at, at, f", {argument}" if last is not None else argument))
    return Candidate(name, f"{title}: `{argument}`", source.name, line, {source.name: edits})
