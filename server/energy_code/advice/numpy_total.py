"""Running totals."""

from energy_code.rule_engine import Array, Rule, Workload


class NumpyTotal(Rule):
    """Keep a running total as a tensor instead of calling `.numpy()`.

    On a processor a result is there when the operation returns, so `.numpy()` waits for nothing, while
    adding two tensors is one more operation to dispatch. On a GPU `.numpy()` waits for the device:
    measure there.
    """

    message = "adding tensors costs a dispatch, `.numpy()` on a processor hardly anything"
    category = "dispatch"
    workload = Workload(
        """
        total = 0.0
        for _ in range(20):
            total += float(tf.reduce_sum(x).numpy())
        return total
        """,
        {"x": Array("n", values="unit")},
        {"n": (100, 10_000, 100_000)},
        after="""
        total = tf.constant(0.0)
        for _ in range(20):
            total += tf.reduce_sum(x)
        return float(total)
        """,
        tolerance=1e-4,
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
