"""predict in a loop."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import ROWS, predicting
from energy_code.rule_engine.queries.loops import changes, names_in


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
    )
    leave_alone = (
        "def f(model: keras.Model, x):\n    return model.predict(x)",
        "def f(models, x):\n    for model in models:\n        y = model.predict(x)",
        "def f(model: keras.Model, x):\n    for _ in range(3):\n        y = model.predict(x)",
    )
    workload = predicting(
        "[model.predict(x, verbose=0) for x in batches]",
        {"batches": f"[{ROWS} for _ in range(2)]"},
        (1, 32, 1024),
    )
    safety = "review"
    modes = EAGER
    apis = ("keras.Model.predict",)
    in_loop = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """In a loop whose passes give it another input."""
        node = place.node
        loop = place.loop(node)
        value = place.argument(node, "x", 0)
        receiver, function = place.receiver(node), node.child_by_field_name("function")
        if loop is None or value is None or receiver is None or function is None:
            return
        if not changes(place, loop, names_in(place, value)) or changes(
            place, loop, names_in(place, receiver)
        ):
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
