"""Training steps outside tf.function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.edits.extract import (
    TAPE_NAMES,
    Step,
    counted,
    extracted,
    free_name,
    is_python,
    step_at,
)
from energy_code.rule_engine.edits.names import Names
from energy_code.rule_engine.queries.handed_down import HandedDown
from energy_code.rule_engine.queries.loops import calls_of, method_calls, targets
from energy_code.rule_engine.queries.object_state import is_steady
from energy_code.rule_engine.queries.program import (
    Program,
    free_names_of,
    program_of,
    root_name,
    statements_at,
)
from energy_code.rule_engine.queries.purity import (
    applies_gradients_of,
    changes_outside,
    free_names,
    is_rebound,
)
from energy_code.rule_engine.queries.traceable import Reach, has_effect, reads_what_changes

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = (
    *(b".numpy(", b".append(", b".extend(", b".Variable(", b".compile(", b".item(", b".update("),
    *(b"print(", b"float(", b"int(", b"open(", b"input("),
    *(b"global", b"nonlocal", b"yield", b"assert", b"profiler", b"time", b"await"),
)
_EFFECTS = re.compile(
    rb"|".join(
        rb"(?<!\w)" * word[:1].isalpha() + re.escape(word) + rb"(?!\w)" * word[-1:].isalpha()
        for word in _WORDS
    )
)
"""Looked for only where one of the words is: the expression takes long to find nothing."""
_NOT_IN_A_STEP = re.compile(
    _EFFECTS.pattern + rb"|\]\s*=(?!=)|\.(fit|predict|evaluate|train_on_batch|save\w*|summary|reset_\w+)\("
    rb"|(?<![\w.])(np|numpy|random|break|continue|return|next)(?!\w)"
)
"""What stays in the loop when its step is taken out."""
_STORES = re.compile(rb"\]\s*=(?!=)")
"""An item of a list or dict that is set."""
_LOOPS = ("for_statement", "while_statement")
_TAPE_IN_LOOP = re.compile(rb"(?m)^[ \t]+with[ \t][^\n]*GradientTape\(")


class MissingFunction(Rule):
    """Trace a training step with `tf.function`.

    A step with a `GradientTape` dispatches every operation, forward and backward, from Python, once per
    batch. Traced, it is one call. The smaller the model, the larger the part that Python takes.

    **Equal when** the step has no side effects in Python: printing, lists, `.numpy()`, random numbers of
    NumPy. The rule leaves out steps in which it sees such, and speaks up only for functions that are
    called in a loop, and for steps that stand in a loop themselves: these become a function, up to the first
    statement that prints or counts.
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
        """A function without effects in sight that is called in a loop of this file, or a step in a loop itself."""
        if place.loop(place.node, comprehensions=False) is not None:
            yield from self._inline(place)
            return
        function = place.function(place.node)
        name = function.child_by_field_name("name") if function is not None else None
        if function is None or name is None or not _is_plain(place, function):
            return
        body = function.child_by_field_name("body")
        looped = _calls_in_loops(place, function)
        if not looped or body is None:
            return
        text = place.shared.code[body.start_byte : body.end_byte]
        if (any(word in text for word in _WORDS) and _EFFECTS.search(text)) or _STORES.search(text):
            return
        numpy = place.module_alias("numpy")
        if numpy is not None and f"{numpy}.".encode() in text:
            return
        if _depends_on_python(place, function, looped):
            return
        if not is_steady(place, body.start_byte, body.end_byte):
            return

        def edits() -> list[Edit]:
            names = Names(place.analysis)
            margin = " " * function.start_point[1]
            decorator = f"@{names.name('tf.function')}\n{margin}"
            return [*names.import_edits(), Edit(function.start_byte, function.start_byte, decorator)]

        yield Match(name, edits=edits, related=looped[:1])

    def _inline(self, place: RuleContext) -> Iterator[Match]:
        """The first tape in the body of a loop: its gradient has to be taken before anything has an effect."""
        statement = next(
            (one for one in place.within_function(place.node) if one.type == "with_statement"), None
        )
        if statement is None or statement.parent is None or place.node.end_byte > _head_end(statement):
            return
        if b"GradientTape" in place.shared.code[statement.start_byte : place.node.start_byte]:
            return  # of two tapes in one statement the first speaks for both
        tapes = [one for one in statement.parent.named_children if "GradientTape" in place.text(one)]
        step = step_at(place, statement, partial(_ends_step, place)) if tapes[:1] == [statement] else None
        if step is None or not _is_whole(place, step, statement):
            return

        def edits() -> list[Edit]:
            names = Names(place.analysis)
            decorator = f"@{names.name('tf.function')}"
            earlier = len(_TAPE_IN_LOOP.findall(place.shared.code, 0, statement.start_byte))
            name = free_name(place, "train_step", earlier)
            return [*names.import_edits(), *extracted(place, step, decorator, name)]

        yield Match(
            place.node,
            edits=edits,
            message="as a function under `@tf.function` this step is one call",
            related=step.statements,
        )


def _ends_step(place: RuleContext, statement: Node) -> bool:
    start, end = statement.start_byte, statement.end_byte
    return _NOT_IN_A_STEP.search(place.shared.code, start, end) is not None or not is_steady(
        place, start, end
    )


def _depends_on_python(place: RuleContext, function: Node, looped: Sequence[Node]) -> bool:
    """Whether the file changes what the function reads, or gives it another number or optimizer in each call."""
    source, code = place.analysis.source, place.shared.code
    text = source[function.start_byte : function.end_byte]
    outside = code[: function.start_byte] + b"\n" + code[function.end_byte :]
    free = free_names(text)
    parameters = function.child_by_field_name("parameters")
    program = program_of(place.analysis)
    if free is None or parameters is None or _is_changed(place, program, function, looped):
        return True
    own = {name for name in free if not program.is_of_library(name)}
    if changes_outside(outside, own) or any(is_rebound(outside, name) for name in own):
        return True
    optimizers = [name for name in place.names(parameters) if applies_gradients_of(text, [name])]
    if optimizers and not _are_single(program, function, optimizers, outside):
        return True
    for call in looped:
        loops = [one for one in place.within_function(call) if one.type in _LOOPS]
        arguments = call.child_by_field_name("arguments")
        given = place.names(arguments) if arguments is not None else set()
        if given & (counted(place, loops) if loops else set()):
            return True
        if any(program.is_number(name) and len(program.assigned[name]) > 1 for name in given):
            return True
    return False


def _are_single(program: Program, function: Node, optimizers: Sequence[str], outside: bytes) -> bool:
    """Whether the step is only ever given one and the same optimizer, and one model that stays as it is."""
    defined = statements_at(program, function.start_point, function.end_point)
    if len(defined) != 1 or not isinstance(defined[0], ast.FunctionDef):
        return False
    step, down = defined[0], HandedDown(program)
    models = {
        root_name(node)
        for node in ast.walk(step)
        if isinstance(node, ast.Attribute) and node.attr.startswith("trainable")
    } & {one.arg for one in step.args.args}
    given = [*optimizers, *filter(None, models)]
    if not all(down.is_one_object(step, name) for name in given):
        return False
    return not changes_outside(outside, {one for name in given for one, _ in down.names(step, name)})


def _is_changed(place: RuleContext, program: Program, function: Node, looped: Sequence[Node]) -> bool:
    """Whether the function reaches an effect, or reads what the loops that call it change."""
    place.shared.looked_anywhere = True  # any function of the file may be one that it calls
    defined = statements_at(program, function.start_point, function.end_point)
    if len(defined) != 1 or not isinstance(defined[0], ast.FunctionDef):
        return True
    down = HandedDown(program)
    if any(down.counts(defined[0], one.arg) for one in defined[0].args.args):
        return True
    if any(is_python(program, value) for value in _returned(defined[0])):
        return True
    reach = Reach(program, defined)
    if has_effect(reach, [one.arg for one in defined[0].args.args if one.arg != "self"]):
        return True
    loops = [[one for one in place.within_function(call) if one.type in _LOOPS][-1:] for call in looped]
    around = [
        one
        for [loop] in filter(None, loops)
        for one in statements_at(program, loop.start_point, loop.end_point)
    ]
    return reads_what_changes(reach, around, free_names_of(defined[0]))


def _returned(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a function gives, and the parts of it: a trace gives tensors of them."""
    waiting = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
    while waiting:
        value = waiting.pop()
        yield value
        waiting += getattr(value, "elts", [])
        waiting += value.values if isinstance(value, ast.Dict) else []


def _is_plain(place: RuleContext, function: Node) -> bool:
    """A function of the module, a method, or one of a function that does not make it again and again."""
    outside = function.parent
    if outside is not None and outside.type == "block":
        outer = outside.parent
        return outer is not None and (
            _is_method(function) or (outer.type == "function_definition" and place.loop(function) is None)
        )
    return outside is not None and outside.type == "module"


def _is_method(function: Node) -> bool:
    block = function.parent
    return block is not None and block.parent is not None and block.parent.type == "class_definition"


def _calls_in_loops(place: RuleContext, function: Node) -> list[Node]:
    """Calls of a function in loops; of a method those that give it nothing but what the loop goes through."""
    if not _is_method(function):
        return [call for call in calls_of(place, function) if place.loop(call) is not None]
    calls = method_calls(place, function)
    looped = [call for call in calls if place.loop(call, comprehensions=False) is not None]
    return looped if all(_given_batches(place, call) for call in looped) else []


def _given_batches(place: RuleContext, call: Node) -> bool:
    """Whether every argument is a tensor, or comes from what a loop goes through: a number would be traced each time."""
    loops = [one for one in place.within_function(call) if one.type in _LOOPS]
    given = {name for loop in loops for name in targets(place, loop)} - counted(place, loops)
    arguments = call.child_by_field_name("arguments")
    values = arguments.named_children if arguments is not None else []
    return all(
        value.type == "identifier" and (place.text(value) in given or place.is_tensor(value))
        for value in values
        if value.type != "comment"
    )


def _head_end(statement: Node) -> int:
    body = statement.child_by_field_name("body")
    return body.start_byte if body is not None else statement.end_byte


def _is_whole(place: RuleContext, step: Step, statement: Node) -> bool:
    """Whether every gradient is taken within the step, and no tape is used behind it."""
    code = place.shared.code
    start, end = step.statements[0].start_byte, step.statements[-1].end_byte
    tapes = TAPE_NAMES.findall(code[start:end])
    taken = all(re.search(rb"\b" + tape + rb"\.gradient\(", code[start:end]) for tape in tapes)
    around = (code[step.loops[-1].start_byte : start], code[end : place.scope(statement).end_byte])
    return bool(tapes) and taken and all(_is_opened_first(tape, text) for tape in tapes for text in around)


def _is_opened_first(tape: bytes, code: bytes) -> bool:
    """Whether a name, where some code has it, is that of another tape."""
    found = re.search(rb"(\bas\s+)?\b" + tape + rb"\b", code)
    return found is None or found.group(1) is not None
