"""The functions that take the place of calls, and note when they began and ended (Python 3.8 to 3.13)."""

from __future__ import annotations

import functools
import sys

from . import recorder as recording
from .libraries import gpu_synchronisation, is_tracer, waiting
from .recorder import LONG, PER_MARK_NS
from .ring import DUE, write
from .rows import HIDDEN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Optional, Tuple

    from .inputs import Arguments
    from .recorder import Recorder


def make_probe(recorder: Recorder) -> Callable[..., Any]:
    """The function that takes the place of each instrumented call."""
    now, cpu_now, thread_now = recording.clock, recording.cpu_clock, recording.thread_clock
    marking = recorder.marking
    local = recorder.local
    enter_thread = recorder.enter_thread
    modules = sys.modules
    strip_here = sys.version_info >= (3, 11)
    synchronise: Optional[Callable[[], object]] = None
    look_for_gpu = recorder.gpu
    wait_for: Optional[Callable[[Any], object]] = None

    compiling: Optional[Callable[[], bool]] = recorder.compiling
    eager: Callable[[], bool]
    eager_tensor: Optional[type] = None

    def ask_later() -> bool:
        nonlocal eager, eager_tensor
        tensorflow = modules.get("tensorflow")
        found = getattr(tensorflow, "executing_eagerly", None)
        if found is None:
            return True
        eager_tensor = getattr(getattr(tensorflow, "__internal__", None), "EagerTensor", None)
        eager = found
        return eager()

    eager = ask_later

    def look_through(asked: Callable[[], bool]) -> None:
        nonlocal compiling
        compiling = recorder.compiling = asked

    recorder.look_through = look_through

    def probe(site: int, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        nonlocal synchronise, look_for_gpu, wait_for
        if compiling is not None and compiling():
            return function(*args, **kwargs)
        try:
            memory, place, thread, countdown, marked, mark = local.state
        except AttributeError:
            memory, place, thread, countdown, marked, mark = enter_thread()
        left = countdown[site] = countdown[site] - 1
        announced = not left or marked[site] >= LONG
        if not left:
            local.thread.look(site, function, args, kwargs, not eager())
            wait_for = wait_for or waiting()
        if look_for_gpu and eager():
            synchronise, look_for_gpu = gpu_synchronisation()
        if synchronise is not None and eager():
            synchronise()
        result = None
        if announced:
            local.thread.begin(site, not eager())
        cpu_start, thread_start = (cpu_now(), thread_now()) if marked[site] else (0, 0)
        start = now()
        try:
            result = function(*args, **kwargs)
            if synchronise is not None and eager():
                synchronise()
            if wait_for is not None:
                wait_for(result)
            return result
        except BaseException as error:
            if strip_here and error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            end = now()
            if marking:
                if cpu_start:
                    cpu_end, thread_end = cpu_now(), thread_now()
                    mark(start, cpu_start, thread_start)
                    mark(end, cpu_end, thread_end)
                if end - start >= recorder.marked_ns:
                    marked[site] = min((end - start) // PER_MARK_NS, LONG)
                elif marked[site]:
                    marked[site] -= 1
            # To ask TensorFlow takes long, and who gets a tensor with values need not ask.
            traced = type(result) is not eager_tensor and (not eager() or is_tracer(result))
            free = place()
            if free in DUE:
                recorder.flush()
            write(memory, free, site, start, end, traced, thread)

    probe.__code__ = probe.__code__.replace(co_filename=HIDDEN_FILE)
    probe.autograph_info__ = None  # type: ignore[attr-defined]  # AutoGraph then calls it as it is
    return probe


def wrapped(
    recorder: Recorder,
    plain: Callable[..., Any],
    choose: Callable[[Arguments, FrameType], Tuple[int, int]],
    waits: bool = False,
    unless: Optional[Callable[[], bool]] = None,
) -> Callable[..., Any]:
    """A function in place of another one of the libraries, whose calls are recorded under a number of `Recorder.place`.

    `choose(arguments, caller)` gives the number, below zero for calls that are not recorded, and the number for a
    call that ends an iteration, which is none of its steps. `waits`: a call returns before its work is done. `unless`: says
    that a compiler looks through the function, which must find nothing but the other one.
    """
    now, cpu_now, thread_now = recording.clock, recording.cpu_clock, recording.thread_clock
    strip_here = sys.version_info >= (3, 11)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if unless is not None and unless():
            return plain(*args, **kwargs)
        site, ending = choose(args, sys._getframe(1))
        marked = cpu_start = thread_start = 0
        if site >= 0:
            thread = recorder.thread()
            marked = thread.marked_later.get(site, 1)
            if marked >= LONG or site not in thread.marked_later:
                thread.begin(site, False)
            if marked and recorder.marking:
                cpu_start, thread_start = cpu_now(), thread_now()
        start = now()
        try:
            result = plain(*args, **kwargs)
            if waits and site >= 0:
                wait_for = waiting()
                if wait_for is not None:
                    wait_for(result)
            return result
        except BaseException as error:
            if ending >= 0 and isinstance(error, StopIteration):
                site = ending
            if strip_here and error.__traceback__ is not None:
                error.__traceback__ = error.__traceback__.tb_next
            raise
        finally:
            if site >= 0:
                end = now()
                if cpu_start:
                    cpu_end, thread_end = cpu_now(), thread_now()
                    thread.mark(start, cpu_start, thread_start)
                    thread.mark(end, cpu_end, thread_end)
                if end - start >= recorder.marked_ns:
                    marked = 1 + min((end - start) // PER_MARK_NS, LONG)
                thread.marked_later[site] = max(marked - 1, 0)
                recorder.write(site, start, end, 0, thread.index)

    functools.update_wrapper(wrapper, plain)
    wrapper.__code__ = wrapper.__code__.replace(co_filename=HIDDEN_FILE)
    wrapper.autograph_info__ = None  # type: ignore[attr-defined]
    return wrapper
