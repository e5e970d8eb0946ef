"""tf.function inside a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import tracing

if TYPE_CHECKING:
    from tree_sitter import Node


class NestedFunction(Rule):
    """Make a `tf.function` once, outside the loop.

    Every `tf.function(…)` is a new function with a cache of its own: made inside a loop it is traced anew
    in each pass, which costs far more than it saves.

    **Equal when** the function captures nothing that the loop changes; moving it out is yours.
    """

    message = "a tf.function made inside a loop is traced anew in every pass: make it once before the loop"
    category = "dispatch"
    reports = (
        "for x in data:\n    y = tf.function(f)(x)",
        "for x in data:\n    @tf.function\n    def g(v):\n        return v + 1\n    y = g(x)",
    )
    leave_alone = (
        "g = tf.function(f)\nfor x in data:\n    y = g(x)",
        "for k in kinds:\n    table[k] = tf.function(makers[k])",
    )
    workload = tracing(
        "[tf.function(square)(x) for _ in range(3)]",
        "[made(x) for _ in range(3)]",
        x="tf.constant(rng.normal(size=(n,)), tf.float32)",
        made="tf.function(square)",
        setup="def square(v):\n    return tf.square(v) + 1.0\n",
    )
    safety = "none"
    modes = EAGER
    apis = ("tf.function",)
    in_loop = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A call that is called at once, or a decorated function called in the same loop."""
        node = place.node
        loop = place.loop(node)
        if loop is None or node.parent is None:
            return
        called_at_once = node.parent.type == "call" and node.parent.child_by_field_name("function") == node
        if called_at_once or self._called_in(place, loop):
            yield Match(node)

    def _called_in(self, place: RuleContext, loop: Node) -> bool:
        holder = place.node.parent
        while holder is not None and holder.type not in (
            "decorated_definition",
            "assignment",
            "block",
            "module",
        ):
            holder = holder.parent
        if holder is None or holder.type not in ("decorated_definition", "assignment"):
            return False
        defined = holder.child_by_field_name("definition")
        name = (
            defined.child_by_field_name("name") if defined is not None else holder.child_by_field_name("left")
        )
        if name is None or name.type != "identifier":
            return False
        rest = place.analysis.source[holder.end_byte : loop.end_byte]
        return place.text(name).encode() + b"(" in rest
