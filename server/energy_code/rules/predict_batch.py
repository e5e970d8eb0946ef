"""Predicting in tiny batches."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.edits.arguments import without_argument
from energy_code.rule_engine.evidence.common_workloads import ROWS, predicting

_TINY = 8


class PredictBatch(Rule):
    """Predict in batches of a decent size.

    With `batch_size=1` the model is dispatched once per row. The size does not change what comes out of
    `predict`; the default of 32, or more, uses the processor's vector units.

    **Equal when** the layers treat rows independently, as they do at inference, and the batch fits into
    memory. The last digits may differ.
    """

    message = (
        "a tiny batch size dispatches the model again and again: the default of 32 gives the same predictions"
    )
    category = "keras"
    examples = (
        (
            "def f(model: keras.Model, x):\n    return model.predict(x, batch_size=1)",
            "def f(model: keras.Model, x):\n    return model.predict(x)",
        ),
    )
    leave_alone = (
        "def f(model: keras.Model, x):\n    return model.predict(x, batch_size=256)",
        "def f(model: keras.Model, x):\n    return model.predict(x[:1], batch_size=1)",
        "def f(model: keras.Model, x, y):\n    model.fit(x, y, batch_size=1)",
        "def f(model: keras.Model):\n    return model.predict(np.ones((4, 3)), batch_size=1)",
        "def f(model: keras.Model, x):\n    return model.predict(x, batch_size=1, callbacks=[count])",
        "class RowsTest(tf.test.TestCase):\n    def test_rows(self, model: keras.Model, x):\n"
        "        return model.predict(x, batch_size=1)",
    )
    workload = predicting("model.predict(x, batch_size=1, verbose=0)", {"x": ROWS}, (16, 48, 128))
    safety = "review"
    modes = EAGER
    apis = ("keras.Model.predict",)
    keyword = "batch_size"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A small number as batch size, of an input that may be large, with nobody counting batches."""
        size, value = place.argument(place.node, "batch_size"), place.argument(place.node, "x", 0)
        if (
            size is None
            or value is None
            or size.parent is None
            or value.type not in ("identifier", "attribute")
        ):
            return
        if (
            place.argument(place.node, "callbacks") is not None
            or place.argument(place.node, "steps") is not None
        ):
            return
        number = place.constant(size)
        if place.loop(place.node) is not None or place.in_test(place.node):
            return
        if isinstance(number, int) and number <= _TINY:
            keyword = size.parent
            yield Match(place.node, edits=lambda: [without_argument(place.analysis.source, keyword)])
