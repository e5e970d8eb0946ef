"""Arrays handed to fit in their own order."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import EAGER, Edit, Match, Rule, RuleContext
from energy_code.rule_engine.edits.names import Spelling
from energy_code.rule_engine.evidence.common_workloads import training

_KEPT = frozenset(
    {"epochs", "verbose", "callbacks", "validation_data", "initial_epoch", "validation_freq", "shuffle"}
)
_DROPPED = frozenset({"x", "y", "batch_size"})


class FitDataset(Rule):
    """Cut arrays into batches once, with a `Dataset`.

    CallContext arrays, `fit` makes a table of indices for every epoch and gathers each batch by them, even
    where nothing is to be shuffled. `from_tensor_slices(…).batch(n)` cuts the arrays in their own order.

    **Equal when** `shuffle=False` is written, as the rule wants to see: batches, losses and weights are
    then the same. With shuffling the orders differ, and a shuffle buffer for large arrays costs more than
    the indices: the rule is silent. TensorFlow keeps a copy of the arrays: the fix is for review.
    """

    message = (
        "without shuffling, `from_tensor_slices(…).batch(…)` hands out the batches without gathering them"
    )
    category = "keras"
    examples = (
        (
            "def f(model: keras.Model, x, y):\n    model.fit(x, y, epochs=5, batch_size=64, shuffle=False)",
            "def f(model: keras.Model, x, y):\n"
            "    model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(64), epochs=5, shuffle=False)",
        ),
        (
            "def f(model: keras.Model, x, y):\n    model.fit(x, y, shuffle=False)",
            "def f(model: keras.Model, x, y):\n"
            "    model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(32), shuffle=False)",
        ),
    )
    leave_alone = (
        "def f(model: keras.Model, x, y):\n    model.fit(x, y, epochs=5)",
        "def f(model: keras.Model, ds):\n    model.fit(ds, shuffle=False)",
        "def f(model: keras.Model, x, y):\n    model.fit(x, y, shuffle=False, validation_split=0.2)",
        "def f(model: keras.Model, x, y, w):\n    model.fit(x, y, shuffle=False, sample_weight=w)",
        "def f(model: keras.Model, x, y):\n    model.fit([x, x], y, shuffle=False)",
        "def f(model: keras.Model, x, y, more):\n    model.fit(x, y, shuffle=False, **more)",
    )
    workload = training(
        "return one.fit(x, y, epochs=2, shuffle=False, verbose=0).history['loss']",
        (64, 256, 1024),
        after="""
        made = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
        return other.fit(made, epochs=2, shuffle=False, verbose=0).history['loss']
        """,
    )
    safety = "review"
    modes = EAGER
    apis = ("keras.Model.fit",)
    keyword = "shuffle"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """Two plain arrays, no shuffling, and nothing that asks for arrays."""
        node, arguments = place.node, place.node.child_by_field_name("arguments")
        x, y = place.argument(node, "x", 0), place.argument(node, "y", 1)
        shuffle, size = place.argument(node, "shuffle"), place.argument(node, "batch_size", 2)
        if arguments is None or x is None or y is None or shuffle is None:
            return
        if place.text(shuffle) != "False" or not (place.is_simple(x) and place.is_simple(y)):
            return
        keywords = {
            place.text(name): place.text(child)
            for child in arguments.named_children
            if child.type == "keyword_argument" and (name := child.child_by_field_name("name")) is not None
        }
        kinds = [child.type for child in arguments.named_children if child.type != "keyword_argument"]
        positional = [kind for kind in kinds if kind != "comment"]
        if not {"list_splat", "dictionary_splat"}.isdisjoint(positional) or len(positional) > 3:
            return
        if not keywords.keys() <= _KEPT | _DROPPED or place.in_test(node):
            return
        if "comment" in kinds:  # it would be lost
            yield Match(node)
            return

        def edits() -> list[Edit]:
            names = Spelling(place.analysis)
            rows = f"{names.name('tf.data.Dataset')}.from_tensor_slices(({place.text(x)}, {place.text(y)}))"
            batch = place.text(size) if size is not None else "32"
            kept = [text for name, text in keywords.items() if name in _KEPT]
            text = ", ".join([f"{rows}.batch({batch})", *kept])
            return [*names.import_edits(), Edit(arguments.start_byte, arguments.end_byte, f"({text})")]

        yield Match(node, edits=edits)
