"""fit for single batches."""

from energy_code.ruling import Rule, Workload


class FitBatches(Rule):
    """Replace `train_on_batch` in a loop by `fit`.

    For a few batches `fit` sets up more (dataset, callbacks, logs) than it saves.
    """

    message = "`fit` sets up more than a few calls of `train_on_batch` cost"
    category = "keras"
    workload = Workload(
        """
        for i in range(0, len(x), 32):
            loss = single.train_on_batch(x[i : i + 32], y[i : i + 32])
        return np.isfinite(float(loss))
        """,
        {
            "single": "model()",
            "whole": "model()",
            "x": "rng.normal(size=(n, 16)).astype('float32')",
            "y": "rng.normal(size=(n, 1)).astype('float32')",
        },
        {"n": (32, 128, 512)},
        after="""
        history = whole.fit(x, y, batch_size=32, shuffle=False, verbose=0)
        return np.isfinite(history.history["loss"][-1])
        """,
        setup="""
        def model():
            keras.utils.set_random_seed(1)
            made = keras.Sequential([keras.Input((16,)), keras.layers.Dense(32), keras.layers.Dense(1)])
            made.compile(loss="mse", optimizer="sgd")
            return made
        """,
        tolerance=1e-2,
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
