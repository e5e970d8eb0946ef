"""XLA for convolutions."""

from energy_code.rule_engine import Rule, Workload


class JitCnn(Rule):
    """Compile convolutional networks with XLA.

    Whether XLA's convolutions or those that TensorFlow calls by itself (oneDNN) cost less depends on the
    processor and the size: on an Ice Lake virtual machine XLA took 1.4 times the energy. Measure before you
    switch it on; compiling itself costs seconds.
    """

    message = "whether XLA saves on convolutions depends on the processor"
    category = "keras"
    workload = Workload(
        "float(plain.train_on_batch(x, y))",
        {
            "plain": "model(False)",
            "jitted": "model(True)",
            "x": "rng.normal(size=(n, 16, 16, 3)).astype('float32')",
            "y": "rng.normal(size=(n, 10)).astype('float32')",
        },
        {"n": (1, 8, 32)},
        after="float(jitted.train_on_batch(x, y))",
        setup="""
        def model(jit):
            keras.utils.set_random_seed(1)
            made = keras.Sequential(
                [
                    keras.Input((16, 16, 3)),
                    keras.layers.Conv2D(16, 3, activation="relu"),
                    keras.layers.Conv2D(16, 3, activation="relu"),
                    keras.layers.GlobalAveragePooling2D(),
                    keras.layers.Dense(10),
                ]
            )
            made.compile(loss="mse", optimizer="sgd", jit_compile=jit)
            return made
        """,
        tolerance=1e-3,
        graph=False,
        vary=False,
    )
    safety = "none"
    saves = False
