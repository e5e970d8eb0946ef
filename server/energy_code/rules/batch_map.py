"""Mapping before batching."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EVERYWHERE, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.chains import link_behind, link_in_statement_before, moved_behind, swap
from energy_code.rule_engine.queries.lambdas import is_elementwise

if TYPE_CHECKING:
    from tree_sitter import Node

_BLIND = frozenset({"shuffle", "take", "skip", "repeat"})
"""Methods that hand elements on as they are: mapping before or after them gives the same."""


class BatchMap(Rule):
    """Map whole batches, not single elements.

    `map(f).batch(n)` dispatches the function once per element, `batch(n).map(f)` once per batch.

    **Equal when** the function does the same to each number and draws nothing at random, which the rule
    wants to see in elementwise operations: a lambda, or a function of the module. `shuffle`, `take`, `skip` and
    `repeat` may stand between.
    """

    message = "batch first: the function then runs once per batch instead of once per element"
    category = "pipeline"
    examples = (
        (
            "ds = tf.data.Dataset.range(9)\nds = ds.map(lambda x: tf.cast(x, tf.float32) / 255.0).batch(32)",
            "ds = tf.data.Dataset.range(9)\nds = ds.batch(32).map(lambda x: tf.cast(x, tf.float32) / 255.0)",
        ),
        (
            "def scale(image, label):\n"
            "    image = tf.cast(image, tf.float32) / 255.0\n"
            "    return image, tf.one_hot(label, 10)\n\n\n"
            "ds = tf.data.Dataset.from_tensor_slices((images, labels)).map(scale).shuffle(100).batch(32)",
            "def scale(image, label):\n"
            "    image = tf.cast(image, tf.float32) / 255.0\n"
            "    return image, tf.one_hot(label, 10)\n\n\n"
            "ds = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(100).batch(32).map(scale)",
        ),
        (
            "ds = tf.data.Dataset.range(9)\n"
            "ds = ds.map(lambda x: x * 2)\n"
            "ds = ds.shuffle(9)\n"
            "ds = ds.batch(4).prefetch(1)",
            "ds = tf.data.Dataset.range(9)\n"
            "ds = ds.shuffle(9)\n"
            "ds = ds.batch(4).map(lambda x: x * 2).prefetch(1)",
        ),
    )
    leave_alone = (
        "ds = tf.data.Dataset.range(100)\nds = ds.map(lambda x: x * 2)\nseen = list(ds)\nds = ds.batch(32)",
        "ds = tf.data.Dataset.range(100)\nds = ds.map(parse).batch(32)",
        "ds = tf.data.Dataset.range(100)\nds = ds.map(lambda x: tf.reduce_sum(x)).batch(32)",
        "ds = tf.data.Dataset.range(100)\nds = ds.map(lambda x: x + tf.random.uniform([])).batch(32)",
        "ds = tf.data.Dataset.zip((a, b)).map(lambda x, y: (x * y, y)).batch(32)",
        "ds = tf.data.Dataset.range(9).map(lambda x: x / 2).cache().batch(32)",
        "ds = tf.data.Dataset.zip((a, b)).map(lambda x, y: (x, tf.one_hot(x, y))).batch(32)",
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

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A batch after an elementwise map, with nothing between that looks into the elements."""
        mapped = link_behind(place, place.node, "tf.data.Dataset.map", _BLIND)
        if mapped is not None and _is_elementwise(place, mapped):
            yield Match(place.node, edits=lambda: swap(place, mapped, place.node))
        if mapped is not None:
            return
        earlier = link_in_statement_before(place, place.node, "tf.data.Dataset.map", _BLIND)
        if earlier is not None and _is_elementwise(place, earlier):
            yield Match(place.node, edits=lambda: moved_behind(place, earlier, place.node), related=[earlier])


def _is_elementwise(place: RuleContext, mapped: Node) -> bool:
    function = place.argument(mapped, "map_func", 0)
    return function is not None and is_elementwise(place, function)
