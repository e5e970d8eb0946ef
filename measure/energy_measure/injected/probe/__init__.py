"""Records API calls from inside the measured program, with the standard library alone (Python 3.8 to 3.13).

`install` gives the program a builtin, `__energy_probe__(site, function, *args, **kwargs)`, which calls the
function and notes when it began and ended. Times are nanoseconds of the system-wide monotonic clock, which the
sampler in its own process reads as well.

Between two API calls the processor's caches have lost the probe, so each thing it touches costs far more than in
a loop: it notes site, begin, end and whether a graph is being built, and nothing else. Which call is nested in
which follows from the times on each thread, and `events.py` finds it. Only about calls that take `MARKED_NS` or more,
so that it does not show, it also looks at the CPU time of the process and of the thread (`marking`).

What is no call in the source (imports, graphs that are built, callbacks, steps of an iteration: `phase_hooks.py`) is
recorded in the same rows, under numbers from `sites` on that are given out as they come up and are written to
`places-PID.jsonl` at once. A call that is the first of its site or may be long is also noted when it begins.

All threads write their rows into memory that is a file (`ring.py`), so that a process that is killed keeps what it did;
from there they go to `events-PID.bin`. After `EXACT` rows, neighbouring short calls of one site are merged before they are
written, so a program with millions of calls needs neither memory nor disk without bound.

The probe leaves no trace in what the program can see: exceptions pass through without a frame of the probe in
their traceback, and a warning raised with a stack level points at the program's own line.
"""

from __future__ import annotations

import builtins
import os
import sys

from .calls import make_probe, wrapped
from .recorder import Recorder, clock
from .rows import HIDDEN_FILE
from .tracebacks import hide_probe_frames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, NoReturn

__all__ = ["HIDDEN_FILE", "NAME", "Recorder", "clock", "install", "make_probe", "wrapped"]

NAME = "__energy_probe__"


def install(
    folder: str, sites: int, pure: Iterable[int] = (), gpu: bool = False, marking: bool = False
) -> Recorder:
    """Start recording `sites` call sites into `folder`, and make the probe a builtin of the program."""
    recorder = Recorder(folder, sites, pure, gpu, marking)
    setattr(builtins, NAME, make_probe(recorder))
    if hasattr(os, "register_at_fork"):

        def after_fork() -> None:
            recorder.after_fork()
            setattr(builtins, NAME, make_probe(recorder))

        os.register_at_fork(after_in_child=after_fork)
    if sys.version_info < (3, 11):
        hide_probe_frames()
    leave = os._exit

    def leave_with_everything_written(status: int) -> NoReturn:
        try:
            recorder.finish()
        finally:
            leave(status)

    # Programs that leave this way, and forked children of multiprocessing, which all do, run no exit
    # handlers.
    os._exit = leave_with_everything_written
    return recorder
