"""Whole models: what `fit`, `evaluate` and `predict` cost, as the sum over a table of layers, broken down by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from energy_data.model import Coefficient
from energy_data.prediction.cost_model import FIRST, FIRST_MODEL, WIDER, CostModel, cost, outside, total
from energy_data.prediction.layers import LayerCost, UnknownLayerError, layer_cost
from energy_data.prediction.specs import LayerShare, ModelSpec, ModelUse, Prediction

OPTIMIZER_NAMES = {
    "sgd": "SGD", "adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "adagrad": "Adagrad", "nadam": "Nadam",
}  # fmt: skip
TRAINING = ("fit", "train_on_batch", "compiled")
STEP_OF = {
    "train_on_batch": "fit", "test_on_batch": "evaluate", "predict_on_batch": "predict", "compiled": "fit",
    "applied": "predict",
}  # fmt: skip
"""Methods that take one step as others take many; those stand in where a calibration has none of their own."""
LOOPED = ("LSTM", "GRU", "SimpleRNN")
"""Kinds of parts that go through a sequence step by step, which an eager call does in Python."""
RANDOM = ("Dropout", "RandomFlip", "RandomRotation", "RandomContrast")
"""Kinds of parts that work in training only."""


MANY = ("fit", "evaluate", "predict")
EAGER = ("call", "gradient", "update")
"""Methods that dispatch each operation by itself: nothing is traced, the first run loads what later ones find."""


@dataclass(frozen=True, slots=True)
class ModelStep:
    """One step of a model."""

    joules: float
    layers: tuple[float, ...]
    """Of each layer, in order."""
    outside: bool


def predict_job(costs: CostModel, model: ModelSpec, job: ModelUse) -> Prediction | None:
    """The prediction of one call of `fit` and the like; None where a layer or something else of it was not calibrated."""
    try:
        table = [layer_cost(layer) for layer in model.layers]
        return ModelJob(costs, model, table, job).prediction()
    except (UnknownLayerError, KeyError, OverflowError):
        return None


class ModelJob:
    """A method of a model under way."""

    def __init__(self, costs: CostModel, model: ModelSpec, table: Sequence[LayerCost], job: ModelUse) -> None:
        self.costs = costs
        self.model = model
        self.table = table
        self.job = job
        self.method: str = job.method
        if costs.find("step", job.method) is None:
            self.method = STEP_OF.get(job.method, job.method)

    def prediction(self) -> Prediction | None:
        """The whole call; None where the calibration has no interval for it."""
        costs, job, method = self.costs, self.job, self.method
        main = self.step(method)
        # What a step costs beside its layers is the same however full its batch is.
        missing = (1.0 - job.last) * sum(main.layers)
        parts = [((main.joules * job.steps - missing) * job.epochs, method, main.outside)]
        if job.method in MANY:
            parts.append((self.setting_up(method, job.epochs), f"once:{method}", False))
        if job.validation_steps:
            check = self.step("evaluate")
            parts.append((check.joules * job.validation_steps * job.epochs, "evaluate", check.outside))
            parts.append((self.setting_up("evaluate", 1) * job.epochs, "once:evaluate", False))
        first = self.tracing() if job.first else 0.0
        parts.append((first, f"trace:{method}", False))
        ends: list[tuple[float, float, float]] = []
        for joules, kind, beyond in parts:
            found = self._ends(kind, joules, WIDER if beyond else 1.0)
            if found is None:
                return None
            ends.append((joules, *found))
        joules, low, high = total(ends)
        in_layers = sum(main.layers) or 1.0
        shares = zip(self.model.layers, main.layers, strict=True)
        return Prediction(
            joules=joules,
            low=low,
            high=high,
            seconds=joules / (costs.need("step", method).watts or costs.watts),
            cpu_seconds=joules / costs.watts,
            first_joules=first,
            steps=job.steps,
            epochs=job.epochs,
            step_joules=main.joules,
            outside=main.outside,
            layers=tuple(LayerShare(layer, each, each / in_layers) for layer, each in shares),
        )

    def _ends(self, kind: str, joules: float, wider: float) -> tuple[float, float] | None:
        if not joules:
            return 0.0, 0.0
        found = self.costs.interval(kind, joules, joules, wider=wider)
        # Calibrations that are older say nothing about setting a call up by itself.
        return found or self.costs.interval(kind.removeprefix("once:"), joules, joules, wider=wider)

    def setting_up(self, method: str, epochs: int) -> float:
        """What a call does once, and at each epoch."""
        return cost(self.costs.need("once", method), (float(epochs),)) * self.costs.scale

    def step(self, method: str) -> ModelStep:
        """One step: every layer, and what is beside them."""
        costs = self.costs
        layers, update, beyond = self.parts(method)
        scale = costs.need("scale", method).values[0] * costs.scale
        known, beside = costs.need("step", method), self.beside(method)
        rest, beyond = cost(known, beside) * costs.scale, beyond or outside(known, beside)
        found = tuple(joules * scale for joules in layers)
        return ModelStep(sum(found) + update * scale + rest, found, beyond)

    def beside(self, method: str) -> tuple[float, ...]:
        """What a step does beside its layers: eager calls dispatch each of them, Keras feeds and measures a batch."""
        if method in ("compiled", "applied"):
            return ()
        if method == "update":
            return (self._variables(),)
        if method not in EAGER:
            return self.moved()
        parts = [part for each in self.table for part in each.parts]
        turns = sum(part.times * part.features[0] for part in parts if part.kind in LOOPED)
        return float(sum(part.times for part in parts)), turns

    def moved(self) -> tuple[float, float]:
        """Bytes of a batch that go in, and of what comes out, which the loss and the metrics go over."""
        if not self.table:
            return 0.0, 0.0
        return float(self.model.layers[0].inputs[0].bytes), float(self.table[-1].output.bytes)

    def parts(self, method: str) -> tuple[list[float], float, bool]:
        """Joules of each layer and of the update as their own points say, and whether any is beyond those."""
        if method == "update":
            return [0.0] * len(self.table), self._update(), False
        training = method in TRAINING
        passes = list(training_passes(self.table)) if training else ["forward"] * len(self.table)
        beyond, found = False, []
        for each, run in zip(self.table, passes, strict=True):
            joules = 0.0
            for part in each.parts:
                # Before the first weights nothing goes back, but what is random is drawn.
                drawn = training and run == "forward" and part.kind in RANDOM
                known = self._known(part.kind, "first" if drawn else run)
                joules += part.times * cost(known, part.features)
                beyond = beyond or outside(known, part.features)
            found.append(joules)
        if method == "gradient":
            there_and_back, _, beyond = self.parts("compiled")
            # What costs less in a training step than before it leaves nothing to go back through.
            return (
                [max(0.0, both - there) for both, there in zip(there_and_back, found, strict=True)],
                0.0,
                beyond,
            )
        return found, self._update() if training else 0.0, beyond

    def _known(self, kind: str, run: str) -> Coefficient:
        name, other = f"layer:{kind}", {"first": "train", "train": "first"}.get(run, run)
        return self.costs.find(name, run) or self.costs.need(name, other)

    def _update(self) -> float:
        variables = self._variables()
        numbers = 4.0 * sum(each.parameters for each in self.table)
        return cost(self._optimizer(), (variables, numbers)) if variables else 0.0

    def _optimizer(self) -> Coefficient:
        name = OPTIMIZER_NAMES.get(self.model.optimizer.lower(), self.model.optimizer)
        return self.costs.find(f"optimizer:{name}", "graph") or self.costs.need("optimizer:Adam", "graph")

    def _variables(self) -> float:
        return float(sum(each.variables for each in self.table))

    def tracing(self) -> float:
        """What the first call spends on building its graph; `fit` with validation builds two."""
        if self.method in EAGER:
            return self.costs.need("trace", self.method).values[0] * self.costs.scale
        # `train_on_batch` builds what `fit` does; a calibration has run that before it.
        main = "fit" if self.method == "train_on_batch" else self.method
        wanted = [main, *(["evaluate"] if self.method == "fit" and self.job.validation_steps else [])]
        joules = 0.0
        for method in wanted:
            joules += cost(self.costs.need("trace", method), self.traced(method))
        begun = self.costs.find(FIRST, FIRST_MODEL) if self.job.start else None
        return (joules + (begun.values[0] if begun is not None else 0.0)) * self.costs.scale

    def traced(self, method: str) -> tuple[float, float]:
        """What there is to trace: the layers' graphs, and the updates of an optimizer, which differ by what it keeps."""
        training = method in TRAINING
        # Calibrations that are older know of an optimizer only how many variables it has to update.
        update = self._variables() * (self._optimizer().trace or 1.0) if training else 0.0
        return self.graphs("train" if training else "forward"), update

    def graphs(self, run: str) -> float:
        """What tracing the layers takes, each by itself."""
        return sum(
            part.times * self._known(part.kind, run).trace for each in self.table for part in each.parts
        )


def training_passes(table: Sequence[LayerCost]) -> Iterator[str]:
    """Which pass each layer makes: gradients go back to the first layer that has weights to train, and no further."""
    reached = False
    for each in table:
        if reached:
            yield "train"
        elif each.variables:
            reached = True
            yield "first"
        else:
            yield "forward"
