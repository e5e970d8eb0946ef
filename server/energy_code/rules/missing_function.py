"""Training steps outside tf.function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.edits.extract import LoopStep, extracted, free_name
from energy_code.rule_engine.edits.names import Spelling
from energy_code.rule_engine.edits.step_functions import calls_in_loops, is_traceable, step_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TAPE = re.compile(rb"(?m)^[ \t]+with[ \t][^\n]*GradientTape\(")


class MissingFunction(Rule):
    """Trace a training step with `tf.function`.

    A step with a `GradientTape` dispatches every operation, forward and backward, from Python, once per
    batch. Traced, it is one call. The smaller the model, the larger the part that Python takes.

    **Equal when** the step has no side effects in Python: printing, lists, `.numpy()`, random numbers of
    NumPy. The rule leaves out steps in which it sees such, and speaks up only for functions that are
    called in a loop, and for steps that stand in a loop themselves, or in a function that does more: these become
    a function of their own, up to the first statement that prints or counts.
    """

    message = "`@tf.function` turns this step, which runs in a loop, into one call"
    category = "dispatch"
    whole_function = True
    examples = (
        (
            "def step(x, w):\n"
            "    with tf.GradientTape() as tape:\n"
            "        loss = tf.reduce_sum(x * w)\n"
            "    return tape.gradient(loss, w)\n"
            "\n\n"
            "for batch in data:\n"
            "    grads = step(batch, w)",
            "@tf.function\n"
            "def step(x, w):\n"
            "    with tf.GradientTape() as tape:\n"
            "        loss = tf.reduce_sum(x * w)\n"
            "    return tape.gradient(loss, w)\n"
            "\n\n"
            "for batch in data:\n"
            "    grads = step(batch, w)",
        ),
        (
            "model = keras.Sequential([keras.layers.Dense(1)])\n"
            "optimizer = keras.optimizers.SGD()\n"
            "for epoch in range(3):\n"
            "    for step, (x, y) in enumerate(data):\n"
            "        with tf.GradientTape() as tape:\n"
            "            loss = tf.reduce_mean((model(x) - y) ** 2)\n"
            "        grads = tape.gradient(loss, model.trainable_weights)\n"
            "        optimizer.apply_gradients(zip(grads, model.trainable_weights))\n"
            "        if step % 100 == 0:\n"
            "            print(step, float(loss))",
            "model = keras.Sequential([keras.layers.Dense(1)])\n"
            "optimizer = keras.optimizers.SGD()\n"
            "@tf.function\n"
            "def train_step(x, y):\n"
            "    with tf.GradientTape() as tape:\n"
            "        loss = tf.reduce_mean((model(x) - y) ** 2)\n"
            "    grads = tape.gradient(loss, model.trainable_weights)\n"
            "    optimizer.apply_gradients(zip(grads, model.trainable_weights))\n"
            "    return loss\n"
            "\n\n"
            "for epoch in range(3):\n"
            "    for step, (x, y) in enumerate(data):\n"
            "        loss = train_step(x, y)\n"
            "        if step % 100 == 0:\n"
            "            print(step, float(loss))",
        ),
        (
            "def main(data, model: keras.Model, optimizer):\n"
            "    for x in data:\n"
            "        with tf.GradientTape() as tape:\n"
            "            loss = tf.reduce_sum(model(x))\n"
            "        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)",
            "def main(data, model: keras.Model, optimizer):\n"
            "    @tf.function\n"
            "    def train_step(x):\n"
            "        with tf.GradientTape() as tape:\n"
            "            loss = tf.reduce_sum(model(x))\n"
            "        optimizer.apply(tape.gradient(loss, model.trainable_weights), model.trainable_weights)\n"
            "\n"
            "    for x in data:\n"
            "        train_step(x)",
        ),
        (
            "class Trainer:\n"
            "    def __init__(self, model, optimizer):\n"
            "        self.model, self.optimizer = model, optimizer\n"
            "\n"
            "    def step(self, x, y):\n"
            "        with tf.GradientTape() as tape:\n"
            "            loss = tf.reduce_mean((self.model(x) - y) ** 2)\n"
            "        grads = tape.gradient(loss, self.model.trainable_weights)\n"
            "        self.optimizer.apply_gradients(zip(grads, self.model.trainable_weights))\n"
            "        return loss\n"
            "\n"
            "    def train(self, data):\n"
            "        for x, y in data:\n"
            "            print(float(self.step(x, y)))",
            "class Trainer:\n"
            "    def __init__(self, model, optimizer):\n"
            "        self.model, self.optimizer = model, optimizer\n"
            "\n"
            "    @tf.function\n"
            "    def step(self, x, y):\n"
            "        with tf.GradientTape() as tape:\n"
            "            loss = tf.reduce_mean((self.model(x) - y) ** 2)\n"
            "        grads = tape.gradient(loss, self.model.trainable_weights)\n"
            "        self.optimizer.apply_gradients(zip(grads, self.model.trainable_weights))\n"
            "        return loss\n"
            "\n"
            "    def train(self, data):\n"
            "        for x, y in data:\n"
            "            print(float(self.step(x, y)))",
        ),
        (
            "class Line:\n"
            "    def __init__(self, w):\n"
            "        self.w = w\n"
            "        self.optimizer = keras.optimizers.SGD()\n"
            "        self.losses = []\n"
            "\n"
            "    def train(self, data):\n"
            "        for x, y in data:\n"
            "            with tf.GradientTape() as tape:\n"
            "                loss = tf.reduce_mean((x * self.w - y) ** 2)\n"
            "            self.optimizer.apply_gradients([(tape.gradient(loss, self.w), self.w)])\n"
            "            self.losses.append(float(loss))",
            "class Line:\n"
            "    def __init__(self, w):\n"
            "        self.w = w\n"
            "        self.optimizer = keras.optimizers.SGD()\n"
            "        self.losses = []\n"
            "\n"
            "    def train(self, data):\n"
            "        @tf.function\n"
            "        def train_step(x, y):\n"
            "            with tf.GradientTape() as tape:\n"
            "                loss = tf.reduce_mean((x * self.w - y) ** 2)\n"
            "            self.optimizer.apply_gradients([(tape.gradient(loss, self.w), self.w)])\n"
            "            return loss\n"
            "\n"
            "        for x, y in data:\n"
            "            loss = train_step(x, y)\n"
            "            self.losses.append(float(loss))",
        ),
        (
            "class Trainer:\n"
            "    def __init__(self, model, optimizer):\n"
            "        self.model, self.optimizer = model, optimizer\n"
            "        self.losses = []\n"
            "\n"
            "    def step(self, number, x):\n"
            "        with tf.GradientTape() as tape:\n"
            "            loss = tf.reduce_mean(self.model(x) ** 2)\n"
            "        grads = tape.gradient(loss, self.model.trainable_weights)\n"
            "        self.optimizer.apply_gradients(zip(grads, self.model.trainable_weights))\n"
            "        self.losses.append(loss.numpy())\n"
            "        if number % 100 == 0:\n"
            "            print(number, self.losses[-1])\n"
            "\n"
            "    def train(self, data):\n"
            "        for number, x in enumerate(data):\n"
            "            self.step(number, x)",
            "class Trainer:\n"
            "    def __init__(self, model, optimizer):\n"
            "        self.model, self.optimizer = model, optimizer\n"
            "        self.losses = []\n"
            "\n"
            "    @tf.function\n"
            "    def traced_step(self, x):\n"
            "        with tf.GradientTape() as tape:\n"
            "            loss = tf.reduce_mean(self.model(x) ** 2)\n"
            "        grads = tape.gradient(loss, self.model.trainable_weights)\n"
            "        self.optimizer.apply_gradients(zip(grads, self.model.trainable_weights))\n"
            "        return loss\n"
            "\n"
            "    def step(self, number, x):\n"
            "        loss = self.traced_step(x)\n"
            "        self.losses.append(loss.numpy())\n"
            "        if number % 100 == 0:\n"
            "            print(number, self.losses[-1])\n"
            "\n"
            "    def train(self, data):\n"
            "        for number, x in enumerate(data):\n"
            "            self.step(number, x)",
        ),
    )
    leave_alone = (
        "class Trainer:\n"
        "    def __init__(self, w):\n"
        "        self.w, self.scale = w, 1.0\n"
        "\n"
        "    def step(self, x):\n"
        "        with tf.GradientTape() as tape:\n"
        "            loss = tf.reduce_sum(x * self.w) * self.scale\n"
        "        return tape.gradient(loss, self.w)\n"
        "\n"
        "    def train(self, data):\n"
        "        for x in data:\n"
        "            self.step(x)\n"
        "            self.scale *= 0.9",
        "class Trainer:\n"
        "    def __init__(self, w):\n"
        "        self.w = w\n"
        "        self.seen = 0\n"
        "\n"
        "    def loss(self, x):\n"
        "        self.seen += 1\n"
        "        return tf.reduce_sum(x * self.w)\n"
        "\n"
        "    def train(self, data):\n"
        "        for x in data:\n"
        "            with tf.GradientTape() as tape:\n"
        "                loss = self.loss(x)\n"
        "            grads = tape.gradient(loss, self.w)",
        "class Agent:\n"
        "    def __init__(self, w):\n"
        "        self.w = w\n"
        "\n"
        "    def learn(self, x, reward):\n"
        "        with tf.GradientTape() as tape:\n"
        "            loss = tf.reduce_sum(x * self.w) * reward\n"
        "        return tape.gradient(loss, self.w)\n"
        "\n\n"
        "def play(agent, game):\n"
        "    for x in game:\n"
        "        reward = game.score(x)\n"
        "        agent.learn(x, reward)",
        "for epoch in range(9):\n"
        "    for x in data:\n"
        "        with tf.GradientTape() as tape:\n"
        "            loss = tf.reduce_sum(x * w) * settings.scale\n"
        "        grads = tape.gradient(loss, w)\n"
        "    settings.scale = settings.scale / 2",
        "def loss_of(x):\n"
        "    seen.append(x)\n"
        "    return tf.reduce_sum(x * w)\n"
        "\n\n"
        "for x in data:\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = loss_of(x)\n"
        "    grads = tape.gradient(loss, w)",
        "for optimizer in (keras.optimizers.SGD(), keras.optimizers.Adam()):\n"
        "    for x in data:\n"
        "        with tf.GradientTape() as tape:\n"
        "            loss = tf.reduce_sum(x * w)\n"
        "        optimizer.apply_gradients([(tape.gradient(loss, w), w)])",
        "warm = True\n"
        "\n\n"
        "def step(x, w):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(x * w) * (2.0 if warm else 1.0)\n"
        "    return tape.gradient(loss, w)\n"
        "\n\n"
        "for batch in data:\n"
        "    grads = step(batch, w)\n"
        "    warm = False",
        "log = []\n"
        "\n\n"
        "def step(x, w):\n"
        "    scale = 1 / (1 + len(log))\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(x * w) * scale\n"
        "    w.assign_sub(tape.gradient(loss, w))\n"
        "    log.append(float(loss))\n"
        "\n\n"
        "for batch in data:\n"
        "    step(batch, w)",
        "def learn(states, actions, w):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(states * w) * tf.reduce_sum(actions)\n"
        "    w.assign_sub(tape.gradient(loss, w))\n"
        "\n\n"
        "for episode in range(9):\n"
        "    actions = []\n"
        "    for state in game:\n"
        "        actions.append(act(state))\n"
        "    learn(tf.stack(game.states), actions, w)",
        "def step(x, w):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(x * w)\n"
        "    print(loss)\n"
        "    return tape.gradient(loss, w)\n"
        "\n\n"
        "for batch in data:\n"
        "    step(batch, w)",
        "def step(x, w):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(x * w)\n"
        "    seen['loss'] = loss\n"
        "    return tape.gradient(loss, w)\n"
        "\n\n"
        "for batch in data:\n"
        "    step(batch, w)",
        "def step(x, w):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(x * w)\n"
        "    return tape.gradient(loss, w)\n"
        "\n\n"
        "grads = step(x, w)",
        "for i in range(100):\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(w * i)\n"
        "    grads = tape.gradient(loss, w)",
        "for x in data:\n"
        "    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_sum(x * w)\n"
        "        print(loss)\n"
        "    grads = tape.gradient(loss, w)",
        "for x in data:\n"
        "    with tf.GradientTape(persistent=True) as tape:\n"
        "        loss = tf.reduce_sum(x * w)\n"
        "    print(loss)\n"
        "    grads = tape.gradient(loss, w)",
    )
    workload = Workload(
        "[step(x, w) for _ in range(4)]",
        {
            "x": "tf.constant(rng.normal(size=(n, 16)), tf.float32)",
            "w": "tf.Variable(rng.normal(size=(16, 1)), dtype=tf.float32)",
            "step": "step",
            "traced": "tf.function(step)",
        },
        {"n": (8, 256, 8192)},
        after="[traced(x, w) for _ in range(4)]",
        setup="""
def step(x, w):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w))))
    return tape.gradient(loss, w)
""",
        tolerance=1e-4,
        absolute=1e-6,
        graph=False,
        vary=False,
    )
    safety = "review"
    modes = EAGER
    around_model = True
    apis = ("tf.GradientTape",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A function that is called in a loop of this file, or a part of it; or a step in a loop itself."""
        if place.loop(place.node, comprehensions=False) is not None:
            yield from self._taken_out(place, step_of(place, place.node, None, ()))
            return
        function = place.function(place.node)
        looped = calls_in_loops(place, function) if function is not None else []
        if function is None or not looped:
            return
        if is_traceable(place, function, looped):
            yield from self._decorated(place, function, looped)
        else:
            yield from self._taken_out(place, step_of(place, place.node, function, looped))

    def _decorated(self, place: RuleContext, function: Node, looped: Sequence[Node]) -> Iterator[Match]:
        name = function.child_by_field_name("name")

        def edits() -> list[Edit]:
            names = Spelling(place.analysis)
            margin = " " * function.start_point[1]
            decorator = f"@{names.name('tf.function')}\n{margin}"
            return [*names.import_edits(), Edit(function.start_byte, function.start_byte, decorator)]

        if name is not None:
            yield Match(name, edits=edits, related=looped[:1])

    def _taken_out(self, place: RuleContext, step: LoopStep | None) -> Iterator[Match]:
        if step is None:
            return

        def edits() -> list[Edit]:
            names = Spelling(place.analysis)
            decorator = f"@{names.name('tf.function')}"
            earlier = len(_TAPE.findall(place.shared.code(), 0, step.statements[0].start_byte))
            # A model of Keras has a method `train_step` already.
            name = free_name(place, "traced_step" if step.owner else "train_step", earlier)
            return [*names.import_edits(), *extracted(place, step, decorator, name)]

        yield Match(
            place.node,
            edits=edits,
            message="as a function under `@tf.function` this step is one call",
            related=step.statements,
        )
