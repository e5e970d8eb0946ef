"""Predicting row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import ROWS, predicting
from energy_code.rule_engine.queries.loops import names_in, rebinds, targets

if TYPE_CHECKING:
    from tree_sitter import Node

_ONE_ROW = re.compile(
    r".+\[(?:None|(?:\w+\.)?newaxis)\b.*\]|.+\.reshape\(\(?1,.*\)|\w+\[(\w+)\s*:\s*\1\s*\+\s*1\]", re.DOTALL
)
"""`x[None]`, `x.reshape(1, -1)`, `x[i : i + 1]`."""


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
        if loop is None or value is None or not _is_one_row(place, value):
            return
        names = names_in(place, value)
        if names & targets(place, loop) and not rebinds(place, loop, names):
            yield Match(place.node)


def _is_one_row(place: RuleContext, value: Node) -> bool:
    """Whether an expression puts one row into a batch of its own."""
    text = place.text(value)
    if _ONE_ROW.fullmatch(text):
        return True
    axis = place.argument(value, "axis", 1) if value.type == "call" else None
    expands = axis is not None and place.constant(axis) == 0
    if place.api(value) == "tensorflow.expand_dims":
        return expands
    alias = place.module_alias("numpy")
    if alias is None or not text.startswith(f"{alias}."):
        return False
    name, _, arguments = text.removeprefix(f"{alias}.").partition("(")
    if name == "expand_dims":
        return expands
    return name in ("array", "asarray", "stack") and re.fullmatch(r"\[\w+\]\)", arguments) is not None
