"""Caching too early."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Match, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.chains import link_before, swap
from energy_code.rule_engine.queries.lambdas import is_pure


class CacheOrder(Rule):
    """Cache what was computed, not what it was computed from.

    `cache().map(f)` computes the function again in every epoch; `map(f).cache()` computes it once.

    **Equal when** the function is pure, as the rule wants to see in a lambda. The cache then holds the
    results, which must fit into memory: the fix is for review.
    """

    message = "cache after the map: its function then runs once instead of once per epoch"
    category = "pipeline"
    examples = (
        (
            "ds = tf.data.Dataset.range(100)\nds = ds.cache().map(lambda x: tf.sqrt(tf.cast(x, tf.float32)))",
            "ds = tf.data.Dataset.range(100)\nds = ds.map(lambda x: tf.sqrt(tf.cast(x, tf.float32))).cache()",
        ),
    )
    leave_alone = (
        "ds = tf.data.Dataset.range(100)\nds = ds.cache().map(augment)",
        "ds = tf.data.Dataset.range(100)\nds = ds.cache().map(lambda x: x + tf.random.normal([]))",
        "ds = tf.data.Dataset.range(100)\nds = ds.cache().map(lambda x: tf.cast(x, tf.float32))",
    )
    workload = Workload(
        """
        made = ds.cache().map(lambda x: tf.sort(tf.sin(x)))
        return [value for _ in range(4) for value in made.batch(256).as_numpy_iterator()]
        """,
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.normal(size=(n, 256)))"},
        {"n": (16, 128, 512)},
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    apis = ("tf.data.Dataset.map",)
    follows = "tf.data.Dataset.cache"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A map seen to be pure, right after a cache; a mere cast is cheaper than the memory it takes."""
        cached = link_before(place, place.node, "tf.data.Dataset.cache")
        function = place.argument(place.node, "map_func", 0)
        if cached is None or function is None or not is_pure(place, function):
            return
        if place.api(function.child_by_field_name("body")) != "tensorflow.cast":
            yield Match(place.node, edits=lambda: swap(place, cached, place.node))
