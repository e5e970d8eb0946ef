"""Rectifiers."""

from energy_code.rule_engine import Array, Rule, Workload


class Relu(Rule):
    """Use `tf.nn.relu` for `maximum(x, 0)`.

    Both are one pass over memory. (For small tensors in eager mode `relu` saves turning the 0 into a tensor.)
    The gradient at 0 differs: `maximum` shares it, `relu` gives none.
    """

    message = "`tf.nn.relu` and `tf.maximum` cost the same"
    category = "arithmetic"
    workload = Workload(
        "tf.maximum(x, 0.0)",
        {"x": Array("n")},
        {"n": (50_000, 500_000, 2_000_000)},
        after="tf.nn.relu(x)",
        vary=False,
    )
    safety = "none"
    saves = False
