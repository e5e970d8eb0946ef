"""Moments at which something begins, as a meter sees them that only tells energy over stretches of time.

What begins at a moment fills every later cell of the time axis, and a part of the cell it begins in. Whoever ends
is a negative beginning. So the energy of any number of overlapping calls is a sum over their two ends and one
cumulative sum over the cells; no list of pairs of calls and cells is ever made.
"""

from __future__ import annotations

import numpy as np

from energy_measure.attribution.spans import Floats, Indices, sums


class StepEdges:
    """Moments against the cells between `edges`.

    The cells' true places scatter about where they are put, so on average they see something begin not in a
    step but in a ramp of `blur` seconds; expecting steps would take from short calls what leaks into their
    neighbours' cells. Across an edge whose place is known (`sharp`) nothing leaks.
    """

    def __init__(self, moments: Floats, edges: Floats, blur: float, sharp: Floats) -> None:
        self._seconds = np.diff(edges)
        cells = len(self._seconds)
        blurs = np.minimum(blur, _twice_to_nearest(sharp, moments)) if blur else np.zeros_like(moments)
        last = np.clip(np.searchsorted(edges, moments + blurs / 2.0, side="right") - 1, 0, cells - 1)
        self._whole_after = last
        if not blur:
            self._moment: Indices | None = None
            self._cell: Indices = last
            self._part: Floats = np.clip(edges[last + 1] - moments, 0.0, self._seconds[last])
        else:
            self._moment, self._cell, self._part = _ramps(moments, edges, last, blurs)
        # Fresh memory is dearer than what is done with it: these are used again and again.
        self._per_part, self._per_moment = np.empty(len(self._part)), np.empty(len(moments))

    def joules(self, watts: Floats) -> Floats:
        """Energy in each cell if `watts` begin at each moment and last for ever."""
        cells = len(self._seconds)
        found = sums(self._whole_after, watts, cells)
        np.cumsum(found, out=found)
        np.multiply(found[:-1], self._seconds[1:], out=found[1:])
        found[0] = 0.0
        at_cells = (
            watts if self._moment is None else np.take(watts, self._moment, out=self._per_part, mode="clip")
        )
        weights = np.multiply(at_cells, self._part, out=self._per_part)
        found += sums(self._cell, weights, cells)
        return found

    def following(self, density: Floats) -> Floats:
        """Integral of a density (one value per cell) from each moment to the end of the axis; valid until the next."""
        per_cell = density * self._seconds
        later = np.cumsum(per_cell[::-1])[::-1]
        later -= per_cell
        parts: Floats = np.take(density, self._cell, out=self._per_part, mode="clip")
        parts *= self._part
        if self._moment is not None:
            parts = sums(self._moment, parts, len(self._whole_after))
        parts += np.take(later, self._whole_after, out=self._per_moment, mode="clip")
        return parts


def _twice_to_nearest(places: Floats, moments: Floats) -> Floats:
    """Twice the seconds from each moment to the nearest of some places."""
    bounds = np.concatenate(([-np.inf], places, [np.inf]))
    after = np.searchsorted(bounds, moments)
    return np.asarray(2.0 * np.minimum(bounds[after] - moments, moments - bounds[after - 1]))


def _ramps(moments: Floats, edges: Floats, last: Indices, blurs: Floats) -> tuple[Indices, Indices, Floats]:
    """The cells over which each moment's ramp is spread: the moment, the cell, the seconds in it."""
    first = np.clip(np.searchsorted(edges, moments - blurs / 2.0, side="right") - 1, 0, len(edges) - 2)
    many = last - first + 1
    moment = np.repeat(np.arange(len(moments)), many)
    cell = np.arange(len(moment)) - np.repeat(np.cumsum(many) - many - first, many)
    at, wide = moments[moment], blurs[moment]
    return moment, cell, _ramp(edges[cell + 1] - at, wide) - _ramp(edges[cell] - at, wide)


def _ramp(seconds: Floats, blurs: Floats) -> Floats:
    """Integral, up to so many seconds after moments, of what rises from 0 to 1 over a blur about each."""
    risen = np.clip(seconds + blurs / 2.0, 0.0, blurs)
    return np.asarray(risen**2 / np.maximum(2.0 * blurs, 1e-30) + np.maximum(seconds - blurs / 2.0, 0.0))
