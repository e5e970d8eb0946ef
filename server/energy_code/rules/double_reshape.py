"""Reshaping twice."""

from energy_code.rule_engine import EAGER, Array, Change, Rule, RuleContext, Workload


class DoubleReshape(Rule):
    """Reshape once.

    The second `tf.reshape` decides the shape alone; the first costs a dispatch. Inside `tf.function` the
    pair costs nothing.

    **Equal when** the second shape does not depend on the first one, which a shape of plain numbers
    shows.
    """

    message = "the second reshape decides the shape alone"
    category = "dispatch"
    examples = (("y = tf.reshape(tf.reshape(x, [-1]), [2, -1])", "y = tf.reshape(x, [2, -1])"),)
    leave_alone = ("y = tf.reshape(tf.transpose(x), [-1])",)
    workload = Workload(
        "tf.reshape(tf.reshape(x, [-1]), [4, -1])",
        {"x": Array("n", 4)},
        {"n": (25, 2_500, 250_000)},
        gradients=("x",),
    )
    modes = EAGER
    changes = (Change("tf.reshape(tf.reshape($x, $first), $shape)", "tf.reshape($x, $shape)"),)

    def where(self, place: RuleContext) -> bool:
        """No calls in the shapes: they may have effects."""
        return "(" not in place.text(place["first"]) and place.constant(place["shape"]) is not ...
