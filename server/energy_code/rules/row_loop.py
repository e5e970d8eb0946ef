"""Loops over the rows of a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.context import descend
from energy_code.rule_engine.queries.loops import over_range, targets

if TYPE_CHECKING:
    from tree_sitter import Node


class RowLoop(Rule):
    """Compute all rows at once.

    A Python loop that takes a tensor apart row by row and stacks the results dispatches every operation
    once per row; nearly all operations take all rows at once, along an axis.

    **Equal when** the body treats each row alike; writing it for all rows is yours (`tf.vectorized_map`
    does it for any pure function).
    """

    message = "one dispatch per row: operations with `axis=`, or `tf.vectorized_map`, take all rows at once"
    category = "dispatch"
    reports = (
        "def f(x: tf.Tensor):\n"
        "    rows = []\n"
        "    for i in range(100):\n"
        "        rows.append(tf.reduce_sum(x[i]))\n"
        "    return tf.stack(rows)",
        "def f(x: tf.Tensor):\n    return tf.stack([tf.reduce_sum(x[i]) for i in range(100)])",
    )
    leave_alone = (
        "def f(x: tf.Tensor):\n    return tf.stack([g(x[i]) for i in range(100)])",
        "def f(x: tf.Tensor):\n    return tf.stack([tf.reduce_sum(x[i]) for i in range(3)])",
        "def f(xs):\n    return tf.stack(xs)",
    )
    workload = Workload(
        "tf.stack([tf.reduce_sum(x[i]) for i in range(n)])",
        {"x": "tf.constant(rng.normal(size=(n, 16)), tf.float32)", "n": "n"},
        {"n": (8, 32, 128)},
        after="tf.reduce_sum(x, axis=1)",
        tolerance=1e-4,
        absolute=1e-5,
        graph=False,
        vary=False,
    )
    safety = "none"
    modes = EAGER
    apis = ("tf.stack",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A list of API calls on rows, in a comprehension or filled by `append`."""
        values = place.argument(place.node, "values", 0)
        if values is None:
            return
        if values.type == "list_comprehension":
            if self._rowwise(place, values, values.child_by_field_name("body")):
                yield Match(place.node)
        elif values.type == "identifier":
            for use in place.uses(place.scope(place.node), place.text(values)):
                loop = self._filling(place, use)
                if loop is not None:
                    yield Match(place.node, related=(loop,))
                    return

    def _filling(self, place: RuleContext, use: Node) -> Node | None:
        """The counting loop that does nothing but append to the list."""
        method = use.parent
        call = method.parent if method is not None and method.type == "attribute" else None
        if call is None or method is None or not place.text(method).endswith(".append"):
            return None
        loop = place.loop(call, comprehensions=False)
        body = loop.child_by_field_name("body") if loop is not None else None
        if loop is None or body is None or len(body.named_children) != 1 or not over_range(place, loop):
            return None
        return loop if self._rowwise(place, loop, place.argument(call, "object", 0)) else None

    def _rowwise(self, place: RuleContext, loop: Node, computed: Node | None) -> bool:
        api = (place.api(computed) or "") if computed is not None else ""
        if computed is None or not api.startswith("tensorflow.") or "Tape" in api:
            return False
        if "[" not in place.text(computed):
            return False
        if self._short(place, loop) or any(place.api(call) is None for call in descend(computed, "call")):
            return False
        counters = targets(place, loop)
        for item in descend(computed, "subscript"):
            value, index = item.child_by_field_name("value"), item.children_by_field_name("subscript")
            if (
                value is not None
                and len(index) == 1
                and place.text(index[0]) in counters
                and place.is_tensor(value)
            ):
                return True
        return False

    def _short(self, place: RuleContext, loop: Node) -> bool:
        for call in descend(loop, "call"):
            function = call.child_by_field_name("function")
            if function is not None and place.text(function) == "range":
                length = place.argument(call, "stop", 0)
                number = place.constant(length) if length is not None else None
                return isinstance(number, int) and number < 8
        return True
