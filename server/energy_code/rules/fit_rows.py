"""fit for single rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext
from energy_code.rule_engine.evidence.common_workloads import training
from energy_code.rule_engine.queries.rows import is_one_row, loop_of_callers

if TYPE_CHECKING:
    from tree_sitter import Node

_MAY_BE_GIVEN = ("x", "y", "epochs", "verbose", "batch_size", "shuffle")


class FitRows(Rule):
    """Train on single rows with `train_on_batch`.

    `fit` sets up a dataset, callbacks and logs for every call. For one row, as reinforcement learning trains on what
    it remembers, that takes many times longer than the step itself; `train_on_batch` takes the step alone. To train
    once on all rows together costs less still, and gives other results.

    **Equal when** the rows are one batch, the history that `fit` gives is not used, and the learning rate does not
    depend on epochs.
    """

    message = "`fit` sets up data and callbacks for one row: `train_on_batch` takes the step alone"
    category = "keras"
    examples = (
        (
            "def f(model: keras.Model, memory):\n"
            "    for state, target in memory:\n"
            "        model.fit(state[None], target, epochs=1, verbose=0)",
            "def f(model: keras.Model, memory):\n"
            "    for state, target in memory:\n"
            "        model.train_on_batch(state[None], target)",
        ),
        (
            "def f(model: keras.Model, memory):\n"
            "    for state, action, reward in memory:\n"
            "        target = model.predict_on_batch(state)\n"
            "        target[0][action] = reward\n"
            "        model.fit(state, target, verbose=0)",
            "def f(model: keras.Model, memory):\n"
            "    for state, action, reward in memory:\n"
            "        target = model.predict_on_batch(state)\n"
            "        target[0][action] = reward\n"
            "        model.train_on_batch(state, target)",
        ),
    )
    leave_alone = (
        "def f(model: keras.Model, parts):\n    for x, y in parts:\n        model.fit(x, y, verbose=0)",
        "def f(model: keras.Model, memory):\n"
        "    for x, y in memory:\n"
        "        history = model.fit(x[None], y, verbose=0)",
        "def f(model: keras.Model, memory):\n"
        "    for x, y in memory:\n"
        "        model.fit(x[None], y, epochs=5, verbose=0)",
        "def f(model: keras.Model, x, y):\n    model.fit(x[None], y, verbose=0)",
        "def f(model: keras.Model, memory):\n    for x, y in memory:\n        model.fit(x[None], y)",
    )
    workload = training(
        """
        for row in range(len(x)):
            one.fit(x[row : row + 1], y[row : row + 1], verbose=0)
        return one.get_weights()
        """,
        (1, 4, 16),
        after="""
        for row in range(len(x)):
            other.train_on_batch(x[row : row + 1], y[row : row + 1])
        return other.get_weights()
        """,
    )
    safety = "review"
    modes = EAGER
    apis = ("keras.Model.fit",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """One quiet epoch on one row, again and again, with nobody asking for its history."""
        node = place.node
        given = {name: place.argument(node, name, position) for name, position in (("x", 0), ("y", 1))}
        x, y, function = given["x"], given["y"], node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if x is None or y is None or function is None or arguments is None or not _is_quiet(place, arguments):
            return
        if node.parent is None or node.parent.type != "expression_statement":
            return
        if place.loop(node) is None and loop_of_callers(place, node) is None:
            return
        name = function.child_by_field_name("attribute")
        if name is None or not any(is_one_row(place, one) or _has_one_row(place, one) for one in (x, y)):
            return
        text = f"train_on_batch({place.text(x)}, {place.text(y)})"
        yield Match(node, edits=lambda: [Edit(name.start_byte, arguments.end_byte, text)])


def _is_quiet(place: RuleContext, arguments: Node) -> bool:
    """Whether no argument asks for more than one epoch that nobody watches."""
    keywords = {}
    for argument in arguments.named_children:
        name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
        if argument.type == "keyword_argument" and name is not None and value is not None:
            keywords[place.text(name)] = place.constant(value)
    plain = sum(argument.type not in ("keyword_argument", "comment") for argument in arguments.named_children)
    return (
        plain <= len("xy")
        and not keywords.keys() - set(_MAY_BE_GIVEN)
        and keywords.get("epochs", 1) == 1
        and keywords.get("verbose") == 0
    )


def _has_one_row(place: RuleContext, value: Node) -> bool:
    """A name that the same function fills as `target[0][action] = …`, or puts into a batch of one."""
    if value.type != "identifier":
        return False
    for use in place.uses(place.scope(place.node), place.text(value)):
        first = use.parent
        outer = first.parent if first is not None and first.type == "subscript" else None
        index = first.child_by_field_name("subscript") if first is not None and outer is not None else None
        if index is not None and outer is not None and place.text(index) == "0" and outer.type == "subscript":
            return True
    rights = [one.child_by_field_name("right") for one in place.assignments(value)]
    return any(right is not None and is_one_row(place, right) for right in rights)
