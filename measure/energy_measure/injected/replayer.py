"""Repeats calls after the program's end, in its own process (Python 3.8 to 3.13), with the standard library alone."""

from __future__ import annotations

import itertools
import time
from time import monotonic_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

GOLDEN_RATIO = 0.6180339887498949


def loop(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], times: int, wait: Any
) -> tuple[int, int]:
    """Call `times` times and wait for the GPU if there is one; gives the nanoseconds at begin and end."""
    if wait is not None:
        wait()
    begin = monotonic_ns()
    for _ in itertools.repeat(None, times):
        function(*args, **kwargs)
    if wait is not None:
        wait()
    return begin, monotonic_ns()


def empty_loop(times: int) -> float:
    """Nanoseconds that one turn of the loop takes without a call."""
    begin = monotonic_ns()
    for _ in itertools.repeat(None, times):
        pass
    return (monotonic_ns() - begin) / times


def times_for(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float, wait: Any
) -> int:
    """How often the call fits into so many seconds, found by doubling; also warms it up."""
    times = 1
    while True:
        begin, end = loop(function, args, kwargs, times, wait)
        took = (end - begin) / 1e9
        if took >= seconds / 8 or times >= 1 << 24:
            return max(1, int(times * seconds / max(took, 1e-9)))
        times *= 2


def replay_site(recorder: Any, site: int, seconds: float, times: int = 0) -> dict[str, Any]:
    """Repeat the first call of a site for about so many seconds, or as many times as an earlier window took.

    Gives `{"site", "begin", "end", "count", "empty_ns"}`: the window on the monotonic clock, the calls in it,
    and the nanoseconds that one turn of the empty loop takes; or `{"site", "problem"}`.
    """
    if site not in recorder.kept:
        return {"site": site, "problem": "nothing was kept to repeat this call with"}
    function, args, kwargs = recorder.kept[site]
    ready = recorder.result_waiting()
    if ready is not None:
        function = waited_for(function, ready)
    try:
        wait = recorder.synchronisation()
        times = times or times_for(function, args, kwargs, seconds, wait)
        empty_ns = empty_loop(min(times, 100_000))
        begin, end = loop(function, args, kwargs, times, wait)
    except Exception as error:
        return {"site": site, "problem": f"{type(error).__name__}: {error}"}
    return {"site": site, "begin": begin, "end": end, "count": times, "empty_ns": empty_ns}


def waited_for(function: Callable[..., Any], ready: Callable[[Any], object]) -> Callable[..., Any]:
    """A function that returns when its result is there."""

    def call(*args: Any, **kwargs: Any) -> None:
        ready(function(*args, **kwargs))

    return call


def replay(recorder: Any, plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Replay windows as planned: `{"sites": {site: seconds}, "windows", "rest", "settle", "stagger": seconds}`.

    The sites take turns, forth and back so that none always follows the same one, each window after a rest;
    the rest before each turn forth and the one at the end are long enough for the meter to see the baseline. Gives
    the windows in the order they were run, and the rests as `{"site": -1, "begin", "end"}`.
    """
    found: list[dict[str, Any]] = []
    seconds_of = {int(site): float(seconds) for site, seconds in plan["sites"].items()}
    times: dict[int, int] = {}
    for site, seconds in seconds_of.items():
        # The length of each loop is found before the rests, so that a rest is a rest.
        first = replay_site(recorder, site, seconds / 4)
        if "problem" in first:
            found.append(first)
        else:
            each = max(first["end"] - first["begin"], 1) / first["count"]
            times[site] = max(1, int(seconds * 1e9 / each))
    order = list(times)
    for turn in range(int(plan["windows"])):
        seconds = plan["rest"] if turn % 2 else plan["settle"]
        for site in order:
            found.append(rest(seconds + plan["stagger"] * stagger(len(found))))
            found.append(replay_site(recorder, site, seconds_of[site], times[site]))
            seconds = plan["rest"]
        order.reverse()
    found.append(rest(plan["settle"]))
    return found


def stagger(number: int) -> float:
    """Parts of a whole, from 0 to 1, that numbers one after the other spread evenly over it."""
    return number * GOLDEN_RATIO % 1.0


def rest(seconds: float) -> dict[str, Any]:
    """Do nothing for so long; gives when, as a window of no site."""
    begin = monotonic_ns()
    time.sleep(seconds)
    return {"site": -1, "begin": begin, "end": monotonic_ns()}
