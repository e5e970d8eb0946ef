"""What two programs printed, compared as a person at a terminal would: last states of progress bars, times apart."""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass

SHOWN_LINES = 12
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_QUANTITY = r"\d{1,20}(?:[.,:]\d{1,20}){0,5}"
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
    """Greatest difference of two floating-point numbers, as a part of the larger one, or of 1 where both are smaller;
    infinite where more than these differs."""
    most: str = ""
    """The two lines in which numbers differ most."""


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


def likeness(first: bytes, second: bytes, *, integers: bool = False) -> Likeness:
    """Compare two outputs; `integers`: whole numbers may differ a little too."""
    if first == second:
        return Likeness()
    one, other = (without_times(shown(output)) for output in (first, second))
    times = any(_TIME_SHOWN in line for line in one)
    if one == other:
        return Likeness(times)
    return Likeness(times, *_greatest_difference(one, other, integers))


def without_times(lines: list[str]) -> list[str]:
    """Lines with a sign in place of each time."""
    return [_TIME.sub(_TIME_SHOWN, line) for line in lines]


def _greatest_difference(first: list[str], second: list[str], integers: bool) -> tuple[float, str]:
    """By how much numbers differ at most, and the lines they stand in."""
    if len(first) != len(second):
        return math.inf, ""
    most, lines = 0.0, ""
    for one, other in zip(first, second, strict=True):
        if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
            return math.inf, f"`{one}` against `{other}`"
        for a, b in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True):
            found = _difference(a, b, integers)
            if found > most:
                most, lines = found, f"`{one}` against `{other}`"
    return most, lines


def _difference(one: str, other: str, integers: bool) -> float:
    """Of two numbers: relative, absolute for those below 1; whole numbers are the same or not, unless asked otherwise."""
    a, b = float(one), float(other)
    if a == b:
        return 0.0
    if not integers and not {".", "e", "E"} & {*one, *other}:
        return math.inf
    return abs(a - b) / max(abs(a), abs(b), 1.0)


def excerpt(first: bytes, second: bytes, first_name: str, second_name: str) -> str:
    """Where two outputs differ, times apart."""
    one, other = (without_times(shown(output)) for output in (first, second))
    lines = list(difflib.unified_diff(one, other, first_name, second_name, lineterm="", n=1))
    more = len(lines) - SHOWN_LINES
    return "\n".join([*lines[:SHOWN_LINES], *([f"… {more} more lines"] if more > 0 else [])])
