"""Stacking by concatenation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Array, Edit, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.edits.names import Spelling

if TYPE_CHECKING:
    from tree_sitter import Node


class ConcatStack(Rule):
    """Stack tensors with `tf.stack`.

    `tf.concat([a[None], b[None]], 0)` slices every tensor to give it a new axis, then concatenates;
    `tf.stack` adds the axis itself. The slices cost most in eager mode.

    **Equal when** all entries get their new axis in front; values, gradients and shapes are then the
    same.
    """

    message = "`tf.stack` adds the new axis itself, without a slice for every tensor"
    category = "dispatch"
    examples = (
        ("y = tf.concat([a[None], b[None]], 0)", "y = tf.stack([a, b])"),
        ("y = tf.concat([a[tf.newaxis], b[None]], axis=0)", "y = tf.stack([a, b])"),
        (
            "y = tf.concat([tf.expand_dims(a, 0), tf.expand_dims(b, axis=0)], 0)",
            "y = tf.stack([a, b])",
        ),
    )
    leave_alone = (
        "y = tf.concat([a[None], b], 0)",
        "y = tf.concat([a[None], b[None]], 1)",
        "y = tf.concat([a, b], 0)",
    )
    workload = Workload(
        "tf.concat([a[None], b[None], c[None]], 0)",
        {"a": Array("n"), "b": Array("n"), "c": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
        gradients=("a", "b", "c"),
    )
    safety = "safe"
    modes = EAGER
    apis = ("tf.concat",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A list whose entries all get a new first axis."""
        values, axis = place.argument(place.node, "values", 0), place.argument(place.node, "axis", 1)
        if values is None or values.type != "list" or axis is None or place.constant(axis) != 0:
            return
        arguments, listed = place.node.child_by_field_name("arguments"), values.named_children
        if len(listed) < 2 or arguments is None or len(arguments.named_children) != 2:
            return
        entries = []
        for entry in listed:
            inner = self._inner(place, entry)
            if inner is None:
                return
            entries.append(inner)

        def edits() -> list[Edit]:
            names = Spelling(place.analysis)
            text = f"{names.name('tf.stack')}([{', '.join(map(place.text, entries))}])"
            return [*names.import_edits(), Edit(place.node.start_byte, place.node.end_byte, text)]

        yield Match(place.node, edits=edits)

    def _inner(self, place: RuleContext, entry: Node) -> Node | None:
        if entry.type == "subscript":
            index = entry.children_by_field_name("subscript")
            value = entry.child_by_field_name("value")
            one = len(index) == 1 and place.text(index[0]).rpartition(".")[2] in ("None", "newaxis")
            return (
                value
                if one and value is not None and (place.is_simple(value) or place.is_tensor(value))
                else None
            )
        if place.api(entry) == "tensorflow.expand_dims":
            axis = place.argument(entry, "axis", 1)
            if axis is not None and place.constant(axis) == 0:
                return place.argument(entry, "input", 0)
        return None
