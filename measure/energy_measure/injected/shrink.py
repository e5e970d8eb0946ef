"""Gives a program a part of its data, in its own interpreter (Python 3.8 to 3.13).

Arrays are cut where they enter Keras (`fit`, `evaluate`, `predict`) or `tf.data` (`from_tensor_slices`): first rows stay.
What the program itself computes from the whole, such as a number of steps, is left alone.
"""

from __future__ import annotations

import atexit
import functools
import math
import sys
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

VARIABLE = "ENERGY_LSP_SHRINK"
METHODS = ("fit", "evaluate", "predict")
DATA = ("x", "y", "sample_weight", "validation_data")


class Shrink:
    """Cuts data to a part of it."""

    def __init__(self, part: float) -> None:
        self.part = part
        self.thread = threading.local()
        self.cuts = 0
        atexit.register(self.say_if_idle)

    def extensions(self) -> dict[str, Callable[[ModuleType], None]]:
        """What to do with modules, by their name."""
        return {
            "keras": self.keras,
            "tf_keras": self.keras,
            "tensorflow.python.data.ops.dataset_ops": self.datasets,
        }

    def keras(self, module: Any) -> None:
        """Cut what models are given."""
        for name in METHODS:
            method = getattr(module.Model, name, None)
            if method is not None:
                setattr(module.Model, name, self.cutting(method))

    def datasets(self, module: Any) -> None:
        """Cut what datasets are made of."""
        slices = module.DatasetV2.from_tensor_slices

        @functools.wraps(slices)
        def call(tensors: Any, *arguments: Any, **keywords: Any) -> Any:
            return slices(self.cut(tensors), *arguments, **keywords)

        module.DatasetV2.from_tensor_slices = staticmethod(call)

    def cutting(self, method: Any) -> Any:
        """A method of a model that gets less; those that it calls itself get what they are given."""

        @functools.wraps(method)
        def call(model: Any, *arguments: Any, **keywords: Any) -> Any:
            if getattr(self.thread, "inside", False):
                return method(model, *arguments, **keywords)
            given = [self.cut(one) for one in arguments[:2]] + list(arguments[2:])
            named = {name: self.cut(one) if name in DATA else one for name, one in keywords.items()}
            self.thread.inside = True
            try:
                return method(model, *given, **named)
            finally:
                self.thread.inside = False

        return call

    def cut(self, value: Any) -> Any:
        """The first rows of an array, of each array of a structure; anything else as it is."""
        if getattr(self.thread, "inside", False):
            return value
        if isinstance(value, dict):
            return type(value)((key, self.cut(one)) for key, one in value.items())
        if type(value) in (list, tuple) and any(hasattr(one, "shape") for one in value):
            return type(value)(self.cut(one) for one in value)
        if type(value) is tuple:
            return tuple(self.cut(one) for one in value)
        shape = getattr(value, "shape", None)
        try:
            rows = int(shape[0]) if shape is not None and len(shape) else 0
        except (TypeError, ValueError):
            return value
        if rows == 0:
            return value
        self.cuts += 1
        return value[: max(1, math.ceil(rows * self.part))]

    def say_if_idle(self) -> None:
        """Tell where nothing could be cut: a flat curve would be read as an answer."""
        if not self.cuts:
            print("energy-lsp: no data was shrunk: no array entered Keras or tf.data here", file=sys.stderr)


def from_environment(value: str) -> Shrink | None:
    """What the environment asks for; None where it asks for nothing, or for something else than a part."""
    try:
        part = float(value)
    except ValueError:
        return None
    return Shrink(part) if 0 < part <= 1 else None
