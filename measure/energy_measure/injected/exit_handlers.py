"""Runs what the program has registered with `atexit` as a part of its run (Python 3.8 to 3.13).

What packages have registered stays for the end of the process: some of it takes down what replayed calls need.
"""

from __future__ import annotations

import atexit
import contextlib
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class OfPackage:
    """A package's handler, which steps back while those of the program run; for `atexit` it is what it stands for."""

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
    """Tells the program's handlers from those of packages by who registers them."""

    def __init__(self, own: Any) -> None:
        self.own = own
        self.later: list[Any] | None = None
        self.registered = False
        """Whether the program has handlers at all."""

    def watch(self) -> None:
        """From now on."""
        register = atexit.register

        def registering(func: Any, /, *args: Any, **kwargs: Any) -> Any:
            if callable(func) and not self.own.holds(sys._getframe(1).f_code.co_filename):
                register(OfPackage(self, func), *args, **kwargs)
                return func
            self.registered = True
            return register(func, *args, **kwargs)

        self.register = register
        atexit.register = registering

    def run(self) -> None:
        """Run the program's handlers as the interpreter would, the last one first."""
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
