"""Python numbers as arguments of a tf.function."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext
from energy_code.rule_engine.context import descend
from energy_code.rule_engine.edits.names import Spelling
from energy_code.rule_engine.evidence.common_workloads import tracing
from energy_code.rule_engine.queries.loops import calls_of, over_range, targets

if TYPE_CHECKING:
    from tree_sitter import Node


class RetraceScalar(Rule):
    """Hand a loop's counter to a `tf.function` as a tensor.

    A `tf.function` is traced anew for every Python number it is given; a tensor is one argument whatever
    its value.

    **Equal when** the function uses the number in arithmetic only, and the tensor has the type of what it
    is combined with: TensorFlow converts a Python number, but not a tensor. The rule is silent where it sees
    the parameter used as a Python value (as an index, in `range`, in a condition), and gives no fix where the
    type cannot be known at the call.
    """

    message = "every new Python number traces the function anew: hand the counter over as `tf.constant`"
    category = "dispatch"
    examples = (
        (
            "@tf.function\ndef step(x, i):\n    return x * i\n\n\nfor i in range(100):\n    y = step(x, i)",
            "@tf.function\ndef step(x, i):\n    return x * i\n\n\n"
            "for i in range(100):\n    y = step(x, tf.constant(i, x.dtype))",
        ),
        (
            "@tf.function\ndef step(x, i):\n    return x + 0.5 * i\n\n\n"
            "for i in range(100):\n    y = step(tf.ones([3]), i)",
            "@tf.function\ndef step(x, i):\n    return x + 0.5 * i\n\n\n"
            "for i in range(100):\n    y = step(tf.ones([3]), tf.constant(i, tf.float32))",
        ),
    )
    reports = (
        "@tf.function\ndef step(x, i):\n    y = tf.sin(x)\n    return y * i\n\n\n"
        "for i in range(100):\n    y = step(x, i)",
    )
    leave_alone = (
        "@tf.function\ndef step(x, i):\n    return x[i]\n\n\nfor i in range(100):\n    y = step(x, i)",
        "def step(x, i):\n    return x * i\n\n\nfor i in range(100):\n    y = step(x, i)",
        "@tf.function(reduce_retracing=True)\ndef step(x, i):\n    return x * i\n\n\n"
        "for i in range(100):\n    y = step(x, i)",
    )
    workload = tracing(
        "[fresh()(x, i) for i in range(2)]",
        "[made(x, tf.constant(i, x.dtype)) for i in range(2)]",
        x="tf.constant(rng.integers(0, 9, size=(n,)), tf.int32)",
        made="fresh()",
        setup="def fresh():\n    return tf.function(lambda x, i: x * i)\n",
    )
    safety = "review"
    modes = EAGER
    apis = ("tf.function",)

    def look(self, place: RuleContext) -> Iterator[Match]:
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

    def _arguments(self, place: RuleContext, function: Node, call: Node) -> Iterator[Match]:
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
            operations = self._arithmetic(place, function, place.text(parameter))
            if not operations:
                continue
            given = dict(zip(map(place.text, listed.named_children), arguments.named_children, strict=False))
            dtype = _dtype(place, [_partner(*one) for one in operations], given)
            if dtype is None:
                yield Match(argument)
            else:
                yield Match(argument, edits=functools.partial(_wrapped, place, argument, dtype))

    def _arithmetic(self, place: RuleContext, function: Node, parameter: str) -> list[tuple[Node, Node]]:
        """The operations on a parameter, with its use in each; none where it is used in another way."""
        body = function.child_by_field_name("body")
        uses = [node for node in descend(body, "identifier") if place.text(node) == parameter] if body else []
        found = [(use.parent, use) for use in uses if use.parent and use.parent.type == "binary_operator"]
        return found if len(found) == len(uses) else []


def _partner(operation: Node, use: Node) -> Node:
    """The other operand."""
    first, second = operation.named_children[0], operation.named_children[-1]
    return second if first == use else first


def _dtype(place: RuleContext, partners: list[Node], given: dict[str, Node]) -> str | None:
    """The type that the number takes on in the function, as the call can write it; None when it cannot be known."""
    plain = [partner for partner in partners if partner.type in ("integer", "float")]
    tensors = [given.get(place.text(partner)) for partner in partners if partner not in plain]
    if None in tensors:
        return None
    known = {_dtype_of(place, tensor) for tensor in tensors if tensor is not None}
    if not tensors:
        known = {"tf.float32" if any(one.type == "float" for one in plain) else "tf.int32"}
    return known.pop() if len(known) == 1 else None


def _dtype_of(place: RuleContext, tensor: Node) -> str | None:
    dtype = place.dtype(tensor)
    if dtype is not None:
        return f"tf.{dtype}"
    return f"{place.text(tensor)}.dtype" if place.is_simple(tensor) else None


def _wrapped(place: RuleContext, argument: Node, dtype: str) -> list[Edit]:
    names = Spelling(place.analysis)
    spelled = names.name(dtype) if dtype.startswith("tf.") else dtype
    text = f"{names.name('tf.constant')}({place.text(argument)}, {spelled})"
    return [*names.import_edits(), Edit(argument.start_byte, argument.end_byte, text)]
