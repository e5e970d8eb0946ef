"""Mapping before batching."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.ruling import EVERYWHERE, Match, Place, Rule, Workload
from energy_code.ruling.chains import link_before, swap
from energy_code.ruling.lambdas import is_elementwise


class BatchMap(Rule):
    """Map whole batches, not single elements.

    `map(f).batch(n)` dispatches the function once per element, `batch(n).map(f)` once per batch.

    **Equal when** the function does the same to each number and draws nothing at random, which the rule
    wants to see in a lambda of elementwise operations.
    """

    message = "batch first: the function then runs once per batch instead of once per element"
    category = "pipeline"
    examples = (
        (
            "ds = tf.data.Dataset.range(9)\nds = ds.map(lambda x: tf.cast(x, tf.float32) / 255.0).batch(32)",
            "ds = tf.data.Dataset.range(9)\nds = ds.batch(32).map(lambda x: tf.cast(x, tf.float32) / 255.0)",
        ),
    )
    leave_alone = (
        "ds = tf.data.Dataset.range(100)\nds = ds.map(parse).batch(32)",
        "ds = tf.data.Dataset.range(100)\nds = ds.map(lambda x: tf.reduce_sum(x)).batch(32)",
        "ds = tf.data.Dataset.range(100)\nds = ds.map(lambda x: x + tf.random.uniform([])).batch(32)",
    )
    workload = Workload(
        """
        made = ds.map(lambda x: tf.cast(x, tf.float32) / 255.0).batch(32)
        return list(made.as_numpy_iterator())
        """,
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.integers(0, 255, size=(n, 64)))"},
        {"n": (64, 512, 2048)},
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    modes = EVERYWHERE
    apis = ("tf.data.Dataset.batch",)
    follows = "tf.data.Dataset.map"

    def look(self, place: Place) -> Iterator[Match]:
        """A batch right after an elementwise map."""
        mapped = link_before(place, place.node, "tf.data.Dataset.map")
        function = place.argument(mapped, "map_func", 0) if mapped is not None else None
        if mapped is not None and function is not None and is_elementwise(place, function):
            yield Match(place.node, edits=lambda: swap(place, mapped, place.node))
