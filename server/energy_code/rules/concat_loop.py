"""Growing a tensor in a loop."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import NOT_JIT, Match, Rule, RuleContext, Workload


class ConcatLoop(Rule):
    """Collect parts in a list and concatenate once.

    `acc = tf.concat([acc, part], 0)` copies everything collected so far in every pass: n parts cost n²
    copies. A list and one `tf.concat` after the loop cost n.

    **Equal when** the loop does not read the growing tensor otherwise; the change is yours.
    """

    message = "every pass copies all collected so far: collect in a list, concatenate once after the loop"
    category = "memory"
    reports = (
        "def f(parts, acc):\n    for part in parts:\n        acc = tf.concat([acc, part], 0)\n    return acc",
    )
    leave_alone = (
        "def f(parts, head):\n    for part in parts:\n        y = tf.concat([head, part], 0)",
        "y = tf.concat([y, part], 0)",
        "def f(parts, acc):\n    for part in parts:\n        acc = tf.concat([acc, part], 0)[-3:]",
    )
    workload = Workload(
        """
        acc = parts[0]
        for part in parts[1:]:
            acc = tf.concat([acc, part], 0)
        return acc
        """,
        {"parts": "[tf.constant(rng.normal(size=(n,)), tf.float32) for _ in range(16)]"},
        {"n": (10, 1_000, 20_000)},
        after="tf.concat(parts, 0)",
        vary=False,
    )
    safety = "none"
    modes = NOT_JIT
    apis = ("tf.concat",)
    in_loop = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """Assigned to a name that is among the parts, and that the loop uses nowhere else."""
        loop = place.loop(place.node, comprehensions=False)
        assignment = place.node.parent
        values = place.argument(place.node, "values", 0)
        if loop is None or assignment is None or assignment.type != "assignment" or values is None:
            return
        left, body = assignment.child_by_field_name("left"), loop.child_by_field_name("body")
        if left is None or left.type != "identifier" or values.type not in ("list", "tuple") or body is None:
            return
        name = place.text(left)
        entries = [place.text(entry) for entry in values.named_children]
        if entries[:1] == [name] and place.count_name(body, name) == 2:
            yield Match(place.node, related=(loop,))
