"""Constants made again and again."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext, Workload

_FEW = 8


class ConstLoop(Rule):
    """Make a constant once, before the loop.

    `tf.constant` of a list converts every number from Python and copies the result to the device, in each
    pass of the loop anew.

    **Equal** always: a constant does not change. Moving it out is yours.
    """

    message = "this constant is converted anew in every pass: make it once before the loop"
    category = "dispatch"
    reports = ("for x in data:\n    y = x * tf.constant([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])",)
    leave_alone = (
        "for x in data:\n    y = tf.constant(x)",
        "for x in data:\n    y = x * tf.constant(2.0)",
        "y = tf.constant([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])",
    )
    workload = Workload(
        "[tf.constant([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) * x for _ in range(8)]",
        {"x": "tf.constant(rng.normal(size=(n, 8)), tf.float32)"},
        {"n": (1, 1_000, 50_000)},
        after="w = tf.constant([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])\nreturn [w * x for _ in range(8)]",
        graph=False,
        vary=False,
    )
    safety = "none"
    modes = EAGER
    apis = ("tf.constant", "tf.convert_to_tensor")
    in_loop = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A literal list of some length."""
        value = place.argument(place.node, "value", 0)
        if value is None or value.type != "list" or place.loop(place.node) is None:
            return
        numbers = place.constant(value)
        if isinstance(numbers, list) and len(str(numbers).split(",")) >= _FEW:
            yield Match(place.node)
