"""fit for single batches."""

from energy_code.rule_engine import Rule
from energy_code.rule_engine.evidence.common_workloads import training


class FitBatches(Rule):
    """Replace `train_on_batch` in a loop by `fit`.

    For a few batches `fit` sets up more (dataset, callbacks, logs) than it saves.
    """

    message = "`fit` sets up more than a few calls of `train_on_batch` cost"
    category = "keras"
    workload = training(
        """
        for i in range(0, len(x), 32):
            loss = one.train_on_batch(x[i : i + 32], y[i : i + 32])
        return np.isfinite(float(loss))
        """,
        (32, 128, 512),
        after="""
        history = other.fit(x, y, batch_size=32, shuffle=False, verbose=0)
        return np.isfinite(history.history["loss"][-1])
        """,
    )
    safety = "none"
    saves = False
