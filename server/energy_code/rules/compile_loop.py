"""compile in a loop."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import training
from energy_code.rule_engine.queries.loops import changes, names_in


class CompileLoop(Rule):
    """Compile a model once.

    `compile` throws the traced training step away: compiled inside a loop, the model is traced anew in
    each pass.

    **Equal when** the loop compiles the same model with the same arguments; compiling also starts the
    optimizer afresh, so moving it out is yours.
    """

    message = "every `compile` throws the traced step away: compile once before the loop"
    category = "keras"
    reports = (
        "def f(model: keras.Model, parts):\n"
        "    for part in parts:\n"
        '        model.compile("sgd", "mse")\n'
        "        model.fit(part)",
    )
    leave_alone = (
        "def f(parts):\n"
        "    for part in parts:\n"
        "        model = keras.Sequential()\n"
        '        model.compile("sgd", "mse")',
        "def f(models: list[keras.Model], parts):\n"
        "    for part in parts:\n"
        "        models.append(keras.Sequential())\n"
        '        models[-1].compile("sgd", "mse")',
        "def f(model: keras.Model, rates):\n"
        "    for rate in rates:\n"
        "        model.compile(keras.optimizers.SGD(rate))",
    )
    workload = training(
        """
        for _ in range(2):
            one.compile(loss="mse", optimizer="sgd")
            one.train_on_batch(x, y)
        return one.get_weights()
        """,
        (8, 64, 512),
        after="""
        for _ in range(2):
            other.train_on_batch(x, y)
        return other.get_weights()
        """,
    )
    safety = "none"
    modes = EAGER
    apis = ("keras.Model.compile",)
    in_loop = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """Nothing in the call changes from pass to pass."""
        loop, model = place.loop(place.node, comprehensions=False), place.receiver(place.node)
        if loop is None or model is None or model.type not in ("identifier", "attribute"):
            return
        if not changes(place, loop, names_in(place, place.node)):
            yield Match(place.node, related=(loop,))
