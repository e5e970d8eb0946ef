"""Runs a program with a seed from outside and writes down what its training gave (Python 3.8 to 3.13).

Started as `PYTHON seeded_run.py SEED FILE SCRIPT [ARGUMENTS]`, with the standard library alone. The seed is set when Keras
has been imported, so before the program makes its first variable; numbers that `fit` and `evaluate` give go to FILE.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
import os
import runpy
import sys
from typing import Any, Callable  # noqa: UP035 - Python 3.8


class AfterKeras(importlib.abc.MetaPathFinder):
    """Does something once Keras has been loaded, whoever loads it."""

    def __init__(self, then: Callable[[Any], None]) -> None:
        self.then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Only `keras` itself: others are none of our business."""
        if name not in ("keras", "tf_keras"):
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            self.then(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def numbers_of(value: Any) -> list[Any]:
    """What a call of `fit` or `evaluate` gave: the last of each series, or the values."""
    if hasattr(value, "history"):
        return [series[-1] for series in value.history.values() if series]
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def watched(method: Any, noted: str) -> Any:
    """A method that also writes down the numbers it gives."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        value = method(*arguments, **keywords)
        # What is no number is compared as it is printed.
        with contextlib.suppress(TypeError, ValueError, OSError), open(noted, "a", encoding="utf-8") as file:
            file.writelines(f"{float(number)!r}\n" for number in numbers_of(value))
        return value

    return call


def main() -> None:
    """Set the program up as Python itself would, and run it."""
    seed, noted, script = int(sys.argv[1]), sys.argv[2], sys.argv[3]

    def then(keras: Any) -> None:
        with contextlib.suppress(AttributeError):  # an old Keras: its program's own seeds have to do
            keras.utils.set_random_seed(seed)
        keras.Model.fit = watched(keras.Model.fit, noted)
        keras.Model.evaluate = watched(keras.Model.evaluate, noted)

    sys.argv = sys.argv[3:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    sys.meta_path.insert(0, AfterKeras(then))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
