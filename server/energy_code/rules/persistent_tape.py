"""One backward pass per variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from energy_code.rule_engine import Edit, Match, Rule, RuleContext, Workload

if TYPE_CHECKING:
    from tree_sitter import Node


class PersistentTape(Rule):
    """Take all gradients in one backward pass.

    Each `tape.gradient(loss, w)` walks the whole tape backwards; `tape.gradient(loss, [w, b])` walks it
    once for all variables, and the tape need not be persistent.

    **Equal when** the calls follow each other with the same tape and the same loss, as the rule wants to
    see.
    """

    message = "one `gradient` of all variables walks the tape once instead of once per variable"
    category = "arithmetic"
    whole_function = True
    examples = (
        (
            "def f(x, w, b):\n"
            "    with tf.GradientTape(persistent=True) as tape:\n"
            "        loss = tf.reduce_sum(x * w + b)\n"
            "    dw = tape.gradient(loss, w)\n"
            "    db = tape.gradient(loss, b)\n"
            "    return dw, db",
            "def f(x, w, b):\n"
            "    with tf.GradientTape(persistent=True) as tape:\n"
            "        loss = tf.reduce_sum(x * w + b)\n"
            "    dw, db = tape.gradient(loss, [w, b])\n"
            "    return dw, db",
        ),
    )
    reports = (
        "def f(x, w, b):\n"
        "    with tf.GradientTape(persistent=True) as tape:\n"
        "        loss = tf.reduce_sum(x * w + b)\n"
        "    dw = tape.gradient(loss, w)  # of the weights\n"
        "    db = tape.gradient(loss, b)",
    )
    leave_alone = (
        "def f(x, w, b):\n"
        "    with tf.GradientTape(persistent=True) as tape:\n"
        "        loss = tf.reduce_sum(x * w + b)\n"
        "    dw = tape.gradient(loss, w)\n"
        "    db = tape.gradient(other, b)",
    )
    workload = Workload(
        """
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([w, b])
            loss = tf.reduce_sum(tf.tanh(x * w + b))
        dw = tape.gradient(loss, w)
        db = tape.gradient(loss, b)
        return dw, db
        """,
        {
            "x": "tf.constant(rng.normal(size=(n,)), tf.float32)",
            "w": "tf.constant(rng.normal(size=(n,)), tf.float32)",
            "b": "tf.constant(rng.normal(size=(n,)), tf.float32)",
        },
        {"n": (100, 10_000, 1_000_000)},
        tolerance=1e-6,
        vary=False,
    )
    safety = "review"
    apis = ("tf.GradientTape.gradient",)
    in_a_row = True

    def look(self, place: RuleContext) -> Iterator[Match]:
        """The first of two or more neighbouring statements that assign gradients of one loss."""
        first = _Gradient.read(place, place.node)
        if first is None:
            return
        before = _but_comments(first.statement, "prev_named_sibling")
        if before is not None and self._belongs(first, _Gradient.of_statement(place, before)):
            return
        run = [first]
        while (following := _but_comments(run[-1].statement, "next_named_sibling")) is not None:
            found = _Gradient.of_statement(place, following)
            if found is None or not self._belongs(first, found):
                break
            run.append(found)
        if len(run) > 1:
            text = place.analysis.source[first.statement.start_byte : run[-1].statement.end_byte]
            yield Match(
                place.node,
                edits=(lambda: [_merged(first, run)]) if b"#" not in text else None,  # it would be lost
                related=[one.statement for one in run[1:]],
            )

    def _belongs(self, first: _Gradient, other: _Gradient | None) -> bool:
        return other is not None and (other.tape, other.loss) == (first.tape, first.loss)


class _Gradient:
    """`name = tape.gradient(loss, variable)` as one statement."""

    def __init__(self, statement: Node, name: str, tape: str, loss: str, variable: str) -> None:
        self.statement, self.name, self.tape, self.loss, self.variable = statement, name, tape, loss, variable

    @classmethod
    def read(cls, place: RuleContext, call: Node) -> _Gradient | None:
        assignment = call.parent
        statement = assignment.parent if assignment is not None and assignment.type == "assignment" else None
        arguments, tape = call.child_by_field_name("arguments"), place.receiver(call)
        if assignment is None or statement is None or statement.type != "expression_statement":
            return None
        left = assignment.child_by_field_name("left")
        parts = arguments.named_children if arguments is not None else []
        if tape is None or left is None or left.type != "identifier" or len(parts) != 2:
            return None
        if any(part.type not in ("identifier", "attribute") for part in parts):
            return None
        return cls(statement, place.text(left), place.text(tape), place.text(parts[0]), place.text(parts[1]))

    @classmethod
    def of_statement(cls, place: RuleContext, statement: Node) -> _Gradient | None:
        inner = statement.named_children[0] if statement.type == "expression_statement" else None
        right = (
            inner.child_by_field_name("right") if inner is not None and inner.type == "assignment" else None
        )
        if right is None or place.api(right) != "tensorflow.GradientTape.gradient":
            return None
        return cls.read(place, right)


def _but_comments(
    statement: Node, following: Literal["prev_named_sibling", "next_named_sibling"]
) -> Node | None:
    """The statement before or behind another one."""
    found: Node | None = getattr(statement, following)
    while found is not None and found.type == "comment":
        found = getattr(found, following)
    return found


def _merged(first: _Gradient, run: list[_Gradient]) -> Edit:
    names, variables = ", ".join(g.name for g in run), ", ".join(g.variable for g in run)
    text = f"{names} = {first.tape}.gradient({first.loss}, [{variables}])"
    return Edit(first.statement.start_byte, run[-1].statement.end_byte, text)
