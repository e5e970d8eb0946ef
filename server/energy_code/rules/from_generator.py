"""Generators over arrays in memory."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Match, Rule, RuleContext, Workload
from energy_code.rule_engine.context import descend
from energy_code.rule_engine.queries.loops import definition


class FromGenerator(Rule):
    """Slice arrays with `from_tensor_slices`, not with a generator.

    `from_generator` goes through Python's lock for every element; `from_tensor_slices` cuts the arrays
    inside TensorFlow.

    **Equal when** the data lie in memory as arrays, and the generator does nothing but hand them out, as
    the rule wants to see. What the generator reads elsewhere decides the types: the change is yours.
    """

    message = "the data lie in memory: `from_tensor_slices` hands them out without Python's lock"
    category = "pipeline"
    reports = (
        "def rows():\n    for a, b in zip(xs, ys):\n        yield a, b\n\n\n"
        "ds = tf.data.Dataset.from_generator(rows, output_signature=spec)",
    )
    leave_alone = (
        "def rows():\n    for line in open(path):\n        yield line\n\n\n"
        "ds = tf.data.Dataset.from_generator(rows, output_signature=spec)",
        "def rows():\n    for a in xs:\n        yield load(a)\n\n\n"
        "ds = tf.data.Dataset.from_generator(rows, output_signature=spec)",
        "ds = tf.data.Dataset.from_generator(make(), output_signature=spec)",
    )
    workload = Workload(
        "list(tf.data.Dataset.from_generator(lambda: iter(x), output_signature=ROW).batch(256))",
        {"x": "rng.random(size=(n, 64)).astype('float32')"},
        {"n": (64, 256, 1024)},
        after="list(tf.data.Dataset.from_tensor_slices(x).batch(256))",
        setup="ROW = tf.TensorSpec([64], tf.float32)",
        graph=False,
        vary=False,
    )
    safety = "none"
    apis = ("tf.data.Dataset.from_generator",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A generator of this file: one loop over names, one yield of names."""
        function = place.argument(place.node, "generator", 0)
        if function is None or function.type != "identifier":
            return
        found = definition(place, place.text(function))
        body = found.child_by_field_name("body") if found is not None else None
        if body is None:
            return
        loops, yields = list(descend(body, "for_statement")), list(descend(body, "yield"))
        statements = [s for s in body.named_children if s.type not in ("comment", "expression_statement")]
        if len(loops) != 1 or len(yields) != 1 or statements != loops:
            return
        calls = [place.text(c.child_by_field_name("function") or c) for c in descend(body, "call")]
        if all(call in ("zip", "range", "len", "enumerate") for call in calls):
            yield Match(place.node)
