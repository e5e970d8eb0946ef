"""Sums as Python numbers."""

from energy_code.ruling import Rule, Workload


class NumpyAccumulation(Rule):
    """Add up losses as Python numbers with `.numpy()`.

    Each `.numpy()` waits for the device and makes a NumPy number, which costs more than a small
    addition in TensorFlow.
    """

    message = "`.numpy()` in a loop costs more than adding tensors"
    category = "dispatch"
    workload = Workload(
        """
        total = tf.constant(0.0)
        for part in parts:
            total = total + tf.reduce_sum(part)
        return float(total)
        """,
        {"parts": "[tf.constant(rng.normal(size=(n,)), tf.float32) for _ in range(16)]"},
        {"n": (10, 1_000, 100_000)},
        after="""
        total = 0.0
        for part in parts:
            total += float(tf.reduce_sum(part).numpy())
        return total
        """,
        tolerance=1e-3,
        absolute=1e-2,
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
