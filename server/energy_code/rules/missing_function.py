"""Training steps outside tf.function."""

from __future__ import annotations

import re
from collections.abc import Iterator

from energy_code.ruling import EAGER, Edit, Match, Place, Rule, Workload
from energy_code.ruling.loops import calls_of
from energy_code.ruling.naming import Names

_WORDS = (
    *(b".numpy(", b".append(", b".extend(", b".Variable(", b".compile(", b".item("),
    *(b"print(", b"float(", b"int(", b"open(", b"input(", b"self."),
    *(b"global", b"nonlocal", b"yield", b"assert", b"profiler", b"time", b"await"),
)
_EFFECTS = re.compile(
    rb"|".join(
        rb"(?<!\w)" * word[:1].isalpha() + re.escape(word) + rb"(?!\w)" * word[-1:].isalpha()
        for word in _WORDS
    )
)
"""Looked for only where one of the words is: the expression takes long to find nothing."""
_STORES = re.compile(rb"\]\s*=(?!=)")
"""An item of a list or dict that is set."""


class MissingFunction(Rule):
    """Trace a training step with `tf.function`.

    A step with a `GradientTape` dispatches every operation, forward and backward, from Python, once per
    batch. Traced, it is one call. The smaller the model, the larger the part that Python takes.

    **Equal when** the step has no side effects in Python: printing, lists, `.numpy()`, random numbers of
    NumPy. The rule leaves out steps in which it sees such, and speaks up only for functions that are
    called in a loop.
    """

    message = "`@tf.function` turns this step, which runs in a loop, into one call"
    category = "dispatch"
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
    )
    leave_alone = (
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
    apis = ("tf.GradientTape",)

    def look(self, place: Place) -> Iterator[Match]:
        """A function at module level, without effects in sight, called in a loop of this file."""
        function = place.function(place.node)
        name = function.child_by_field_name("name") if function is not None else None
        if function is None or name is None or function.parent is None or function.parent.type != "module":
            return
        looped = [call for call in calls_of(place, function) if place.loop(call) is not None]
        body = function.child_by_field_name("body")
        if not looped or body is None:
            return
        text = place.analysis.source[body.start_byte : body.end_byte]
        if (any(word in text for word in _WORDS) and _EFFECTS.search(text)) or _STORES.search(text):
            return
        numpy = place.module_alias("numpy")
        if numpy is not None and f"{numpy}.".encode() in text:
            return

        def edits() -> list[Edit]:
            names = Names(place.analysis)
            decorator = f"@{names.name('tf.function')}\n"
            return [*names.import_edits(), Edit(function.start_byte, function.start_byte, decorator)]

        yield Match(name, edits=edits, related=looped[:1])
