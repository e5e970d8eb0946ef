"""Tiling before arithmetic that broadcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload

if TYPE_CHECKING:
    from tree_sitter import Node


class TileBroadcast(Rule):
    """Let arithmetic broadcast instead of tiling.

    `x * tf.tile(b, …)` writes all copies of `b` to memory; the arithmetic repeats an axis of length one by
    itself.

    **Equal when** every tiled axis has length 1, which the rule wants to see (`tf.expand_dims`, or a known
    shape), and the other operand has the full length there: the fix is for review.
    """

    message = "arithmetic repeats an axis of length 1 by itself; `tf.tile` writes the copies to memory"
    category = "memory"
    examples = (
        (
            "y = x * tf.tile(tf.expand_dims(b, 0), [8, 1])",
            "y = x * tf.expand_dims(b, 0)",
        ),
        (
            "b = tf.zeros([1, 4])\ny = x + tf.tile(b, [tf.shape(x)[0], 1])",
            "b = tf.zeros([1, 4])\ny = x + b",
        ),
    )
    leave_alone = (
        "y = tf.tile(b, [8, 1])",
        "y = x * tf.tile(b, [8, 1])",
        "y = x + tf.tile(tf.expand_dims(offset, 0), [1, 2])",
        "y = tf.concat([x, tf.tile(b, [8, 1])], 1)",
    )
    workload = Workload(
        "x * tf.tile(tf.expand_dims(b, 0), [tf.shape(x)[0], 1])",
        {"x": Array("n", 128), "b": Array(128)},
        {"n": (4, 256, 8192)},
        gradients=("x", "b"),
    )
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change("$x * tf.tile($b, $multiples)", "$x * $b"),
        Change("$x + tf.tile($b, $multiples)", "$x + $b"),
        Change("$x - tf.tile($b, $multiples)", "$x - $b"),
    )

    def where(self, place: RuleContext) -> bool:
        """All tiled axes are known to have length 1."""
        multiples = place.value(place["multiples"])
        if multiples.type not in ("list", "tuple"):
            return False
        entries = [place.constant(entry) for entry in multiples.named_children]
        tiled = {axis for axis, entry in enumerate(entries) if entry != 1}
        return bool(tiled) and tiled <= _axes_of_one(place, place["b"], len(entries))


def _axes_of_one(place: RuleContext, node: Node, rank: int) -> set[int]:
    node = place.value(node)
    shape = place.shape(node)
    if shape is not None and len(shape) == rank:
        return {axis for axis, side in enumerate(shape) if side == 1}
    axis = place.argument(node, "axis", 1) if place.api(node) == "tensorflow.expand_dims" else None
    number = place.constant(axis) if axis is not None else None
    number = number[0] if isinstance(number, list) and len(number) == 1 else number
    return {number % rank} if isinstance(number, int) else set()
