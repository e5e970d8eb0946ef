"""Runs the points of a calibration inside the project's own interpreter: TensorFlow, NumPy and the standard library alone.

    python program.py POINTS.json RESULTS.jsonl

In a tight loop the same call costs a fifth of what it costs between others: each round runs all points once, in another
random order, and so finds caches and branch predictors as a program does. A known call, the reference, comes up again
and again; how much it varies says how repeatable the machine is. (Python 3.8 to 3.13.)
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Sequence, Tuple

    Row = Dict[str, Any]
    Run = Callable[[], object]

FOREVER = 1e18
PREPARING = 0.65
"""Part of the time that goes into making the points; the rest is for running them again and again."""
REFERENCE_EVERY = 40
LONG_NS = 30_000_000
"""Calls this long are run in every other round alone."""

cpu_clock = time.process_time_ns
clock = time.monotonic_ns


class Maker:
    """Makes what a point runs. Tensors of the same kind are shared."""

    def __init__(self) -> None:
        import keras
        import numpy
        import tensorflow

        self.tf: Any = tensorflow
        self.np: Any = numpy
        self.keras: Any = keras
        self.random = numpy.random.default_rng(3)
        self.pool: Dict[Any, Any] = {}

    def tensor(self, about: Sequence[Any], copy: int = 0) -> Any:
        """A tensor as a point describes it."""
        dtype, shape, below = about
        key = (dtype, tuple(shape), below, copy)
        if key not in self.pool:
            self.pool[key] = self.tf.constant(self.numbers(dtype, shape, below))
        return self.pool[key]

    def numbers(self, dtype: str, shape: Sequence[int], below: int) -> Any:
        """Numbers of a kind that the calls accept: positive ones have logarithms and roots."""
        if dtype == "bool":
            return self.random.random(shape) < 0.5
        if dtype == "definite":
            part = self.random.standard_normal(shape).astype("float32")
            return part @ part.T + shape[0] * self.np.eye(shape[0], dtype="float32")
        if dtype == "sorted":
            return self.np.sort(self.random.integers(0, below, shape).astype("int32"))
        if dtype.startswith(("int", "uint")):
            return self.random.integers(0, max(below, 1), shape).astype(dtype)
        return (self.random.random(shape) * 0.8 + 0.1).astype(dtype)

    def function(self, name: str) -> Callable[..., Any]:
        """What an API's name stands for; a `__call__` is that of an object made for it."""
        first, *rest = name.split(".")
        found: Any = self.tf if first == "tensorflow" else self.keras
        for part in rest:
            found = found() if part == "__call__" else getattr(found, part)
        return found  # type: ignore[no-any-return]

    def call(self, point: Row) -> Run:
        """A call of an API, eager or several times in one graph."""
        function = self.function(point["name"])
        arguments = point["arguments"]
        positional = point["name"].endswith((".range", ".linspace", ".slice"))

        def once(tensors: Sequence[Any]) -> Any:
            if point["nested"]:
                return function(list(tensors), **arguments) if arguments else function(list(tensors))
            if "equation" in arguments:
                return function(arguments["equation"], *tensors)
            if positional:
                return function(*tensors, *arguments.values())
            if point["name"].endswith("nn.moments"):
                return function(*tensors, arguments["axes"])
            if "softmax_cross_entropy" in point["name"] or "sigmoid_cross" in point["name"]:
                return function(labels=tensors[0], logits=tensors[1])
            return function(*tensors, **arguments)

        if point["mode"] == "eager":
            given = [self.tensor(about) for about in point["tensors"]]
            if point["name"].endswith(("convert_to_tensor", "tensorflow.Variable")):
                given = [self.numbers(*about) for about in point["tensors"]]
            return lambda: once(given)
        copies, width = point["copies"], max(1, len(point["tensors"]))
        given = [self.tensor(about, copy) for copy in range(copies) for about in point["tensors"]]

        # What a graph captures is an input of it, not a constant, and costs no work in Python at each call.
        def graph() -> Any:
            if not given:
                return [once(()) for _ in range(copies)]
            return [once(given[at : at + width]) for at in range(0, len(given), width)]

        return self.compiled(graph)

    def compiled(self, function: Callable[[], Any]) -> Run:
        """A function as one graph."""
        made: Run = self.tf.function(function, autograph=False)
        return made

    def empty(self, point: Row) -> Run:
        """A graph that does nothing with so many tensors."""
        given = [self.tensor(about, copy) for copy, about in enumerate(point["tensors"])]

        def graph() -> Any:
            return [self.tf.identity(tensor) for tensor in given]

        return self.compiled(graph)

    def layer(self, point: Row) -> Run:
        """A layer in a graph: forward, or forward and backward as in a training step."""
        given = [self.tensor(about, copy) for copy, about in enumerate(point["tensors"])]
        inputs = given if point["nested"] or len(given) > 1 else given[0]
        layers = [
            getattr(self.keras.layers, point["name"])(**point["arguments"]) for _ in range(point["copies"])
        ]
        spread = point["name"] == "MultiHeadAttention"

        def once(layer: Any, tensors: Any, training: bool) -> Any:
            return layer(*tensors, training=training) if spread else layer(tensors, training=training)

        for layer in layers:
            once(layer, inputs, False)
        train, first = point["run"] == "train", point["run"] == "first"
        floating = point["tensors"][0][0].startswith("float")

        def graph() -> Any:
            results, tensors = [], inputs
            for layer in layers:
                if not train and not (first and layer.trainable_variables):
                    results.append(once(layer, tensors, first))
                    continue
                with self.tf.GradientTape() as tape:
                    watched = self.tf.nest.flatten(tensors) if train and floating else []
                    for tensor in watched:
                        tape.watch(tensor)
                    result = once(layer, tensors, True)
                weights = [weight.value for weight in layer.trainable_variables]
                given_back = tape.gradient(result, [*weights, *watched], output_gradients=result)
                # An optimizer makes the gradient of an embedding as large as its table.
                results.append(
                    [self.tf.convert_to_tensor(gradient) for gradient in given_back if gradient is not None]
                )
            return results

        return self.compiled(graph)

    def optimizer(self, point: Row) -> Run:
        """One update of so many variables."""
        name = point["name"]
        optimizers = self.keras.optimizers
        made = optimizers.SGD(momentum=0.9) if name == "Momentum" else getattr(optimizers, name)()
        variables = [self.keras.Variable(self.tensor(about)) for about in point["tensors"]]
        gradients = [self.tensor(about, 1) for about in point["tensors"]]
        made.build(variables)

        def graph() -> None:
            made.apply(gradients, variables)

        return self.compiled(graph)

    def make(self, point: Row) -> Run:
        """What a point runs."""
        makers: Dict[str, Callable[[Row], Run]] = {
            "call": self.call,
            "layer": self.layer,
            "optimizer": self.optimizer,
            "empty": self.empty,
        }
        return makers[point["kind"]](point)


def synchronisation(tf: Any) -> Run:
    """What waits for a GPU; nothing where there is none."""
    if tf.config.list_physical_devices("GPU"):
        return tf.test.experimental.sync_devices  # type: ignore[no-any-return]
    return lambda: None


def timed(run: Run, wait: Run) -> Tuple[int, int, int]:
    """CPU nanoseconds of one run, and when it began and ended."""
    start, before = clock(), cpu_clock()
    kept = run()
    wait()
    after, end = cpu_clock(), clock()
    del kept
    return after - before, start, end


def prepare(
    maker: Maker, points: Sequence[Row], wait: Run, tell: Callable[[float], None], until: float = FOREVER
) -> Tuple[List[Tuple[Row, Run]], List[Row]]:
    """Make and run each point once, as many as there is time for; gives those that run, and what failed."""
    ready: List[Tuple[Row, Run]] = []
    failed: List[Row] = []
    for number, point in enumerate(points):
        if clock() * 1e-9 > until:
            break
        try:
            before = cpu_clock()
            run = maker.make(point)
            first = timed(run, wait)[0]
            point["made"] = cpu_clock() - before
            point["first"] = first
            ready.append((point, run))
        except Exception as error:  # an API that this TensorFlow does not have is left out
            failed.append({"id": point["id"], "failed": "%s: %s" % (type(error).__name__, str(error)[:200])})
        if number % 20 == 0:
            tell(number / len(points))
    return ready, failed


def rounds(
    ready: Sequence[Tuple[Row, Run]],
    reference: Run,
    wait: Run,
    seconds: float,
    most: int,
    tell: Callable[[float], None],
    until: float = FOREVER,
) -> Tuple[Dict[int, List[Tuple[int, int, int]]], List[int]]:
    """Run everything in random order, several times over; gives the runs of each point and those of the reference."""
    order = list(ready)
    shuffle = random.Random(5)
    found: Dict[int, List[Tuple[int, int, int]]] = {point["id"]: [] for point, _ in ready}
    references: List[int] = []
    began = clock()
    for number in range(most):
        shuffle.shuffle(order)
        gc.collect()
        for place, (point, run) in enumerate(order):
            if number and clock() * 1e-9 > until:
                break
            if place % REFERENCE_EVERY == 0:
                references.append(timed(reference, wait)[0])
            known = found[point["id"]]
            if number % 2 and known and known[0][0] > LONG_NS:
                continue
            if point["mode"] == "graph":
                # A compiled step runs again and again: its graph is warm, and the tensors are what is not.
                timed(run, wait)
                known.append(timed(run, wait))
            known.append(timed(run, wait))
        used = (clock() - began) * 1e-9
        tell((number + 1) / most)
        if number >= 3 and used * (number + 2) / (number + 1) > seconds:
            break
        if clock() * 1e-9 + used / (number + 1) > until:
            break
    return found, references


def main(points_path: str, results_path: str) -> None:
    """Run the points of a file and write what each cost."""
    with open(points_path, encoding="utf-8") as file:
        asked = json.load(file)
    # A part may have a time by which it is to be done: by the clock of all processes of the machine.
    until = asked.get("until") or FOREVER
    began = cpu_clock()
    maker = Maker()
    loaded = cpu_clock() - began
    began = cpu_clock()
    maker.tf.constant([1.0]) + 1.0
    started = cpu_clock() - began

    def tell(phase: float, width: float) -> Callable[[float], None]:
        def progressed(fraction: float) -> None:
            sys.stdout.write("progress %.4f\n" % (phase + width * fraction))
            sys.stdout.flush()

        return progressed

    wait = synchronisation(maker.tf)
    side = maker.tensor(("float32", (320, 320), 0))
    reference: Run = lambda: maker.tf.linalg.matmul(side, side)  # noqa: E731
    results: List[Row] = []
    if asked["points"]:
        now = clock() * 1e-9
        ready, results = prepare(
            maker, asked["points"], wait, tell(0.0, 0.5), now + PREPARING * (until - now)
        )
        found, references = rounds(
            ready, reference, wait, asked["seconds"], asked["rounds"], tell(0.5, 0.5), until
        )
        for point, _ in ready:
            runs = found[point["id"]]
            results.append(
                {
                    "id": point["id"],
                    "made": point["made"],
                    "first": point["first"],
                    "cpu": [run[0] for run in runs],
                    "spans": [run[1:] for run in runs],
                }
            )
        results.append({"id": -1, "cpu": references})
    if asked["models"]:
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        import program_models  # type: ignore[import-not-found]  # beside this file, without the package

        results += program_models.run(asked["models"], tell(0.0, 1.0), until)
    versions = {
        "python": "%d.%d.%d" % sys.version_info[:3],
        "tensorflow": maker.tf.__version__,
        "keras": maker.keras.__version__,
    }
    device = "gpu" if maker.tf.config.list_physical_devices("GPU") else "cpu"
    about = {
        "id": -2,
        "loaded": loaded,
        "started": started,
        "cpu": cpu_clock(),
        "versions": versions,
        "backend": maker.keras.backend.backend(),
        "device": device,
    }
    results.append(about)
    with open(results_path + ".part", "w", encoding="utf-8") as file:
        for row in results:
            file.write(json.dumps(row) + "\n")
    os.replace(results_path + ".part", results_path)


if __name__ == "__main__":
    main(*sys.argv[1:3])
