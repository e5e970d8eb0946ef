"""Shuffling what was just computed."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Match, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.chains import link_before, swap
from energy_code.rule_engine.queries.lambdas import is_pure


class ShuffleFirst(Rule):
    """Shuffle before mapping.

    `map(f).shuffle(n)` fills the buffer with results, usually larger than what they were made from, and
    has to compute all of them before the first element comes out; `shuffle(n).map(f)` buffers the
    originals.

    **Equal when** the function is pure, as the rule wants to see in a lambda: with the same seed the same
    elements come in the same order.
    """

    message = "shuffle first: the buffer then holds the originals, and fills without computing"
    category = "pipeline"
    examples = (
        (
            "ds = tf.data.Dataset.range(100)\nds = ds.map(lambda x: tf.one_hot(x, 10)).shuffle(1000, seed=1)",
            "ds = tf.data.Dataset.range(100)\nds = ds.shuffle(1000, seed=1).map(lambda x: tf.one_hot(x, 10))",
        ),
    )
    leave_alone = (
        "ds = tf.data.Dataset.range(100)\nds = ds.map(augment).shuffle(1000)",
        "ds = tf.data.Dataset.range(100)\nds = ds.shuffle(1000).map(lambda x: x + 1)",
    )
    workload = Workload(
        """
        made = ds.map(lambda x: tf.tile(x, [16])).shuffle(256, seed=7)
        return list(made.batch(256).as_numpy_iterator())
        """,
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.normal(size=(n, 64)))"},
        {"n": (64, 256, 1024)},
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    apis = ("tf.data.Dataset.shuffle",)
    follows = "tf.data.Dataset.map"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A shuffle right after a map that can be seen to be pure."""
        mapped = link_before(place, place.node, "tf.data.Dataset.map")
        function = place.argument(mapped, "map_func", 0) if mapped is not None else None
        if mapped is not None and function is not None and is_pure(place, function):
            yield Match(place.node, edits=lambda: swap(place, mapped, place.node))
