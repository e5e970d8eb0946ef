"""What a sweep varies: arguments, environment variables or the size of the data, over a range."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from energy_measure.problems import MeasureProblem

MOST_POINTS = 500
_NAME = re.compile(r"^(?P<name>-{0,2}[A-Za-z_][\w.-]*|\$[A-Za-z_]\w*)=(?P<values>.+)$", re.DOTALL)
Kind = Literal["argument", "variable", "data"]
SHRINK_VARIABLE = "ENERGY_LSP_SHRINK"
PARTS = "1/8,1/4,1/2,1"
"""Of the data, where `--shrink data` names none."""


@dataclass(frozen=True, slots=True)
class Varied:
    """One thing that is varied."""

    name: str
    """As the program's option (`--units`), as an environment variable (`UNITS`), or `data`."""
    kind: Kind
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One combination."""

    values: Mapping[str, str]
    arguments: tuple[str, ...]
    env: Mapping[str, str]

    @property
    def label(self) -> str:
        """As a person would write it."""
        return " ".join(f"{name}={value}" for name, value in self.values.items())

    @property
    def size(self) -> float | None:
        """The product of all values that are numbers: what a sweep over one name is drawn against."""
        product = 1.0
        for value in self.values.values():
            try:
                product *= float(value)
            except ValueError:
                return None
        return product


def read_vary(text: str) -> Varied:
    """What a text of `--vary` says.

    `name=1,2,4` is an option `--name` of the program; `NAME=1,2,4`, in capitals, or `$name=…` an environment variable;
    `name=1..16` doubles from one to the other.
    """
    match = _NAME.match(text)
    if match is None:
        raise MeasureProblem(f"{text!r} varies nothing: write NAME=1,2,4,8, or $NAME=1,2,4,8 for a variable.")
    name = match["name"]
    values = _values(match["values"])
    if len(values) < 2:
        raise MeasureProblem(f"{text!r} has a single value: give at least two, as in NAME=1,2,4,8.")
    if name.startswith("$") or name.isupper():
        return Varied(name.removeprefix("$"), "variable", values)
    return Varied(name if name.startswith("-") else f"--{name}", "argument", values)


def read_shrink(text: str) -> Varied:
    """What a text of `--shrink` says: `data`, or `data=1/8,1/4,1/2,1`; parts may be written as 0.25 and 25% too."""
    name, _, values = text.partition("=")
    if name != "data":
        raise MeasureProblem(
            f"{text!r} shrinks nothing: write --shrink data, or --shrink data=1/8,1/4,1/2,1."
        )
    parts = [_part(value.strip()) for value in (values or PARTS).split(",") if value.strip()]
    if len(set(parts)) < 2:
        raise MeasureProblem(f"{text!r} has a single part: give at least two, as in data=1/8,1/4,1/2,1.")
    return Varied("data", "data", tuple(f"{part:.12g}" for part in dict.fromkeys(parts)))


def _part(text: str) -> float:
    try:
        part = float(Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        part = 0.0
    if not 0 < part <= 1:
        raise MeasureProblem(f"{text!r} is no part of the data: write 1/8, 0.125 or 12.5%, up to 1.")
    return part


def _values(text: str) -> tuple[str, ...]:
    doubling = re.fullmatch(r"(\d{1,15})\.\.(\d{1,15})", text)
    if not doubling:
        return tuple(dict.fromkeys(value.strip() for value in text.split(",") if value.strip()))
    first, last = int(doubling[1]), int(doubling[2])
    if not 0 < first < last:
        raise MeasureProblem(
            f"The range {text} does not go up: write FIRST..LAST, which doubles from one to the other."
        )
    values = [first]
    while values[-1] * 2 <= last:
        values.append(values[-1] * 2)
    return tuple(map(str, values))


def points_of(varied: Sequence[Varied], arguments: Sequence[str] = ()) -> list[SweepPoint]:
    """All combinations. An option that stands among the arguments already gets its value there."""
    if not varied:
        raise MeasureProblem("Say what to vary: --vary NAME=1,2,4,8, or --shrink data.")
    if len({one.name for one in varied}) < len(varied):
        raise MeasureProblem("The same name is varied twice: give all its values in one --vary.")
    found = []
    for values in itertools.product(*(one.values for one in varied)):
        given = list(arguments)
        env = {}
        for one, value in zip(varied, values, strict=True):
            if one.kind == "variable":
                env[one.name] = value
            elif one.kind == "data":
                env[SHRINK_VARIABLE] = value
            else:
                _set_option(given, one.name, value)
        names = [one.name.lstrip("-") for one in varied]
        found.append(SweepPoint(dict(zip(names, values, strict=True)), tuple(given), env))
    if len(found) > MOST_POINTS:
        raise MeasureProblem(
            f"{len(found)} combinations are too many for one sweep; take {MOST_POINTS} at most."
        )
    return found


def _set_option(arguments: list[str], name: str, value: str) -> None:
    for place, word in enumerate(arguments):
        if word == name and place + 1 < len(arguments):
            arguments[place + 1] = value
            return
        if word.startswith(f"{name}="):
            arguments[place] = f"{name}={value}"
            return
    arguments += [name, value]
