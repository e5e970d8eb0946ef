"""Mapping a function over rows."""

from energy_code.rule_engine import NOT_JIT, Array, Change, Rule, RuleContext, Workload
from energy_code.rule_engine.context import descend
from energy_code.rule_engine.queries.lambdas import body, is_pure, parameters
from energy_code.rule_engine.queries.loops import names_in


class MapFn(Rule):
    """Map over rows with `tf.vectorized_map`.

    `tf.map_fn` runs its function once per row, with the dispatch of every operation each time;
    `tf.vectorized_map` turns the function into one that takes all rows at once.

    **Equal when** the function is pure, treats each row alike and uses operations that can be vectorised;
    random numbers and side effects come out differently.
    """

    message = "`tf.vectorized_map` runs the function once for all rows"
    category = "dispatch"
    examples = (
        (
            "y = tf.map_fn(lambda row: tf.reduce_sum(row * row), x)",
            "y = tf.vectorized_map(lambda row: tf.reduce_sum(row * row), x)",
        ),
    )
    leave_alone = (
        "y = tf.map_fn(f, x, fn_output_signature=tf.int32)",
        "y = tf.map_fn(lambda row: row + tf.random.normal([3]), x)",
        "y = tf.map_fn(step, x)",
        "y = tf.map_fn(lambda row: tf.reduce_sum(row[: tf.cast(row[-1], tf.int32)]), x)",
    )
    workload = Workload(
        "tf.map_fn(lambda row: tf.reduce_sum(tf.nn.relu(row)) * row, x)",
        {"x": Array("n", 32)},
        {"n": (8, 64, 256)},
        tolerance=1e-5,
        gradients=("x",),
        vary=False,
    )
    safety = "review"
    modes = NOT_JIT
    changes = (Change("tf.map_fn($f, $x)", "tf.vectorized_map($f, $x)"),)

    def where(self, place: RuleContext) -> bool:
        """A lambda whose whole body can be seen to be pure arithmetic, on rows that stay of one length."""
        function = place["f"]
        if not is_pure(place, function):
            return False
        given, inner = set(parameters(place, function) or ()), body(function)
        bounds = [names_in(place, one) for one in descend(inner, "slice")] if inner is not None else []
        return all(given.isdisjoint(names) for names in bounds)
