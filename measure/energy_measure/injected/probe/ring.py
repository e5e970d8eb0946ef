"""Rows on their way to a file, in memory that is a file itself: what a process recorded outlives it (Python 3.8 to 3.13).

Whatever ends a process, the kernel keeps what it wrote into its ring. All its threads write there, one row after the other,
and begin again at the front; a row is written in one go, at a place that nobody else gets, with a time in its second word.
"""

from __future__ import annotations

import itertools
import mmap
import os
import struct
from array import array

from .rows import RECORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional, Tuple

ROWS = 16384
PART = 4096
"""So many rows are written at a time."""
BYTES = 8 * RECORD
DUE = frozenset(range(0, ROWS * BYTES, PART * BYTES))
"""Who gets one of these places has the rows before it written."""

KEPT: List[mmap.mmap] = []

write = struct.Struct("=%dq" % RECORD).pack_into


class Ring:
    """Places for rows, each given out in turn by `place`; `write(memory, place(), *row)` fills one."""

    def __init__(self, path: str) -> None:
        self.path: Optional[str] = path
        self.memory = _mapped(path)
        self.place = itertools.cycle(range(0, ROWS * BYTES, BYTES)).__next__

    def rows(self) -> List[Tuple[array[int], List[int]]]:
        """All rows that are there, end to end, in parts with the places that they are at."""
        empty = bytes(PART * BYTES)
        found = []
        for begin in range(0, ROWS * BYTES, PART * BYTES):
            part = self.memory[begin : begin + PART * BYTES]
            if part == empty:
                continue
            rows = array("q", part)
            if 0 not in rows[1::RECORD]:
                found.append((rows, [begin]))
                continue
            there = [at for at in range(0, len(rows), RECORD) if rows[at + 1]]
            rows = array("q", itertools.chain.from_iterable(rows[at : at + RECORD] for at in there))
            found.append((rows, [begin + 8 * at for at in there]))
        return found

    def clear(self, rows: array[int], places: List[int]) -> None:
        """Free the places of rows that are written; others may have come to the same part meanwhile."""
        size = 8 * len(rows) // len(places)
        empty = bytes(size)
        for place in places:
            self.memory[place : place + size] = empty

    def remove(self) -> None:
        """Everything has been written: what comes now is nobody's, unless it is written as well."""
        if self.path is not None:
            try:
                os.unlink(self.path)
            except OSError:
                return  # it is in use where files that are cannot be removed; or gone with its folder
            finally:
                self.path = None


def _mapped(path: str) -> mmap.mmap:
    """Memory that is a file; plain memory where there is no room for one."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            # In full: a page for which there is no room when it is first written to would end the program.
            if os.write(handle, bytes(ROWS * BYTES)) == ROWS * BYTES:
                return _kept(mmap.mmap(handle, ROWS * BYTES))
        finally:
            os.close(handle)
    except OSError:
        pass
    return _kept(mmap.mmap(-1, ROWS * BYTES))


def _kept(memory: mmap.mmap) -> mmap.mmap:
    """Memory closes a descriptor when it goes, by a number that may be a file of the program's by then: it stays."""
    KEPT.append(memory)
    return memory
