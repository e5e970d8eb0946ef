"""The rows that the probe writes, and how neighbouring short calls become one (Python 3.8 to 3.13)."""

from __future__ import annotations

import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Dict, List, Optional, Tuple

    OpenCall = Tuple[int, int]

MAGIC = 0x454E4552
ROW = 4
"""Site, start, end, whether a graph was being built."""
RECORD = 5
"""The same and the thread. Instead of a site:"""
CHECKPOINT = -1
"""a time, and the CPU time of the process and of the thread at it;"""
BEGUN = -2
"""the same at the beginning of a call, for processes that do not live to see its end; less twice the site, less one if a
graph is being built."""
MERGED_ROW = 8
MERGED_SPAN_NS = 10_000_000
MERGED_CALL_NS = 1_000_000

# `warnings` skips frames whose file name holds "importlib" and "_bootstrap" when it counts stack levels.
HIDDEN_FILE = "<energy-lsp importlib._bootstrap probe>"


def open_calls(frame: Optional[FrameType]) -> List[OpenCall]:
    """Start and site of the calls that a thread is in, outermost first: its stack says."""
    found: List[OpenCall] = []
    while frame is not None:
        if frame.f_code.co_filename == HIDDEN_FILE and "start" in frame.f_locals:
            found.append((frame.f_locals["start"], frame.f_locals["site"]))
        frame = frame.f_back
    return found[::-1]


def merge(flat: List[int], around: List[OpenCall], since: int) -> Tuple[List[int], List[int]]:
    """Join neighbouring short calls of one site in the same surroundings; rows are in order of their ends.

    Gives the rows of calls that began before `since`, as they are, and the joined ones. `around`: the calls that
    have not ended yet.
    """
    plain: List[int] = []
    joined: List[List[int]] = []
    groups: Dict[Any, List[int]] = {}
    # From the last call back to the first: the calls that the next one may be in, each with the nearest call about
    # it that is not merged itself.
    inside: List[Tuple[int, int, OpenCall]] = [(start, site, (start, site)) for start, site in around]
    for site, start, end, tracing in reversed(list(zip(*[iter(flat)] * ROW))):  # noqa: B905 (not before 3.10)
        while inside and inside[-1][0] >= start:
            inside.pop()
        outer_start, outer_site, surroundings = inside[-1] if inside else (0, -1, (0, -1))
        flags = 2 * len(inside) + tracing
        took = end - start
        if start < since:
            plain += (site, start, end, tracing)
            inside.append((start, site, (start, site)))
            continue
        row = [site, start, end, outer_start, outer_site, flags, took, 1]
        if took > MERGED_CALL_NS:
            joined.append(row)
            inside.append((start, site, (start, site)))
            continue
        inside.append((start, site, surroundings))
        key = (site, flags, outer_site, surroundings)
        group = groups.get(key)
        if group is None or group[2] - start > MERGED_SPAN_NS:
            groups[key] = row
            joined.append(row)
        else:
            group[1] = start
            group[3] = outer_start
            group[6] += took
            group[7] += 1
    return plain, list(itertools.chain.from_iterable(joined))
