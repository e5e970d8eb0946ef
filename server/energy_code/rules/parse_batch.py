"""Parsing records one by one."""

from __future__ import annotations

from collections.abc import Iterator

from energy_code.rule_engine import Edit, Match, Rule, RuleContext, Workload
from energy_code.rule_engine.queries.chains import link_before
from energy_code.rule_engine.queries.lambdas import body


class ParseBatch(Rule):
    """Parse whole batches of records.

    `tf.io.parse_single_example` is dispatched once per record, `tf.io.parse_example` once per batch, with
    the parsing spread over threads.

    **Equal when** every feature has a fixed length; of features with a variable length the batch gives
    one sparse tensor instead of several.
    """

    message = "batch first: `tf.io.parse_example` then parses a whole batch at once"
    category = "pipeline"
    examples = (
        (
            "ds = tf.data.TFRecordDataset(files)\n"
            "ds = ds.map(lambda r: tf.io.parse_single_example(r, spec)).batch(32)",
            "ds = tf.data.TFRecordDataset(files)\n"
            "ds = ds.batch(32).map(lambda r: tf.io.parse_example(r, spec))",
        ),
    )
    leave_alone = (
        "ds = tf.data.TFRecordDataset(files)\nds = ds.map(parse).batch(32)",
        "ds = tf.data.TFRecordDataset(files)\nds = ds.batch(32).map(lambda r: tf.io.parse_example(r, spec))",
    )
    workload = Workload(
        """
        made = ds.map(lambda r: tf.io.parse_single_example(r, SPEC)).batch(32)
        return list(made.as_numpy_iterator())
        """,
        {"ds": "records(rng.normal(size=(n, 8)))"},
        {"n": (64, 512, 2048)},
        setup="""
SPEC = {"x": tf.io.FixedLenFeature([8], tf.float32)}


def records(rows):
    texts = []
    for row in rows:
        feature = tf.train.Feature(float_list=tf.train.FloatList(value=row))
        texts.append(tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString())
    return tf.data.Dataset.from_tensor_slices(texts)
""",
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    apis = ("tf.data.Dataset.batch",)
    follows = "tf.data.Dataset.map"

    def look(self, place: RuleContext) -> Iterator[Match]:
        """A batch right after a map that parses its element and does nothing else."""
        mapped = link_before(place, place.node, "tf.data.Dataset.map")
        function = place.argument(mapped, "map_func", 0) if mapped is not None else None
        call = body(function) if function is not None and function.type == "lambda" else None
        if mapped is None or call is None or place.api(call) != "tensorflow.io.parse_single_example":
            return
        name = call.child_by_field_name("function")
        start = place.receiver(mapped)
        if name is None or start is None or not place.text(name).endswith("parse_single_example"):
            return

        def edits() -> list[Edit]:
            source = place.analysis.source
            batch = source[mapped.end_byte : place.node.end_byte].decode()
            head = source[start.end_byte : name.start_byte].decode()
            parse = place.text(name).removesuffix("parse_single_example") + "parse_example"
            tail = source[name.end_byte : mapped.end_byte].decode()
            return [Edit(start.end_byte, place.node.end_byte, batch + head + parse + tail)]

        yield Match(place.node, edits=edits)
