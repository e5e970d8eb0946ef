"""Does something once a module has been imported, in the project's own interpreter (Python 3.8 to 3.13)."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.util
from typing import Any, Callable, Dict  # noqa: UP035 - Python 3.8


class AfterImport(importlib.abc.MetaPathFinder):
    """Does something once a module has been loaded, whoever loads it."""

    def __init__(self, then: Dict[str, Callable[[Any], None]]) -> None:  # noqa: UP006 - Python 3.8
        self.then = then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Only the modules that were named, and each once: others are none of our business."""
        then = self.then.pop(name, None)
        if then is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            with contextlib.suppress(AttributeError):  # a version that lacks what is looked for
                then(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
