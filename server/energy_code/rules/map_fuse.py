"""Two maps in a row."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Edit, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.chains import link_before
from energy_code.rule_engine.queries.lambdas import body, is_pure, parameters


class MapFuse(Rule):
    """Map once.

    Every `map` dispatches a function and hands its result on, once per element; two lambdas in a row can
    be one.

    **Equal when** both are pure lambdas of one parameter, as the rule wants to see.
    """

    message = "one map instead of two saves a dispatch per element"
    category = "pipeline"
    examples = (
        (
            "def f(ds: tf.data.Dataset):\n    return ds.map(lambda x: tf.abs(x)).map(lambda y: y * 2)",
            "def f(ds: tf.data.Dataset):\n    return ds.map(lambda x: (lambda y: y * 2)(tf.abs(x)))",
        ),
    )
    leave_alone = (
        "def f(ds: tf.data.Dataset):\n    return ds.map(load).map(lambda y: y * 2)",
        "def f(ds: tf.data.Dataset):\n    return ds.map(lambda x: (x, x)).map(lambda a, b: a + b)",
    )
    workload = Workload(
        """
        made = ds.map(lambda x: tf.abs(x)).map(lambda y: y * 2.0)
        return list(made.batch(256).as_numpy_iterator())
        """,
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.normal(size=(n, 64)))"},
        {"n": (64, 512, 2048)},
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    apis = ("tf.data.Dataset.map",)
    follows = "tf.data.Dataset.map"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """Two maps of pure lambdas without further arguments."""
        first = link_before(place, place.node, "tf.data.Dataset.map")
        if first is None:
            return
        one, two = place.argument(first, "map_func", 0), place.argument(place.node, "map_func", 0)
        if one is None or two is None or not (is_pure(place, one) and is_pure(place, two)):
            return
        names = parameters(place, one) or []
        made = body(one)
        alone = all(
            len(call.children_by_field_name("arguments")[0].named_children) == 1
            for call in (first, place.node)
        )
        if (
            made is None
            or made.type == "tuple"
            or len(names) != 1
            or len(parameters(place, two) or []) != 1
            or not alone
        ):
            return

        def edits() -> list[Edit]:
            text = f"lambda {names[0]}: ({place.text(two)})({place.text(made)})"
            return [Edit(one.start_byte, one.end_byte, text), Edit(first.end_byte, place.node.end_byte, "")]

        yield Match(place.node, edits=edits)
