"""Prefetching."""

from energy_code.rule_engine import Rule, Workload


class Prefetch(Rule):
    """End every pipeline with `prefetch`.

    TensorFlow adds a prefetch by itself since 2.7 or so (`tf.data.Options().autotune`). Waiting less
    also saves time rather than energy: the same work is done.
    """

    message = "TensorFlow prefetches by itself"
    category = "pipeline"
    workload = Workload(
        "list(ds.map(tf.sin).batch(32))",
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.normal(size=(n, 64)))"},
        {"n": (64, 512, 2048)},
        after="list(ds.map(tf.sin).batch(32).prefetch(tf.data.AUTOTUNE))",
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
