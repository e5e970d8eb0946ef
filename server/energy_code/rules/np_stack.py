"""Lists of arrays."""

from __future__ import annotations

from energy_code.rule_engine import EAGER, Array, Change, Rule, RuleContext, Workload


class NpStack(Rule):
    """Stack arrays with NumPy before making a tensor of them.

    TensorFlow turns a list of arrays into a tensor number by number; `np.stack` copies them block by
    block.

    **Equal when** the arrays have one shape, which a tensor of them needs too, and the type is stated: a
    list of `float64` arrays becomes a `float32` tensor, one `float64` array stays one. The rule wants to
    see the type, and that the list is made of NumPy arrays.
    """

    message = (
        "`np.stack` copies the arrays as blocks; TensorFlow would walk through the list number by number"
    )
    category = "dispatch"
    examples = (
        (
            "x = tf.convert_to_tensor([np.zeros(n) for n in sizes], tf.float32)",
            "x = tf.convert_to_tensor(np.stack([np.zeros(n) for n in sizes]), dtype=tf.float32)",
        ),
        (
            "x = tf.constant([np.asarray(r) for r in rows], dtype=tf.float32)",
            "x = tf.constant(np.stack([np.asarray(r) for r in rows]), dtype=tf.float32)",
        ),
    )
    leave_alone = (
        "x = tf.convert_to_tensor([1.0, 2.0], dtype=tf.float32)",
        "x = tf.convert_to_tensor([np.zeros(n) for n in sizes])",
        "x = tf.convert_to_tensor([load(r) for r in rows], dtype=tf.float32)",
        "x = tf.convert_to_tensor([np.sum(r) for r in rows], dtype=tf.float32)",
    )
    workload = Workload(
        "tf.convert_to_tensor([np.abs(row) for row in rows], dtype=tf.float32)",
        {"rows": Array("n", kind="numpy", count=64)},
        {"n": (10, 1_000, 10_000)},
        graph=False,
    )
    modes = EAGER
    changes = (
        Change("tf.convert_to_tensor($l, dtype=$dtype)", "tf.convert_to_tensor(np.stack($l), dtype=$dtype)"),
        Change("tf.constant($l, dtype=$dtype)", "tf.constant(np.stack($l), dtype=$dtype)"),
    )

    def where(self, place: RuleContext) -> bool:
        """A comprehension whose element is a call that gives a whole array."""
        listed = place["l"]
        body = listed.child_by_field_name("body") if listed.type == "list_comprehension" else None
        function = body.child_by_field_name("function") if body is not None else None
        alias = place.module_alias("numpy")
        if function is None or alias is None:
            return False
        makers = (
            "array",
            "asarray",
            "zeros",
            "ones",
            "abs",
            "load",
            "full",
            "arange",
            "random.normal",
            "exp",
        )
        return place.text(function) in {f"{alias}.{maker}" for maker in makers}
