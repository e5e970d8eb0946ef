"""Predicting row by row."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import ROWS, predicting
from energy_code.rule_engine.queries.loops import names_in, rebinds, targets
from energy_code.rule_engine.queries.rows import is_one_row


class PredictRows(Rule):
    """Predict all rows at once.

    A loop that calls the model for one row at a time pays its whole dispatch per row; one call for all
    rows pays it once, and the processor multiplies matrices instead of vectors.

    **Equal when** no row depends on the prediction for another, and the rows fit into memory together.
    Collecting them is yours.
    """

    message = "one prediction per row: predict all rows in one call before the loop"
    category = "keras"
    reports = (
        "def f(model: keras.Model, x):\n    for r in x:\n        y = model.predict(np.expand_dims(r, 0))",
        "def f(model: keras.Model, x):\n    return [model.predict(x[i : i + 1]) for i in range(len(x))]",
        "def f(model: keras.Model, x):\n    for r in x:\n        y = model.predict(tf.expand_dims(r, axis=0))",
    )
    leave_alone = (
        "def f(model: keras.Model, s):\n"
        "    for _ in range(9):\n"
        "        y = model.predict(s[None])\n"
        "        s = step(y)",
        "def f(model: keras.Model, x):\n    return model.predict(x[None])",
    )
    workload = predicting(
        "np.concatenate([model.predict_on_batch(row[None]) for row in x])",
        {"x": ROWS},
        (4, 16, 64),
        after="model.predict_on_batch(x)",
    )
    safety = "none"
    modes = EAGER
    apis = ("keras.Model.predict", "keras.Model.predict_on_batch")
    in_loop = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """One row of what the loop goes through, independent of what its body computes."""
        loop = place.loop(place.node)
        value = place.argument(place.node, "x", 0)
        if loop is None or value is None or not is_one_row(place, value):
            return
        names = names_in(place, value)
        if names & targets(place, loop) and not rebinds(place, loop, names):
            yield Match(place.node)
