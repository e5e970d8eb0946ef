"""Batches taken apart and put together."""

from energy_code.ruling import Change, Rule, Workload


class Rebatch(Rule):
    """Change the batch size with `rebatch`.

    `unbatch().batch(n)` makes every element a tensor of its own and copies them together again;
    `rebatch(n)` cuts and joins the batches.

    **Equal** in values and order; `rebatch` needs TensorFlow 2.11 or newer, so the fix is for review.
    """

    message = "`rebatch` cuts and joins batches without taking every element out"
    category = "pipeline"
    examples = (
        (
            "def f(ds: tf.data.Dataset):\n    return ds.unbatch().batch(64)",
            "def f(ds: tf.data.Dataset):\n    return ds.rebatch(64)",
        ),
        (
            "def f(ds: tf.data.Dataset):\n    return ds.unbatch().batch(64, drop_remainder=True)",
            "def f(ds: tf.data.Dataset):\n    return ds.rebatch(64, drop_remainder=True)",
        ),
    )
    leave_alone = ("def f(ds: tf.data.Dataset):\n    return ds.unbatch().shuffle(100).batch(64)",)
    workload = Workload(
        "made = ds.unbatch().batch(64)\nreturn list(made.as_numpy_iterator())",
        {"ds": "tf.data.Dataset.from_tensor_slices(rng.normal(size=(n, 64))).batch(16)"},
        {"n": (128, 1024, 8192)},
        graph=False,
        annotations={"ds": "tf.data.Dataset"},
        vary=False,
    )
    safety = "review"
    changes = (
        Change(
            "tf.data.Dataset.batch(tf.data.Dataset.unbatch($ds), $n, drop_remainder=$drop?)",
            "$ds.rebatch($n, drop_remainder=$drop?)",
        ),
    )
