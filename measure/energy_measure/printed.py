"""What two programs printed, compared as a person at a terminal would: last states of progress bars, times apart."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass

SHOWN_LINES = 12
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_QUANTITY = r"\d+(?:[.,:]\d+)*"
_TIME = re.compile(
    rf"(?<![\w.])(?:{_QUANTITY}\s?(?:ns|us|µs|μs|ms|s|secs?|seconds?|min|minutes?|hours?)(?:/\w+)?(?!\w)"
    rf"|{_QUANTITY}\s?\w+/s(?:ec(?:ond)?)?(?!\w)"
    r"|\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?![\w:]))"
    rf"|(?<=time[ :=])\s*{_QUANTITY}|(?<=took[ :=])\s*{_QUANTITY}|(?<=elapsed[ :=])\s*{_QUANTITY}",
    re.IGNORECASE,
)
"""`454ms/step`, `0.87 s`, `1200 images/s`, `12:34:56`, and numbers behind such words as `took`."""
_TIME_SHOWN = "‹time›"


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two outputs are."""

    times: bool = False
    """Whether times stand in them, which are not compared."""
    difference: float = 0.0
    """Greatest relative difference of two numbers; infinite where more than numbers differs."""


def shown(output: bytes) -> list[str]:
    """The lines as they stand in a terminal at the end: what `\\r` and backspaces overwrote is gone."""
    text = _COLOURS.sub("", output.decode(errors="backslashreplace")).replace("\r\n", "\n")
    lines = [
        _overwritten(line) if "\r" in line or "\b" in line else line.rstrip() for line in text.split("\n")
    ]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _overwritten(line: str) -> str:
    cells: list[str] = []
    column = 0
    for character in line:
        if character == "\r":
            column = 0
        elif character == "\b":
            column = max(0, column - 1)
        else:
            cells[column : column + 1] = [character]
            column += 1
    return "".join(cells).rstrip()


def likeness(first: bytes, second: bytes) -> Likeness:
    """Compare two outputs."""
    if first == second:
        return Likeness()
    one, other = (_without_times(shown(output)) for output in (first, second))
    times = any(_TIME_SHOWN in line for line in one)
    return Likeness(times, 0.0 if one == other else _greatest_difference(one, other))


def _without_times(lines: list[str]) -> list[str]:
    return [_TIME.sub(_TIME_SHOWN, line) for line in lines]


def _greatest_difference(first: list[str], second: list[str]) -> float:
    one, other = "\n".join(first), "\n".join(second)
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return math.inf
    pairs = zip(map(float, _NUMBER.findall(one)), map(float, _NUMBER.findall(other)), strict=True)
    return max((abs(a - b) / max(abs(a), abs(b)) for a, b in pairs if a != b), default=0.0)


def excerpt(first: bytes, second: bytes, first_name: str, second_name: str) -> str:
    """Where two outputs differ, times apart."""
    one, other = (_without_times(shown(output)) for output in (first, second))
    lines = list(difflib.unified_diff(one, other, first_name, second_name, lineterm="", n=1))
    more = len(lines) - SHOWN_LINES
    return "\n".join([*lines[:SHOWN_LINES], *([f"… {more} more lines"] if more > 0 else [])])
