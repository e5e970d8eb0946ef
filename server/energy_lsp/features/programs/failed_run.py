"""A program that failed while it was measured, in one sentence: what stopped, why, and where."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from energy_data.untrusted.printable import one_line

_FRAME = re.compile(r'^[ \t]*File "([^"\n]{1,4000})", line (\d{1,9})', re.MULTILINE)
LONGEST_ERROR = 80
"""Characters of an error beyond which its kind alone is shown."""


class FailedLine(NamedTuple):
    """A line, from 1, of a file of the project."""

    file: Path
    line: int


def place_of_failure(output: str, root: Path) -> FailedLine | None:
    """Where the program was in the project's own code when it failed: the innermost such frame of the last traceback."""
    traceback = output.rpartition("Traceback (most recent call last)")[2]
    found = None
    for name, line in _FRAME.findall(traceback):
        path = Path(name) if Path(name).is_absolute() else root / name
        if path.is_relative_to(root) and not any(
            part in ("site-packages", ".venv") for part in path.relative_to(root).parts
        ):
            found = FailedLine(path, int(line))
    return found


def sentence(target: str, status: str, error: str, place: FailedLine | None) -> str:
    """Such as `train.py stopped: URLError (line 31).`"""
    said = one_line(error)
    kind = said.partition(":")[0] if len(said) > LONGEST_ERROR else said
    where = ""
    if place is not None:
        other = "" if place.file.name == Path(target).name else f"{place.file.name}, "
        where = f" ({other}line {place.line})"
    what = "was stopped before its end" if status == "partial" else "stopped"
    return f"{target} {what}: {kind or 'no reason was given'}{where}."
