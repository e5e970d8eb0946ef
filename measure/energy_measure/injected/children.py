"""Probes in the children of `multiprocessing`, in the project's own interpreter (Python 3.8 to 3.13).

A child that is started afresh gets nothing of its parent but a pickle that says how to prepare itself. One more entry
in there runs `launcher.py` in the child while the pickle is read: before the program's main module is loaded and before
anything of the program runs.

The workers of a pool are killed when the pool is left, so they write what they recorded after each task.
"""

from __future__ import annotations

import builtins
import functools
import runpy
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ENTRY = "energy-lsp"


class Children:
    """What a child has to be told; reading its pickle tells it."""

    def __init__(self, launch: str, name: str, specification: str, recorder: Any) -> None:
        self.arguments = (launch, {"SPECIFICATION": specification}, name)
        self.recorder = recorder

    def __reduce__(self) -> tuple[Any, ...]:
        return runpy.run_path, self.arguments

    def extend_spawning(self, spawn: types.ModuleType) -> None:
        """Have the module that starts children put this into what it tells them."""
        plain = spawn.get_preparation_data

        def get_preparation_data(name: str) -> dict[str, Any]:
            return {**plain(name), ENTRY: self}

        spawn.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]

    def extend_pools(self, pool: types.ModuleType) -> None:
        """Have the workers of pools write their records before they hand over a result."""
        plain = pool.worker

        @functools.wraps(plain)  # children find it by its name
        def worker(tasks: Any, results: Any, *args: Any, **kwargs: Any) -> None:
            if sys.modules["multiprocessing"].parent_process() is not None:
                results = ResultQueue(results, self.recorder)
            plain(tasks, results, *args, **kwargs)

        pool.worker = worker  # type: ignore[attr-defined]


class ResultQueue:
    """A queue of results that has the records written first."""

    def __init__(self, queue: Any, recorder: Any) -> None:
        self.queue = queue
        self.recorder = recorder
        self.tasks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.queue, name)

    def put(self, result: Any) -> None:
        """Hand over; what belongs to sites is written after the first task, the second, the fourth …"""
        self.tasks += 1
        if self.tasks & (self.tasks - 1) == 0:
            self.recorder.write_sites()
        self.queue.put(result)


class MainModule:
    """Stands for `runpy` where a child loads the program's main module, so that it is the one with probes."""

    def __init__(self, code_of: Callable[[str], types.CodeType | None]) -> None:
        self.code_of = code_of

    def __getattr__(self, name: str) -> Any:
        return getattr(runpy, name)

    def run_path(self, path: str, init_globals: Any = None, run_name: str = "__mp_main__") -> dict[str, Any]:
        """As `runpy.run_path`, with the instrumented code where there is one."""
        code = self.code_of(path)
        if code is None:
            return runpy.run_path(path, init_globals, run_name)
        module = sys.modules[run_name] = types.ModuleType(run_name)
        module.__dict__.update(
            __builtins__=builtins,
            __file__=path,
            __cached__=None,
            __loader__=None,
            __package__="",
            __spec__=None,
        )
        exec(code, module.__dict__)
        return module.__dict__
