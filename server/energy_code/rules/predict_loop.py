"""predict in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import ROWS, predicting
from energy_code.rule_engine.queries.loops import changes, names_in
from energy_code.rule_engine.queries.rows import looks_like_one_row, loop_of_callers

if TYPE_CHECKING:
    from tree_sitter import Node


class PredictLoop(Rule):
    """Predict single batches with `predict_on_batch`.

    `model.predict` builds a dataset, callbacks and a progress bar for every call, which pays off for
    large inputs and takes far longer than the model itself for one batch.

    **Equal when** the input is one batch (an array or tensor, not a dataset) that fits into memory at
    once.
    """

    message = "`predict` sets up a dataset for every call: `predict_on_batch` runs one batch right away"
    category = "keras"
    examples = (
        (
            "def f(model: keras.Model, data):\n    for x in data:\n        y = model.predict(x)",
            "def f(model: keras.Model, data):\n    for x in data:\n        y = model.predict_on_batch(x)",
        ),
        (
            "def f(model: keras.Model, batches):\n    return [model.predict(x, verbose=0) for x in batches]",
            "def f(model: keras.Model, batches):\n    return [model.predict_on_batch(x) for x in batches]",
        ),
        (
            "model = keras.Sequential([keras.layers.Dense(2)])\n"
            "\n\n"
            "def act(state):\n"
            "    return np.argmax(model.predict(state, verbose=0)[0])\n"
            "\n\n"
            "for _ in range(9):\n"
            "    state = game.step(act(state))",
            "model = keras.Sequential([keras.layers.Dense(2)])\n"
            "\n\n"
            "def act(state):\n"
            "    return np.argmax(model.predict_on_batch(state)[0])\n"
            "\n\n"
            "for _ in range(9):\n"
            "    state = game.step(act(state))",
        ),
    )
    leave_alone = (
        "def f(model: keras.Model, x):\n    return model.predict(x)",
        "def f(models, x):\n    for model in models:\n        y = model.predict(x)",
        "def f(model: keras.Model, x):\n    for _ in range(3):\n        y = model.predict(x)",
        "def score(model: keras.Model, x):\n"
        "    return np.mean(model.predict(x))\n"
        "\n\n"
        "for epoch in range(9):\n"
        "    print(score(model, x))",
    )
    workload = predicting(
        "[model.predict(x, verbose=0) for x in batches]",
        {"batches": f"[{ROWS} for _ in range(2)]"},
        (1, 32, 1024),
        repeats=2,
    )
    safety = "review"
    modes = EAGER
    around_model = True
    apis = ("keras.Model.predict",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """In a loop whose passes give it another input, or for one row in a function that a loop calls."""
        node = place.node
        value = place.argument(node, "x", 0)
        receiver, function = place.receiver(node), node.child_by_field_name("function")
        if value is None or receiver is None or function is None or not _is_repeated(place, value, receiver):
            return
        name = function.child_by_field_name("attribute")
        arguments = node.child_by_field_name("arguments")
        others = [a for a in arguments.named_children if a.type == "keyword_argument"] if arguments else []
        plain = all(place.text(a).startswith(("verbose=", "x=", "batch_size=")) for a in others)
        one = arguments is not None and len(arguments.named_children) - len(others) <= 1
        if name is None or arguments is None or not (plain and one):
            yield Match(node)
            return
        text = f"predict_on_batch({place.text(value)})"
        yield Match(node, edits=lambda: [Edit(name.start_byte, arguments.end_byte, text)])


def _is_repeated(place: RuleContext, value: Node, receiver: Node) -> bool:
    loop = place.loop(place.node)
    if loop is not None:
        return changes(place, loop, names_in(place, value)) and not changes(
            place, loop, names_in(place, receiver)
        )
    return looks_like_one_row(place, place.node, value) and loop_of_callers(place, place.node) is not None
