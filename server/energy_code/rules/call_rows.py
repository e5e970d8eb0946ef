"""Calling a model row by row."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Match, Rule, RuleContext
from energy_code.rule_engine.edits.compiled import compiled_calls
from energy_code.rule_engine.evidence.common_workloads import ROWS, predicting
from energy_code.rule_engine.queries.purity import calls_pure_code
from energy_code.rule_engine.queries.rows import looks_like_one_row, loop_of_callers


class CallRows(Rule):
    """Call a model for single rows through `tf.function`.

    Called by hand a model dispatches every operation of every layer from Python. For one row, as a loop of
    reinforcement learning asks its policy at each step, that is nearly all of the work: traced, it is one call. Where
    rows do not depend on each other one call for all of them costs less still; where a tape records the loop, asking
    once more for all rows of an episode lets one gradient go back through a batch.

    **Equal when** the model has no effects in Python, and the rows have one shape and type: each new one is traced
    again. The last digits may differ.
    """

    message = "a model called for one row at a time waits for Python: through `tf.function` it is one call"
    category = "dispatch"
    examples = (
        (
            "policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])\n"
            "for episode in range(9):\n"
            "    for step in range(99):\n"
            "        action = policy(tf.expand_dims(state, 0))",
            "policy = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])\n"
            "policy_compiled = tf.function(policy)\n"
            "for episode in range(9):\n"
            "    for step in range(99):\n"
            "        action = policy_compiled(tf.expand_dims(state, 0))",
        ),
        (
            "critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"
            "for step in range(99):\n"
            "    state = keras.ops.convert_to_tensor(observation)\n"
            "    state = keras.ops.expand_dims(state, 0)\n"
            "    value = critic(state)",
            "critic = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])\n"
            "critic_compiled = tf.function(critic)\n"
            "for step in range(99):\n"
            "    state = keras.ops.convert_to_tensor(observation)\n"
            "    state = keras.ops.expand_dims(state, 0)\n"
            "    value = critic_compiled(state)",
        ),
        (
            "class Agent:\n"
            "    def __init__(self):\n"
            "        self.model = keras.Sequential([keras.layers.Dense(2)])\n"
            "\n"
            "    def act(self, state):\n"
            "        return int(tf.argmax(self.model(state[None])[0]))\n"
            "\n\n"
            "agent = Agent()\n"
            "for _ in range(9):\n"
            "    state = game.step(agent.act(state))",
            "class Agent:\n"
            "    def __init__(self):\n"
            "        self.model = keras.Sequential([keras.layers.Dense(2)])\n"
            "        self.model_compiled = tf.function(self.model)\n"
            "\n"
            "    def act(self, state):\n"
            "        return int(tf.argmax(self.model_compiled(state[None])[0]))\n"
            "\n\n"
            "agent = Agent()\n"
            "for _ in range(9):\n"
            "    state = game.step(agent.act(state))",
        ),
    )
    leave_alone = (
        "policy = keras.Sequential([keras.layers.Dense(2)])\nfor x in batches:\n    y = policy(x)",
        "policy = keras.Sequential([keras.layers.Dense(2)])\naction = policy(state[None])",
        "def f(policies, state):\n    for policy in policies:\n        y = policy(state[None])",
        "@tf.function\n"
        "def f(policy: keras.Model, state):\n"
        "    for _ in range(3):\n"
        "        state = policy(state[None])[0]",
        "policy = keras.Sequential([keras.layers.Dense(2)])\n"
        "for n in range(1, 99):\n"
        "    y = policy(states[None, :n])",
    )
    workload = predicting(
        "np.concatenate([model(row[None]) for row in x])",
        {"x": ROWS, "compiled": "tf.function(model())"},
        (4, 16, 64),
        after="np.concatenate([compiled(row[None]) for row in x])",
    )
    safety = "review"
    modes = EAGER
    around_model = True
    apis = ("keras.Model.__call__",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A model of a plain name or of `self`, asked for one row of one shape in a loop."""
        node = place.node
        callee = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        value = arguments.named_children[0] if arguments is not None and arguments.named_children else None
        if callee is None or value is None or callee.type not in ("identifier", "attribute"):
            return
        if value.type == "keyword_argument" or ":" in place.text(value).replace("::", ""):
            return
        if not looks_like_one_row(place, node, value):
            return
        if place.loop(node, comprehensions=False) is None and loop_of_callers(place, node) is None:
            return
        if not compiled_calls(place.analysis, [callee]) or not calls_pure_code(place, b""):
            return
        place.shared.looked_anywhere = True  # where the model is made
        yield Match(node, edits=lambda: compiled_calls(place.analysis, [callee]))
