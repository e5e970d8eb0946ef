"""What a run left in files: their text, the numbers of arrays, and of other files that they are there."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

from energy_data.untrusted.reading import read_bytes

MOST_TEXT = 1 << 20
"""Bytes of a file that are compared; of longer ones only that they are there."""
MOST_NUMBERS = 1000
WRITTEN = "[written:"
"""A line of its own before what a file holds."""
_DIGITS = re.compile(r"\d+")


class Written:
    """Files of a folder before a run, to know later which of them the run made or changed."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._folder = folder
        self._before = {name: self._stamp(name) for name in names}

    def _stamp(self, name: str) -> tuple[int, int] | None:
        with suppress(OSError):
            about = (self._folder / name).stat()
            return about.st_mtime_ns, about.st_size
        return None

    def text(self, names: Iterable[str]) -> bytes:
        """What was made or changed since, each file under its name; numbers in names (times, processes) are left out."""
        parts = []
        for name in sorted(names):
            if self._before.get(name) != self._stamp(name):
                parts.append(f"\n{WRITTEN} {_DIGITS.sub('', name)}]\n".encode(errors="replace"))
                parts.append(self._content(name))
        return b"".join(parts)

    def _content(self, name: str) -> bytes:
        try:
            content = read_bytes(self._folder / name, MOST_TEXT)
        except OSError:
            return b""
        if name.endswith((".npy", ".npz")):
            return _numbers(content)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            return b""
        return b"" if "\0" in text else content


def _numbers(content: bytes) -> bytes:
    """Of arrays that NumPy wrote; what would need pickle is not read."""
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
        arrays = loaded.values() if hasattr(loaded, "values") else [loaded]
        lines = []
        for array in arrays:
            flat = np.ravel(array)[:MOST_NUMBERS]
            lines.append(f"{array.shape} " + " ".join(format(float(one), ".9g") for one in flat))
        return "\n".join(lines).encode()
    except (ValueError, OSError, EOFError, TypeError, KeyError):
        return b""
