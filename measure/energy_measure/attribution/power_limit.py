"""No call draws more than the machine can, and none gives energy back.

Least squares shares what a window holds among those that ran in it, and what a window holds is misplaced by as much as the
meter's clock is. For calls far shorter than a window that may be many times what all CPUs draw in their time. What is
beyond the limit is handed to the neighbours in time that have room for it, and to the program between calls at last.
"""

from __future__ import annotations

import numpy as np

from energy_measure.attribution.spans import Floats

MOST_SPANS = 500_000
"""Beyond so many calls all excess goes to the program between them: neighbours are looked for one by one."""


def within_limit(
    joules: Floats, seconds: Floats, middles: Floats, watts: float, *, noisy: bool = False
) -> Floats:
    """Own joules of spans within 0 and what `watts` give in their time; the last entry is the program in short gaps.

    The sum stays the same. `noisy`: a sensor's noise makes short calls seem to give energy back as often as to draw more;
    to hold them at 0 would make all of them seem to draw some.
    """
    most = watts * np.maximum(seconds[:-1], 0.0)
    kept = np.minimum(joules[:-1], most) if noisy else np.clip(joules[:-1], 0.0, most)
    beyond = joules[:-1] - kept
    if not np.any(beyond):
        return joules
    if len(kept) > MOST_SPANS:
        return np.append(kept, joules[-1] + float(beyond.sum()))
    order = np.argsort(middles, kind="stable").tolist()
    held, limits, given = kept.tolist(), most.tolist(), beyond.tolist()
    carried = 0.0
    for place in order:
        carried = _taken(held, limits, place, carried + given[place])
    for place in reversed(order):
        carried = _taken(held, limits, place, carried)
    return np.append(np.array(held), joules[-1] + carried)


def _taken(held: list[float], limits: list[float], place: int, carried: float) -> float:
    """Have a span take what it has room for of what is carried along; gives the rest."""
    if carried == 0.0:
        return carried
    room = limits[place] - held[place] if carried > 0 else -held[place]
    taken = min(carried, room) if carried > 0 else max(carried, room)
    held[place] += taken
    return carried - taken
