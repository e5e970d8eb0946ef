"""Reading a dataset to count it."""

from energy_code.ruling import EAGER, Change, Place, Rule, Workload


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
        "n = len(list(tf.data.Dataset.range(9).filter(lambda x: x > 3)))",
    )
    workload = Workload(
        "len(list(ds))",
        {"ds": "tf.data.Dataset.range(n).batch(8)"},
        {"n": (100, 1_000, 10_000)},
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    modes = EAGER
    changes = (Change("len(list($ds))", "int($ds.cardinality())"),)

    def where(self, place: Place) -> bool:
        """A dataset whose chain, where it is in sight, keeps its length known."""
        text = place.text(place.value(place["ds"]))
        unknown = (".filter(", ".flat_map(", "from_generator(", ".interleave(", ".unbatch(", ".repeat(")
        is_dataset = (place.type(place["ds"]) or "").startswith("tensorflow.data.")
        return is_dataset and not any(link in text for link in unknown)
