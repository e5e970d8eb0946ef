"""Where a program of any framework spends its CPU time: the hot functions of a profiled run, by share."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy_data.untrusted.reading import read_text

LARGEST_PROFILE = 10_000_000
TOLD = 15
PACKAGES = ("site-packages", "dist-packages")


@dataclass(frozen=True, slots=True)
class HotFunction:
    """A function and its part of the program's CPU time; a share of time, not of metered energy."""

    name: str
    file: str
    """Within the program's folder or within the package it belongs to; empty for what is compiled in."""
    line: int
    calls: int
    share: float
    """Of the CPU time of all functions: its own, without those it calls."""


def read_profile(path: Path, folder: Path) -> list[HotFunction]:
    """What `profiled_run` wrote, the hottest first; nothing where the program left none."""
    try:
        profile = json.loads(read_text(path, LARGEST_PROFILE))
        return [
            _function(row, profile["seconds"], folder) for row in profile["functions"][:TOLD] if row[4] > 0
        ]
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError, ZeroDivisionError):
        return []


def _function(row: list[Any], seconds: float, folder: Path) -> HotFunction:
    file, line, name, calls, own = row
    share = float(own) / float(seconds)
    if not math.isfinite(share):
        raise ValueError("no share")
    return HotFunction(str(name), _short(str(file), folder), int(line), int(calls), share)


def _short(file: str, folder: Path) -> str:
    """Without folders that say nothing, or too much, to a reader."""
    path = Path(file)
    for number, part in enumerate(path.parts):
        if part in PACKAGES:
            return "/".join(path.parts[number + 1 :])
    try:
        return str(path.relative_to(folder))
    except ValueError:
        return path.name
