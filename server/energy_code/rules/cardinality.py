"""Reading a dataset to count it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_code.rule_engine import EAGER, Change, Rule, RuleContext, Workload
from energy_code.rule_engine.context import descend

if TYPE_CHECKING:
    from tree_sitter import Node


class Cardinality(Rule):
    """Ask a dataset for its length instead of reading it.

    `len(list(ds))` runs the whole pipeline and keeps every element in memory; `cardinality` knows the
    number of most pipelines without running them.

    **Equal when** the number is known: after `filter`, `flat_map`, `from_generator` or `repeat()` it is
    −2 or −1.
    """

    message = "`cardinality()` knows the length without running the pipeline"
    category = "pipeline"
    examples = (
        (
            "ds = tf.data.Dataset.range(100).batch(8)\nn = len(list(ds))",
            "ds = tf.data.Dataset.range(100).batch(8)\nn = int(ds.cardinality())",
        ),
    )
    leave_alone = (
        "n = len(list(rows))",
        "ds = tf.data.TFRecordDataset(files)\nds = ds.batch(8)\nn = len(list(ds))",
        "def count(ds: tf.data.Dataset):\n    return len(list(ds))",
        "n = len(list(tf.data.Dataset.range(9).filter(lambda x: x > 3)))",
    )
    workload = Workload(
        """
        ds = tf.data.Dataset.range(n).batch(8)
        return len(list(ds))
        """,
        {"n": "n"},
        {"n": (100, 1_000, 10_000)},
        graph=False,
        vary=False,
    )
    safety = "review"
    modes = EAGER
    changes = (Change("len(list($ds))", "int($ds.cardinality())"),)

    def where(self, place: RuleContext) -> bool:
        """A dataset whose chain is in sight, from a source to here, and keeps its length known."""
        if not any(place.shared.has(link.encode()) for link in _KNOWN):
            return False
        if not (place.type(place["ds"]) or "").startswith("tensorflow.data."):
            return False
        chain = self._chain(place, place["ds"])
        return any(link in chain for link in _KNOWN)

    def _chain(self, place: RuleContext, node: Node) -> str:
        """The text of an expression and of all that its names, and theirs, are assigned in this scope.

        Empty where that would be long, or has a link that gives another length: nobody could tell then.
        """
        texts: list[str] = []
        seen: set[str] = set()
        waiting = [node]
        while waiting and len(texts) < _LONGEST:
            value = waiting.pop()
            texts.append(place.text(value))
            if any(link in texts[-1] for link in _UNKNOWN):
                return ""
            for name in (*descend(value, "identifier"), *([value] if value.type == "identifier" else [])):
                if place.text(name) not in seen:
                    seen.add(place.text(name))
                    rights = (found.child_by_field_name("right") for found in place.assignments(name))
                    waiting += [right for right in rights if right is not None]
        return " ".join(texts) if not waiting else ""


_LONGEST = 12
_KNOWN = ("from_tensor_slices(", "Dataset.range(", "from_tensors(")
_UNKNOWN = (
    ".filter(",
    ".flat_map(",
    ".interleave(",
    ".unbatch(",
    ".repeat(",
    ".apply(",
    ".take_while(",
    "from_generator(",
    "RecordDataset(",
    "TextLineDataset(",
    ".list_files(",
)
