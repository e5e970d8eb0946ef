"""Parallel maps."""

from energy_code.rule_engine import Rule, Workload


class ParallelCalls(Rule):
    """Map with `num_parallel_calls`.

    TensorFlow makes maps parallel by itself. Threads shorten the wait; the work, and with it most of
    the energy, stays.
    """

    message = "TensorFlow makes maps parallel by itself"
    category = "pipeline"
    workload = Workload(
        "list(ds.map(tf.sin).batch(256))",
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.normal(size=(n, 64)))"},
        {"n": (64, 512, 2048)},
        after="list(ds.map(tf.sin, num_parallel_calls=tf.data.AUTOTUNE).batch(256))",
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
