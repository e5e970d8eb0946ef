"""fit in a loop of epochs."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import training
from energy_code.rule_engine.queries.loops import changes, names_in, over_range


class FitLoop(Rule):
    """Let `fit` count the epochs.

    Every call of `fit` sets up its dataset, its callbacks and its logs again; `epochs=n` does so once.

    **Equal when** nothing else happens between the epochs; what does belongs into a callback. The change
    is yours.
    """

    message = "each `fit` sets up data and callbacks again: `epochs=` does so once"
    category = "keras"
    reports = (
        "def f(model: keras.Model, x, y):\n    for epoch in range(10):\n        model.fit(x, y, epochs=1)",
        "def f(model: keras.Model, x, y):\n    for _ in range(10):\n        model.fit(x, y)",
    )
    leave_alone = (
        "def f(model: keras.Model, x, y):\n    model.fit(x, y, epochs=10)",
        "def f(model: keras.Model, parts):\n    for i in range(10):\n        model.fit(parts[i])",
        "def f(x, y):\n    for _ in range(10):\n        model = make()\n        model.fit(x, y)",
    )
    workload = training(
        """
        for _ in range(2):
            history = one.fit(x, y, verbose=0, shuffle=False)
        return history.history["loss"][-1]
        """,
        (32, 128, 512),
        after="return other.fit(x, y, epochs=2, verbose=0, shuffle=False).history['loss'][-1]",
    )
    safety = "none"
    modes = EAGER
    apis = ("keras.Model.fit",)
    in_loop = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """The same model on the same data, one epoch at a time, as the only statement of a counting loop."""
        loop = place.loop(place.node, comprehensions=False)
        epochs = place.argument(place.node, "epochs", 3)
        body = loop.child_by_field_name("body") if loop is not None else None
        if loop is None or body is None or not over_range(place, loop):
            return
        if epochs is not None and place.constant(epochs) != 1:
            return
        if len(body.named_children) == 1 and not changes(place, loop, names_in(place, place.node)):
            yield Match(place.node, related=(loop,))
