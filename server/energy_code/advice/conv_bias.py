"""Biases before normalisation."""

from energy_code.rule_engine import Rule, Workload


class ConvBias(Rule):
    """Leave out the bias before `BatchNormalization`.

    The bias is redundant, but it is one addition per element beside the hundreds of a convolution: in a
    traced model, as `fit` and `predict` run it, no difference was measured (0.97 to 1.02 on an Ice Lake
    processor). Called directly, as below, a small network saves the dispatch of one operation.
    """

    message = "a bias is nothing beside its convolution"
    category = "keras"
    workload = Workload(
        "tf.convert_to_tensor(biased(x))",
        {
            "biased": "model(True)",
            "plain": "model(False)",
            "x": "tf.constant(rng.normal(size=(n, 32, 32, 3)), tf.float32)",
        },
        {"n": (1, 8, 64)},
        after="tf.convert_to_tensor(plain(x))",
        setup="""
        def model(bias):
            keras.utils.set_random_seed(1)
            return keras.Sequential(
                [
                    keras.Input((32, 32, 3)),
                    keras.layers.Conv2D(16, 3, use_bias=bias),
                    keras.layers.BatchNormalization(),
                ]
            )
        """,
        tolerance=1e-3,
        absolute=1e-5,
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
