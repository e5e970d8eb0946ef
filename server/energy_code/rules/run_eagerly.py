"""Models that run eagerly."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Match, Rule, RuleContext
from energy_code.rule_engine.edits.arguments import without_argument
from energy_code.rule_engine.evidence.common_workloads import training


class RunEagerly(Rule):
    """Do not leave `run_eagerly=True` in.

    It is meant for debugging: every batch then pays the dispatch of every operation from Python.

    **Equal when** the model's own code does not depend on running in Python (printing, `.numpy()`,
    breakpoints): the fix is for review.
    """

    message = "`run_eagerly=True` is for debugging: every batch pays Python's dispatch of every operation"
    category = "keras"
    examples = (
        (
            'model = keras.Sequential()\nmodel.compile(loss="mse", run_eagerly=True)',
            'model = keras.Sequential()\nmodel.compile(loss="mse")',
        ),
        (
            'model = keras.Sequential()\nmodel.compile(run_eagerly=True, loss="mse")',
            'model = keras.Sequential()\nmodel.compile(loss="mse")',
        ),
    )
    leave_alone = (
        'model = keras.Sequential()\nmodel.compile(loss="mse", run_eagerly=False)',
        "class StepsTest(tf.test.TestCase):\n    def test_steps(self):\n        model = keras.Sequential()\n"
        "        model.compile(run_eagerly=True)",
    )
    workload = training(
        "steps(one, x, y)",
        (8, 64, 512),
        after="steps(other, x, y)",
        one="model(run_eagerly=True)",
        setup="""

def steps(model, x, y):
    return [float(model.train_on_batch(x, y)) for _ in range(3)]
""",
    )
    safety = "review"
    around_model = True
    apis = ("keras.Model.compile",)
    keyword = "run_eagerly"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """The keyword, wherever it stands among the others."""
        value = place.argument(place.node, "run_eagerly")
        if value is None or value.parent is None or place.in_test(place.node):
            return
        if place.text(value) == "True":
            keyword = value.parent
            yield Match(keyword, edits=lambda: [without_argument(place.analysis.source, keyword)])
