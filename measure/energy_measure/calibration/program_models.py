"""Whole models for a calibration: what a call of `fit`, an epoch, a step and the first trace cost beside the layers.

Runs in the project's interpreter next to `program.py`. The models are small and of every common kind; each is trained,
evaluated and asked for predictions over few and over many steps, and the difference is what a step costs.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Sequence

    Row = Dict[str, Any]

FEWEST = 3
"""Models that run however little time there is: fewer say nothing about others."""
REPEATED = 8
"""Runs of a single step; the first one traces."""

START = "(start)"
"""What the row of the first `fit` of all is called; its model is the first one."""

cpu_clock = time.process_time_ns


def built(keras: Any, about: Row) -> Any:
    """A model from its list of layers; `from` names the layers that one takes its inputs from, else the one before."""
    inputs = keras.Input(tuple(about["input"]), dtype=about["dtype"])
    made = [inputs]
    for layer in about["layers"]:
        config = dict(layer["config"])
        inner = config.get("layer")
        if isinstance(inner, dict):
            config["layer"] = getattr(keras.layers, inner["kind"])(**inner["config"])
        sources = [made[place] for place in layer.get("from") or [-1]]
        new = getattr(keras.layers, layer["kind"])(**config)
        if layer["kind"] == "MultiHeadAttention":
            made.append(new(sources[0], sources[-1]))
        else:
            made.append(new(sources if len(sources) > 1 else sources[0]))
    return keras.Model(inputs, made[-1])


def data(numpy: Any, about: Row, shape: Sequence[int], samples: int) -> Any:
    """Inputs and targets of so many samples."""
    random = numpy.random.default_rng(1)
    size = (samples, *about["input"])
    if about["dtype"].startswith("int"):
        inputs = random.integers(0, about["below"], size).astype(about["dtype"])
    else:
        inputs = random.random(size).astype("float32")
    if about["loss"] == "sparse_categorical_crossentropy":
        return inputs, random.integers(0, shape[-1], (samples, *shape[1:-1]))
    return inputs, random.random((samples, *shape[1:])).astype("float32")


def used(call: Callable[[], object]) -> int:
    """CPU nanoseconds of a call."""
    before = cpu_clock()
    call()
    return cpu_clock() - before


def busy(call: Callable[[], object]) -> float:
    """CPUs that a call keeps busy."""
    began, before = time.monotonic_ns(), cpu_clock()
    call()
    return (cpu_clock() - before) / max(time.monotonic_ns() - began, 1)


def one_model(keras: Any, numpy: Any, about: Row) -> Row:
    """What training, evaluating and predicting with a model cost."""
    model = built(keras, about)
    metrics = ["accuracy"] if "crossentropy" in about["loss"] else []
    model.compile(optimizer=about["optimizer"], loss=about["loss"], metrics=metrics)
    batch = about["batch"]
    few, some = batch * about["few"], batch * about["steps"]
    inputs, targets = data(numpy, about, model.output_shape, some)
    found: Row = {"id": about["id"], "layers": len(model.layers), "variables": len(model.trainable_variables)}

    def measured(name: str, call: Callable[[int, int], object]) -> None:
        first = used(lambda: call(few, 1))
        call(some, 1)
        short, long, twice = [], [], []
        for _ in range(about["repeats"]):
            short.append(used(lambda: call(few, 1)))
            long.append(used(lambda: call(some, 1)))
            if name == "fit":
                twice.append(used(lambda: call(few, 3)))
        found[name] = {"first": first, "few": short, "some": long, "epochs": twice}

    measured(
        "fit",
        lambda count, epochs: model.fit(
            inputs[:count], targets[:count], batch_size=batch, epochs=epochs, verbose=0
        ),
    )
    measured(
        "evaluate",
        lambda count, epochs: model.evaluate(inputs[:count], targets[:count], batch_size=batch, verbose=0),
    )
    measured("predict", lambda count, epochs: model.predict(inputs[:count], batch_size=batch, verbose=0))
    found["busy"] = busy(lambda: model.fit(inputs, targets, batch_size=batch, verbose=0))
    batch_of = inputs[:batch], targets[:batch]
    steps: Dict[str, Callable[[], object]] = {"train_on_batch": lambda: model.train_on_batch(*batch_of)}
    if keras.backend.backend() == "tensorflow":
        steps.update(eager_steps(keras, model, *batch_of))
    else:
        steps["call"] = lambda: model(inputs[:batch])
    found.update(alternating(steps))
    if about.get("compiled") and keras.backend.backend() == "tensorflow":
        found.update(alternating(compiled_steps(keras, model, *batch_of)))
    return found


def alternating(calls: Dict[str, Callable[[], object]]) -> Row:
    """Calls that do one step each, in turn as a program makes them: of each its first run, and later ones."""
    runs: Dict[str, List[int]] = {name: [] for name in calls}
    for _ in range(REPEATED):
        for name, call in calls.items():
            runs[name].append(used(call))
    return {name: {"first": all_runs[0], "runs": all_runs[1:]} for name, all_runs in runs.items()}


def eager_steps(keras: Any, model: Any, inputs: Any, targets: Any) -> Dict[str, Callable[[], object]]:
    """A loop without a graph: the model is called under a tape, gradients go back, an optimizer is given them."""
    import tensorflow as tf

    given, wanted = tf.constant(inputs), tf.constant(targets)
    optimizer = type(model.optimizer)()
    loss = keras.losses.get(model.loss)
    kept: Row = {}

    def call() -> None:
        kept["tape"] = tf.GradientTape()
        kept["tape"].__enter__()
        kept["outputs"] = model(given, training=True)

    def missed() -> None:
        kept["missed"] = tf.reduce_mean(loss(wanted, kept["outputs"]))
        kept["tape"].__exit__(None, None, None)

    def gradient() -> None:
        kept["gradients"] = kept["tape"].gradient(kept["missed"], model.trainable_variables)

    def update() -> None:
        optimizer.apply_gradients(zip(kept["gradients"], model.trainable_variables))  # noqa: B905 (Python 3.8)

    return {"call": call, "missed": missed, "gradient": gradient, "update": update}


def compiled_steps(keras: Any, model: Any, inputs: Any, targets: Any) -> Dict[str, Callable[[], object]]:
    """Steps as programs write them themselves: a function that trains, and one that only applies the model."""
    import tensorflow as tf

    given, wanted = tf.constant(inputs), tf.constant(targets)
    optimizer = type(model.optimizer)()
    loss = keras.losses.get(model.loss)

    def trained(batch: Any, goal: Any) -> Any:
        with tf.GradientTape() as tape:
            missed = tf.reduce_mean(loss(goal, model(batch, training=True)))
        gradients = tape.gradient(missed, model.trainable_variables)
        optimizer.apply(gradients, model.trainable_variables)
        return missed

    def applied(batch: Any) -> Any:
        return model(batch, training=False)

    training, applying = tf.function(trained), tf.function(applied)
    return {"compiled": lambda: training(given, wanted), "applied": lambda: applying(given)}


def started(keras: Any, numpy: Any, about: Row) -> int:
    """CPU nanoseconds of the first `fit` of a process: it loads what that of the same model later finds."""
    model = built(keras, about)
    model.compile(optimizer=about["optimizer"], loss=about["loss"])
    inputs, targets = data(numpy, about, model.output_shape, about["batch"] * about["few"])
    spent = used(lambda: model.fit(inputs, targets, batch_size=about["batch"], verbose=0))
    keras.backend.clear_session()
    return spent


def run(models: Sequence[Row], tell: Callable[[float], None], until: float) -> List[Row]:
    """Every model in turn, as many as there is time for; `until`: a time of the monotonic clock."""
    import keras
    import numpy

    results: List[Row] = [{"id": START, "first": started(keras, numpy, models[0])}] if models else []
    longest = 0.0
    for number, about in enumerate(models):
        began = time.monotonic()
        if number >= FEWEST and began + longest > until:
            break
        try:
            results.append(one_model(keras, numpy, about))
        except Exception as error:
            results.append({"id": about["id"], "failed": "%s: %s" % (type(error).__name__, str(error)[:300])})
        keras.backend.clear_session()
        longest = max(longest, time.monotonic() - began)
        tell((number + 1) / len(models))
    return results
