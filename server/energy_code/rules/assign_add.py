"""Updating a variable through a copy."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload


class AssignAdd(Rule):
    """Update a variable in place.

    `v.assign(v + x)` reads the variable, writes the sum to a new tensor and copies that back;
    `v.assign_add(x)` adds in place.

    **Equal when** x has the shape of the variable: `assign_add` does not broadcast. The fix is safe for a
    scalar variable, and for review otherwise.
    """

    message = "`assign_add` / `assign_sub` update the variable in place, without a copy of it"
    category = "memory"
    examples = (
        ("v = tf.Variable(0.0)\nv.assign(v + x)", "v = tf.Variable(0.0)\nv.assign_add(x)"),
        (
            "def step(v: tf.Variable, g: tf.Tensor):\n    v.assign(v - 0.1 * g)",
            "def step(v: tf.Variable, g: tf.Tensor):\n    v.assign_sub(0.1 * g)",
        ),
    )
    leave_alone = (
        "def step(v: tf.Variable, w: tf.Variable):\n    v.assign(w + 1.0)",
        "def step(v: tf.Variable):\n    v.assign(1.0 - v)",
    )
    workload = Workload(
        "v.assign(v + x)\nreturn v.read_value()",
        {"v": Array("n", kind="variable"), "x": Array("n")},
        {"n": (100, 10_000, 1_000_000)},
    )
    safety = "review"
    modes = NOT_JIT
    changes = (
        Change("tf.Variable.assign($v, $v + $x)", "$v.assign_add($x)"),
        Change("tf.Variable.assign($v, $v - $x)", "$v.assign_sub($x)"),
    )

    def proven(self, place: RuleContext) -> bool:
        """A scalar cannot broadcast."""
        return place.shape(place["v"]) == ()
