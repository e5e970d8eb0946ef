"""Tensors of ever new lengths as arguments of a tf.function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.edits.arguments import with_argument
from energy_code.rule_engine.queries.loops import calls_of, names_in, targets
from energy_code.rule_engine.queries.shapes import SHAPED

if TYPE_CHECKING:
    from tree_sitter import Node

_SETTLED = ("reduce_retracing", "input_signature", "experimental_relax_shapes", "jit_compile")


class RetraceShape(Rule):
    """Let one trace serve tensors of all lengths.

    A `tf.function` is traced anew for every shape it is given. With `reduce_retracing=True` it is traced
    for the first shape, then once more with the length left open, and that trace serves all others. An
    `input_signature` with `None` for the length saves the first one as well, where the types are known.

    **Equal when** the function does not read the length in Python (`x.shape[0]` gives `None` in an open
    trace): the fix is for review. The rule speaks up where it sees a slice or a new tensor whose length
    the loop changes.
    """

    message = "every new length traces the function anew: `reduce_retracing=True` leaves the length open"
    category = "dispatch"
    examples = (
        (
            "@tf.function\ndef total(v):\n    return tf.reduce_sum(v)\n\n\n"
            "for n in range(1, 100):\n    y = total(x[:n])",
            "@tf.function(reduce_retracing=True)\ndef total(v):\n    return tf.reduce_sum(v)\n\n\n"
            "for n in range(1, 100):\n    y = total(x[:n])",
        ),
        (
            "@tf.function(autograph=False)\ndef total(v):\n    return tf.reduce_sum(v)\n\n\n"
            "for n in range(1, 100):\n    y = total(tf.zeros([n, 3]))",
            "@tf.function(autograph=False, reduce_retracing=True)\n"
            "def total(v):\n    return tf.reduce_sum(v)\n\n\n"
            "for n in range(1, 100):\n    y = total(tf.zeros([n, 3]))",
        ),
    )
    leave_alone = (
        "@tf.function\ndef total(v):\n    return tf.reduce_sum(v)\n\n\n"
        "for i in range(0, 100, 10):\n    y = total(x[i : i + 10])",
        "@tf.function\ndef total(v):\n    return v / v.shape[0]\n\n\n"
        "for n in range(1, 100):\n    y = total(x[:n])",
        "@tf.function(jit_compile=True)\ndef total(v):\n    return tf.reduce_sum(v)\n\n\n"
        "for n in range(1, 100):\n    y = total(x[:n])",
        "def total(v):\n    return tf.reduce_sum(v)\n\n\nfor n in range(1, 100):\n    y = total(x[:n])",
    )
    workload = Workload(
        """
        @tf.function
        def total(v):
            return tf.reduce_sum(tf.square(v) + 1.0)
        return [total(x[:length]) for length in range(n - 6, n)]
        """,
        {"x": "tf.constant(rng.normal(size=(n,)), tf.float32)", "n": "n"},
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-5,
        graph=False,
        vary=False,
    )
    safety = "review"
    modes = EAGER
    apis = ("tf.function",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """The decorator of a function that some loop gives other lengths in every pass."""
        decorator, holder = place.node, place.node.parent
        while holder is not None and holder.type == "decorator":
            decorator, holder = holder, holder.parent
        function = holder.child_by_field_name("definition") if holder is not None else None
        name = function.child_by_field_name("name") if function is not None else None
        if function is None or name is None or decorator.type != "decorator":
            return
        if any(word in place.text(decorator) for word in _SETTLED) or ".shape" in place.text(function):
            return
        calls = [call for call in calls_of(place, function) if _given_other_lengths(place, call)]
        if calls:
            node = place.node
            arguments = node.child_by_field_name("arguments") if node.type == "call" else None
            edit = (
                with_argument(arguments, "reduce_retracing=True")
                if arguments is not None
                else Edit(node.end_byte, node.end_byte, "(reduce_retracing=True)")
            )
            yield Match(place.node, edits=lambda: [edit], related=calls[:1])


def _given_other_lengths(place: RuleContext, call: Node) -> bool:
    loop = place.loop(call)
    arguments = call.child_by_field_name("arguments")
    if loop is None or arguments is None:
        return False
    counters = targets(place, loop)
    return any(_length_changes(place, argument, counters) for argument in arguments.named_children)


def _length_changes(place: RuleContext, node: Node, counters: set[str]) -> bool:
    """`x[:n]`, `x[n:]`, `tf.zeros([n, 3])`: one end of a slice, or a shape, follows the counter."""
    if node.type == "subscript":
        slices = [child for child in node.children_by_field_name("subscript") if child.type == "slice"]
        ends = [child for one in slices[:1] for child in one.named_children]
        return len(ends) == 1 and bool(names_in(place, ends[0]) & counters)
    position = SHAPED.get(place.api(node) or "")
    shape = place.argument(node, "shape", position) if position is not None else None
    return shape is not None and bool(names_in(place, shape) & counters)
