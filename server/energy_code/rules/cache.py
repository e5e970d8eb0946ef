"""Datasets computed again in every epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.lambdas import is_pure
from energy_code.rule_engine.queries.loops import mentions

if TYPE_CHECKING:
    from tree_sitter import Node

_STEADY = frozenset(
    {"batch", "enumerate", "from_tensor_slices", "from_tensors", "range", "skip", "take", "zip"}
)
"""Links of a chain that give the same elements in every epoch."""


class Cache(Rule):
    """Cache what every epoch computes anew.

    A dataset runs its functions again in every epoch. `cache()` behind a function that always gives the
    same runs it in the first epoch alone; augmentation and shuffling belong behind the cache.

    **Equal when** the function is pure and the elements come in the same order in every epoch, as the
    rule wants to see: a lambda of operations without chance, no shuffle before it. The results must fit
    into memory: the fix is for review. A mere cast is left alone, it costs less than the memory.
    """

    message = "every epoch computes this map anew: `cache()` behind it keeps what the first epoch computed"
    category = "pipeline"
    examples = (
        (
            "ds = tf.data.Dataset.range(100).map(lambda x: tf.sin(tf.cast(x, tf.float32)))\n"
            "for epoch in range(5):\n    for x in ds:\n        use(x)",
            "ds = tf.data.Dataset.range(100).map(lambda x: tf.sin(tf.cast(x, tf.float32))).cache()\n"
            "for epoch in range(5):\n    for x in ds:\n        use(x)",
        ),
        (
            "def f(model: keras.Model, x):\n"
            "    ds = tf.data.Dataset.from_tensor_slices(x).map(lambda x: tf.sort(x)).shuffle(99).batch(9)\n"
            "    model.fit(ds, epochs=10)",
            "def f(model: keras.Model, x):\n"
            "    ds = tf.data.Dataset.from_tensor_slices(x).map(lambda x: tf.sort(x)).cache().shuffle(99).batch(9)\n"
            "    model.fit(ds, epochs=10)",
        ),
    )
    leave_alone = (
        "ds = tf.data.Dataset.range(100).map(lambda x: tf.sin(tf.cast(x, tf.float32)))\n"
        "for x in ds:\n    use(x)",
        "ds = tf.data.Dataset.range(100).map(lambda x: x + tf.random.uniform([]))\n"
        "for epoch in range(5):\n    for x in ds:\n        use(x)",
        "ds = tf.data.Dataset.range(100).shuffle(100).map(lambda x: tf.sin(tf.cast(x, tf.float32)))\n"
        "for epoch in range(5):\n    for x in ds:\n        use(x)",
        "ds = tf.data.Dataset.range(100).map(lambda x: tf.sin(tf.cast(x, tf.float32))).cache()\n"
        "for epoch in range(5):\n    for x in ds:\n        use(x)",
        "ds = tf.data.Dataset.range(100).map(lambda x: tf.cast(x, tf.float32))\n"
        "for epoch in range(5):\n    for x in ds:\n        use(x)",
    )
    workload = Workload(
        """
        made = tf.data.Dataset.from_tensor_slices(x).map(lambda row: tf.sort(tf.sin(row))).batch(64)
        found = []
        for _ in range(4):
            for value in made:
                found.append(value)
        return found
        """,
        {"x": "rng.normal(size=(n, 256))"},
        {"n": (16, 128, 512)},
        graph=False,
        vary=False,
    )
    safety = "review"
    modes = EAGER
    apis = ("tf.data.Dataset.map",)

    def look(self, place: RuleContext) -> Iterator[Match]:
        """The last pure map of a chain that a name stands for, and that several epochs go through."""
        function = place.argument(place.node, "map_func", 0)
        body = function.child_by_field_name("body") if function is not None else None
        if function is None or not is_pure(place, function) or place.api(body) == "tensorflow.cast":
            return
        whole = _last_link(place, place.node)
        holder = whole.parent if whole is not None else None
        name = (
            holder.child_by_field_name("left") if holder is not None and holder.type == "assignment" else None
        )
        if name is None or name.type != "identifier":
            return
        if len(place.assignments(name)) != 1 or not _steady(place, place.node):
            return
        uses = [use for use in mentions(place, place.text(name)) if _in_epochs(place, use)]
        if uses:
            end = place.node.end_byte
            yield Match(place.node, edits=lambda: [Edit(end, end, ".cache()")], related=uses[:1])


def _last_link(place: RuleContext, node: Node) -> Node | None:
    """The whole chain of methods that a link is of; None where a cache behind the link would not be the last step."""
    while node.parent is not None and node.parent.type == "attribute" and node.parent.parent is not None:
        method = node.parent.child_by_field_name("attribute")
        if method is not None and place.text(method) in ("map", "cache", "repeat"):
            return None
        node = node.parent.parent
    return node


def _steady(place: RuleContext, node: Node) -> bool:
    """Whether every link before gives the same elements in the same order in each epoch."""
    link = place.receiver(node)
    while link is not None and link.type == "call":
        api = place.api(link) or ""
        method = api.rpartition(".")[2]
        function = place.argument(link, "map_func", 0) if method == "map" else None
        if not api.startswith("tensorflow.data.Dataset."):
            return False
        if method not in _STEADY and not (function is not None and is_pure(place, function)):
            return False
        if method in ("from_tensor_slices", "from_tensors", "range", "zip"):
            return True
        link = place.receiver(link)
    return False


def _in_epochs(place: RuleContext, use: Node) -> bool:
    """`fit(ds, epochs=10)`, or a loop over the dataset within another loop."""
    holder = use.parent
    if holder is None:
        return False
    if holder.type == "for_statement" and holder.child_by_field_name("right") == use:
        return place.loop(holder) is not None
    call = holder.parent if holder.type == "argument_list" else None
    if call is None or not (place.api(call) or "").endswith(".fit"):
        return False
    epochs = place.argument(call, "epochs")
    number = place.constant(epochs) if epochs is not None else 1
    return not isinstance(number, int) or number > 1
