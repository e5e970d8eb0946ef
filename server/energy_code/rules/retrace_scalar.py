"""Python numbers as arguments of a tf.function."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.ruling import EAGER, Edit, Match, Place, Rule
from energy_code.ruling.common_workloads import tracing
from energy_code.ruling.loops import calls_of, over_range, targets
from energy_code.ruling.naming import Names
from energy_code.ruling.place import descend

if TYPE_CHECKING:
    from tree_sitter import Node


class RetraceScalar(Rule):
    """Hand a loop's counter to a `tf.function` as a tensor.

    A `tf.function` is traced anew for every Python number it is given; a tensor is one argument whatever
    its value.

    **Equal when** the function uses the number in arithmetic only. The rule is silent where it sees the
    parameter used as a Python value: as an index, in `range`, in a condition.
    """

    message = "every new Python number traces the function anew: hand the counter over as `tf.constant`"
    category = "dispatch"
    examples = (
        (
            "@tf.function\ndef step(x, i):\n    return x * i\n\n\nfor i in range(100):\n    y = step(x, i)",
            "@tf.function\ndef step(x, i):\n    return x * i\n\n\n"
            "for i in range(100):\n    y = step(x, tf.constant(i))",
        ),
    )
    leave_alone = (
        "@tf.function\ndef step(x, i):\n    return x[i]\n\n\nfor i in range(100):\n    y = step(x, i)",
        "def step(x, i):\n    return x * i\n\n\nfor i in range(100):\n    y = step(x, i)",
        "@tf.function(reduce_retracing=True)\ndef step(x, i):\n    return x * i\n\n\n"
        "for i in range(100):\n    y = step(x, i)",
    )
    workload = tracing(
        "[fresh()(x, i) for i in range(2)]",
        "[made(x, tf.constant(i)) for i in range(2)]",
        x="tf.constant(rng.integers(0, 9, size=(n,)), tf.int32)",
        made="fresh()",
        setup="def fresh():\n    return tf.function(lambda x, i: x * i)\n",
    )
    safety = "review"
    modes = EAGER
    apis = ("tf.function",)

    def look(self, place: Place) -> Iterator[Match]:
        """Calls of the decorated function with the counter of a `for … in range(…)`."""
        holder = place.node.parent
        while holder is not None and holder.type == "decorator":
            holder = holder.parent
        function = holder.child_by_field_name("definition") if holder is not None else None
        if holder is None or holder.type != "decorated_definition" or function is None:
            return
        if b"reduce_retracing" in place.text(place.node).encode() or "input_signature" in place.text(
            place.node
        ):
            return
        for call in calls_of(place, function):
            yield from self._arguments(place, function, call)

    def _arguments(self, place: Place, function: Node, call: Node) -> Iterator[Match]:
        loop = place.loop(call, comprehensions=False)
        arguments = call.child_by_field_name("arguments")
        listed = function.child_by_field_name("parameters")
        if loop is None or arguments is None or listed is None or not over_range(place, loop):
            return
        counters = targets(place, loop)
        for argument, parameter in zip(arguments.named_children, listed.named_children, strict=False):
            is_counter = argument.type == "identifier" and place.text(argument) in counters
            if not is_counter or parameter.type != "identifier":
                continue
            if self._arithmetic_only(place, function, place.text(parameter)):
                yield Match(argument, edits=functools.partial(_wrapped, place, argument))

    def _arithmetic_only(self, place: Place, function: Node, parameter: str) -> bool:
        body = function.child_by_field_name("body")
        uses = [node for node in descend(body, "identifier") if place.text(node) == parameter] if body else []
        return bool(uses) and all(
            use.parent is not None and use.parent.type == "binary_operator" for use in uses
        )


def _wrapped(place: Place, argument: Node) -> list[Edit]:
    names = Names(place.analysis)
    text = f"{names.name('tf.constant')}({place.text(argument)})"
    return [*names.import_edits(), Edit(argument.start_byte, argument.end_byte, text)]
