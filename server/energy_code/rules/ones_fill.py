"""Constants made by multiplication."""

from energy_code.rule_engine import EAGER, Change, Rule, RuleContext, Workload

_SMALL = 1_000


class OnesFill(Rule):
    """Fill a tensor with a number in one operation.

    `tf.ones(shape) * c` writes ones, reads them and writes the products; `tf.fill` writes once. Inside
    `tf.function` constants are folded, and for a handful of numbers both take as long: the rule is silent
    where few are known.

    **Equal when** the number is a float and the ones have the default type: `tf.fill` takes its type from
    the number.
    """

    message = "`tf.fill` writes the number at once"
    category = "memory"
    examples = (("y = tf.ones([200, 300]) * 0.5", "y = tf.fill([200, 300], 0.5)"),)
    leave_alone = (
        "y = tf.ones([2, 3]) * 2",
        "y = tf.ones([2, 3], tf.float64) * 0.5",
        "y = tf.ones(shape) * scale",
        "y = tf.ones(n) * 0.5",
        "y = tf.ones([2, 3]) * 0.5",
    )
    workload = Workload(
        "tf.ones([n, n]) * 0.5",
        {"n": "n"},
        {"n": (10, 100, 1000)},
        graph=False,
    )
    modes = EAGER
    changes = (Change("tf.ones($shape) * $c", "tf.fill($shape, $c)"),)

    def where(self, place: RuleContext) -> bool:
        """A plain float, a shape that is a list (`tf.fill` takes no lone number), and not a known handful."""
        size = place.size(place.node)
        if size is not None and size < _SMALL:
            return False
        return isinstance(place.constant(place["c"]), float) and place["shape"].type in ("list", "tuple")
