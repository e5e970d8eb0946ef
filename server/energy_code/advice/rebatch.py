"""Batches taken apart and put together."""

from energy_code.rule_engine import Rule, Workload


class Rebatch(Rule):
    """Change the batch size with `rebatch`.

    `unbatch().batch(n)` makes every element a tensor of its own and copies them together again, `rebatch(n)` cuts
    and joins the batches: shorter to write, and hardly cheaper at any size.
    """

    message = "`rebatch` is shorter than `unbatch().batch()`, hardly cheaper"
    category = "pipeline"
    workload = Workload(
        "list(ds.unbatch().batch(64).as_numpy_iterator())",
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.normal(size=(n, 64))).batch(16)"},
        {"n": (128, 1024, 8192)},
        after="list(ds.rebatch(64).as_numpy_iterator())",
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
