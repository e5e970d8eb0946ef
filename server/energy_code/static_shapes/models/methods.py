"""Methods of models: what they are given decides how many steps they take."""

from __future__ import annotations

from typing import Any

from energy_code.static_shapes.doors import Walk
from energy_code.static_shapes.models.applying import Application
from energy_code.static_shapes.models.building import Builder
from energy_code.static_shapes.models.data import Data
from energy_code.static_shapes.parameters import bind
from energy_code.static_shapes.values.kinds import (
    UNKNOWN,
    Array,
    Asked,
    Function,
    Made,
    Model,
)
from energy_code.static_shapes.values.structures import (
    mapped,
)
from energy_data.prediction.specs import Method as JobMethod
from energy_data.prediction.specs import ModelUse

MANY: dict[str, JobMethod] = {name: name for name in ("fit", "evaluate", "predict")}
SINGLE: dict[str, JobMethod] = {
    name: name for name in ("train_on_batch", "test_on_batch", "predict_on_batch")
}


class ModelMethods:
    """Answers what `fit`, `evaluate`, `predict` and the others are asked to do: steps, epochs, the layers of a step.

    What was traced before stands in the models themselves. Its state: whether a method of any model was called before.
    """

    def __init__(self, walk: Walk, builder: Builder, application: Application) -> None:
        self.walk, self.builder, self.application = walk, builder, application
        self.begun = False

    def method(
        self, model: Model, name: str, given: list[Any], named: dict[str, Any]
    ) -> tuple[Any, Asked | None]:
        """A method of a model: what it is given decides how many steps it takes."""
        bound = bind(f"keras.Model.{name}", given, named)
        if name == "add" and given:
            self.builder.add(model, given[0])
            return None, None
        if name == "pop":
            model.known = model.known and self.walk.context.uncertain <= model.born
            return (model.layers.pop() if model.layers else None), None
        if name == "compile":
            self._compile(model, bound)
            return None, None
        if name in ("build", "summary"):
            return None, None
        if name == "get_layer":
            return UNKNOWN, None
        if name not in MANY and name not in SINGLE:
            return UNKNOWN, None
        data = Data(self.walk, bound, single=name in SINGLE, training=name == "fit")
        asked, result = self._asked(model, name, bound, data)
        _trace(model, name, data.fixed)
        if name == "fit" and (bound.get("validation_data") is not None or bound.get("validation_split")):
            _trace(model, "evaluate", data.checked_in())
        return result, asked

    def _compile(self, model: Model, bound: dict[str, Any]) -> None:
        optimizer = bound.get("optimizer", "rmsprop")
        kind = optimizer.api.rpartition(".")[2] if isinstance(optimizer, Made) else optimizer
        model.optimizer = kind if isinstance(kind, str) else "Adam"
        model.eager = bound.get("run_eagerly") not in (None, False)
        model.traced.clear()

    def _asked(self, model: Model, name: str, bound: dict[str, Any], data: Data) -> tuple[Asked | None, Any]:
        """What a method is given, and what it gives."""
        if data.batch is None:
            return data.only_shape(), UNKNOWN
        self.walk.context.inside += 1
        try:
            own = self._own_step(model, name)
            if own is not None and model.instance is not None:
                spec, outputs = self.application.own_step(model, own, data.batch, data.element), UNKNOWN
            else:
                spec, outputs = self.application.gone_through(
                    model, data.batch, training=name in ("fit", "train_on_batch")
                )
        finally:
            self.walk.context.inside -= 1
        result: Any = UNKNOWN
        if name in ("predict", "predict_on_batch"):
            result = mapped(
                outputs,
                lambda one: (
                    Array(one.dtype, (data.samples, *one.shape[1:]), True)
                    if isinstance(one, Array)
                    else UNKNOWN
                ),
            )
        epochs = bound.get("epochs", 1)
        start = bound.get("initial_epoch", 0)
        validation = data.validation() if name == "fit" else 0
        known = (
            isinstance(epochs, int) and isinstance(start, int) and epochs > start and validation is not None
        )
        if spec is None or not known or data.steps is None or model.eager:
            return data.only_shape(), result
        job = ModelUse(
            (MANY | SINGLE)[name], data.steps, epochs - start if name == "fit" else 1, not _traced(model, name, data.fixed),
            validation or 0, data.last, start=not self.begun,
        )  # fmt: skip
        self.begun = True
        return Asked(model=spec, job=job, shape=data.shape), result

    def _own_step(self, model: Model, name: str) -> Function | None:
        """What the program itself says that a step does."""
        own = {"fit": "train_step", "evaluate": "test_step", "predict": "predict_step"}.get(name, "")
        found = model.instance.cls.find(own) if model.instance is not None else None
        return found if isinstance(found, Function) else None


def _traced(model: Model, method: str, size: int) -> bool:
    """Whether there is a graph for batches of a size; one for batches of any size fits all."""
    return method in model.traced or (size > 0 and f"{method} {size}" in model.traced)


def _trace(model: Model, method: str, size: int) -> None:
    """Keep that there is one; after the second size TensorFlow traces for any."""
    others = any(each.startswith(f"{method} ") and each != f"{method} {size}" for each in model.traced)
    model.traced.add(method if not size or others else f"{method} {size}")
