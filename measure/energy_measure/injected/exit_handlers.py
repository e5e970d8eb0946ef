"""Runs what the program and its packages have registered with `atexit` as a part of the run (Python 3.8 to 3.13).

What the standard library and the frameworks have registered stays for the end of the process: it takes down what replayed
calls need.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


FRAMEWORKS = frozenset(
    {
        *("tensorflow", "keras", "tf_keras", "tensorflow_text", "tensorflow_io", "jax", "jaxlib", "torch"),
        *("numpy", "scipy", "h5py", "absl", "grpc", "horovod", "ray", "pynvml", "triton"),
    }
)
"""Packages that calls need until the last of them was replayed."""
STANDARD_LIBRARY = os.path.join(os.path.dirname(os.path.realpath(os.__file__)), "")


def is_needed(filename: str, module: str) -> bool:
    """Whether handlers registered by this code take down what calls need."""
    path = os.path.realpath(filename)
    standard = path.startswith(STANDARD_LIBRARY) and not {"site-packages", "dist-packages"} & set(
        path.split(os.sep)
    )
    return standard or filename.startswith("<") or module.partition(".")[0] in FRAMEWORKS


class OfPackage:
    """The handler of such a package, which steps back while others run; for `atexit` it is what it stands for."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, handlers: ExitHandlers, function: Any) -> None:
        self.handlers = handlers
        self.function = function

    def __eq__(self, other: object) -> bool:
        return bool(other is self or self.function == other)  # what `atexit.unregister` asks

    def __repr__(self) -> str:
        return repr(self.function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it, or keep it for later."""
        if self.handlers.later is None:
            return self.function(*args, **kwargs)
        self.handlers.later.append((self, args, kwargs))
        return None


class ExitHandlers:
    """Tells the program's handlers from those of the frameworks by who registers them."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self.later: list[Any] | None = None
        self.registered = False
        """Whether there are handlers to run at all."""

    def watch(self) -> None:
        """From now on."""
        register = atexit.register

        def registering(func: Any, /, *args: Any, **kwargs: Any) -> Any:
            frame = sys._getframe(1)
            file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
            if callable(func) and not self.own.holds(file) and is_needed(file, module):
                register(OfPackage(self, func), *args, **kwargs)
                return func
            self.registered = True
            return register(func, *args, **kwargs)

        self.register = register
        atexit.register = registering

    def run(self) -> None:
        """Run the handlers of the program and its packages as the interpreter would, the last one first."""
        if not self.registered:
            return
        self.later = []
        try:
            # Before Python 3.10 the last exception, which is shown by then, comes out of it.
            with contextlib.suppress(BaseException):
                atexit._run_exitfuncs()
        finally:
            later, self.later = self.later, None
            for handler, args, kwargs in reversed(later):
                self.register(handler, *args, **kwargs)
