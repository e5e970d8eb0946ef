"""Filtering after the work is done."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Match, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.chains import link_before, swap
from energy_code.rule_engine.queries.lambdas import body, is_pure, parameters
from energy_code.rule_engine.queries.loops import names_in


class FilterFirst(Rule):
    """Filter before mapping.

    `map(f).filter(p)` computes elements that are then thrown away.

    **Equal when** the filter looks only at parts that the map hands on unchanged. The rule wants to see
    that: two lambdas, where the filter uses only parameters that the map gives back as they are.
    """

    message = "filter first: the map then leaves out what is thrown away"
    category = "pipeline"
    examples = (
        (
            "def f(ds: tf.data.Dataset):\n"
            "    return ds.map(lambda x, y: (tf.sqrt(x), y)).filter(lambda x, y: y > 0)",
            "def f(ds: tf.data.Dataset):\n"
            "    return ds.filter(lambda x, y: y > 0).map(lambda x, y: (tf.sqrt(x), y))",
        ),
    )
    leave_alone = (
        "def f(ds: tf.data.Dataset):\n"
        "    return ds.map(lambda x, y: (tf.sqrt(x), y)).filter(lambda x, y: x > 0)",
        "def f(ds: tf.data.Dataset):\n    return ds.map(lambda x, y: (x, y + 1)).filter(lambda x, y: y > 0)",
        "def f(ds: tf.data.Dataset):\n    return ds.map(g).filter(lambda x, y: y > 0)",
    )
    workload = Workload(
        """
        made = ds.map(lambda x, y: (tf.sort(tf.sin(x)), y)).filter(lambda x, y: y > 7)
        return [x for x, _ in made.batch(256).as_numpy_iterator()]
        """,
        {
            "ds": "tf.data.Dataset.from_tensor_slices("
            "(rng.normal(size=(n, 256)), rng.integers(0, 10, size=(n,))))",
        },
        {"n": (64, 256, 1024)},
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    apis = ("tf.data.Dataset.filter",)
    follows = "tf.data.Dataset.map"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A filter right after a map, both of lambdas."""
        mapped = link_before(place, place.node, "tf.data.Dataset.map")
        if mapped is None:
            return
        function, predicate = (
            place.argument(mapped, "map_func", 0),
            place.argument(place.node, "predicate", 0),
        )
        if function is None or predicate is None or not is_pure(place, function):
            return
        given, used, made = parameters(place, function), parameters(place, predicate), body(function)
        test = body(predicate) if used is not None else None
        if given is None or used is None or made is None or test is None or made.type != "tuple":
            return
        results = [place.text(child) for child in made.named_children]
        if len(results) != len(given) or len(used) != len(given):
            return
        unchanged = {used[i] for i, name in enumerate(given) if results[i] == name}
        if names_in(place, test) & set(used) <= unchanged:
            yield Match(place.node, edits=lambda: swap(place, mapped, place.node))
