"""Sums over a stack of tensors."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload


class StackSum(Rule):
    """Add a list of tensors with `tf.add_n`.

    `tf.reduce_sum(tf.stack(l), 0)` copies every tensor into one large one and then reads that again;
    `tf.add_n` reads each tensor once and writes the sum.

    **Equal when** the list is a Python list of at least one tensor (`tf.add_n` takes neither a tensor nor an
    empty list): the fix is safe for a list that is written out, and for review otherwise. Values are summed
    in the same order; gradients are the same.
    """

    message = "`tf.add_n` sums the tensors without copying them into one first"
    category = "memory"
    examples = (
        ("total = tf.reduce_sum(tf.stack(losses), 0)", "total = tf.add_n(losses)"),
        ("total = tf.reduce_sum(tf.stack([a, b, c], axis=0), axis=0)", "total = tf.add_n([a, b, c])"),
    )
    leave_alone = (
        "total = tf.reduce_sum(tf.stack(losses), 1)",
        "total = tf.reduce_sum(tf.stack(losses))",
        "total = tf.reduce_sum(tf.stack(losses, axis=1), 0)",
    )
    workload = Workload(
        "tf.reduce_sum(tf.stack(parts), 0)",
        {"parts": Array("n", count=8)},
        {"n": (100, 10_000, 200_000)},
        tolerance=1e-5,
        absolute=1e-6,
    )
    safety = "review"
    modes = NOT_JIT
    changes = (Change("tf.reduce_sum(tf.stack($l), 0)", "tf.add_n($l)"),)

    def proven(self, place: RuleContext) -> bool:
        """A list with entries, all in sight."""
        entries = place["l"].named_children if place["l"].type == "list" else []
        return bool(entries) and all(entry.type != "list_splat" for entry in entries)
