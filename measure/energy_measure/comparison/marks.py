"""What a program says of itself while it is compared: the phases it marks, and the numbers it prints with a name."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from energy_data.untrusted.reading import read_bytes

MOST_MARKS = 100_000
MOST_BYTES = 10_000_000
MOST_METRICS = 20
_METRIC = re.compile(r"([A-Za-z_][\w ./-]{0,40}?)\s*[:=]\s*([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?![\w.])")


@dataclass(frozen=True, slots=True)
class Marked:
    """A phase, on the monotonic clock."""

    name: str
    start_ns: int
    end_ns: int


def read_marks(path: Path) -> list[Marked]:
    """The phases of one run as `energy_lsp.span` wrote them; lines that are none are left out."""
    try:
        text = read_bytes(path, MOST_BYTES)
    except OSError:
        return []  # it marks none, or put something else in their place
    found = []
    for line in text.decode(errors="replace").splitlines()[:MOST_MARKS]:
        start, _, rest = line.partition(" ")
        end, _, name = rest.partition(" ")
        if start.isdigit() and end.isdigit() and name and int(start) <= int(end):
            found.append(Marked("".join(c for c in name if c.isprintable()), int(start), int(end)))
    return found


def phases_of_run(spans: Path, calls: Path) -> list[Marked]:
    """The phases that a program marks itself; of others, when it trained and inferred by its calls of Keras."""
    own = read_marks(spans)
    names = {mark.name for mark in own}
    return own + [mark for mark in read_marks(calls) if mark.name not in names]


def printed_metrics(output: bytes) -> dict[str, float]:
    """Numbers that a program printed with a name, such as `accuracy: 0.93`; the last of each name."""
    found: dict[str, float] = {}
    for name, number in _METRIC.findall(output.decode(errors="replace")):
        value = float(number)
        if math.isfinite(value):
            found.pop(name.strip(), None)
            found[name.strip()] = value
    return dict(list(found.items())[-MOST_METRICS:])
