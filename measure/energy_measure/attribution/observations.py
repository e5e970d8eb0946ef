"""What a trace really says: mean power over windows of time, each with the uncertainty of where it lies.

A reading is older than the moment it was taken: the meter updated some time before. A counter that was seen
to change between two readings moved in between, and no earlier than one update period before the second.
The middle of that stretch is where the reading is put; half-width over root three is how sure the place is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from energy_measure.sampling.trace import SampledTrace

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

SHARP = 0.02
"""Windows whose ends are known to this part of their length count as exactly placed."""
MISSED_UPDATE, LATE_UPDATE = 1.5, 2.5
"""No change for this many update periods: the meter updated, and its value stayed the same. Counters whose updates come
unevenly, as RAPL's do, may leave out up to two."""


REGULAR = 8
"""Fewer updates do not show whether they come regularly."""
REGULAR_STEP = 3.0
"""So many times further apart than they are known to lie: else it is the readings that come regularly."""
MAD_TO_SIGMA = 1.4826
"""Standard deviation of normal scatter over the median distance from its middle."""


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Energy of one device over windows of time: seconds from `origin_ns`, joules, gross of the baseline."""

    origin_ns: int
    starts: Floats
    ends: Floats
    joules: Floats
    placement: Floats
    """Standard deviation, in seconds, of where each window's end really lies."""
    noise: Floats
    """Standard deviation, in joules, of what the meter's own rounding adds at each window's end."""
    overlap: float
    """How many windows hold one instant: 1 for counters, below 1 for a meter that looks away, above for a
    running mean."""

    shift: float = 0.0
    """The part of `placement` that all ends have in common: a meter that updates as regularly as it is read is
    early or late by the same for a long time."""

    @property
    def sharp(self) -> Floats:
        """The ends of windows whose place is known, in order."""
        return np.asarray(self.ends[self.placement == 0.0])

    @property
    def reading_noise(self) -> float:
        """Standard deviation, in joules, of a typical window's energy from the meter's own rounding."""
        return float(np.sqrt(2.0) * np.median(self.noise)) if len(self.noise) else 0.0

    @property
    def contiguous(self) -> bool:
        """True for counters: every window begins where the one before it ended."""
        return self.overlap == 1.0

    @property
    def resolution(self) -> float:
        """Typical length of a window, in seconds."""
        return float(np.median(self.ends - self.starts)) if len(self.ends) else 0.0

    @property
    def blur(self) -> float:
        """Seconds over which the true end of a window is spread about where it is put; 0 where hardly at
        all."""
        spread = float(np.median(self.placement)) * float(np.sqrt(12.0)) if len(self.placement) else 0.0
        return spread if spread > SHARP * self.step else 0.0

    @property
    def step(self) -> float:
        """Typical time between two readings, in seconds."""
        return float(np.median(np.diff(self.ends))) if len(self.ends) > 1 else self.resolution

    def __len__(self) -> int:
        return len(self.ends)


class TooFewReadingsError(ValueError):
    """The trace holds no stretch of time between two readings."""


@lru_cache(maxsize=1)  # the baseline and the attribution of a trace both ask for it
def observe(trace: SampledTrace) -> Observations:
    """Read a trace as windows of known energy."""
    if len(trace) < 2:
        raise TooFewReadingsError(
            f"the {trace.device} trace holds {len(trace)} reading(s); at least two are needed"
        )
    origin = int(trace.times_ns[0])
    times, values, widths, noise = _updates(trace, origin)
    if len(times) < 2:
        raise TooFewReadingsError(f"the {trace.device} meter did not update while it was read")
    shift = _common_shift(times, widths)
    if trace.kind == "energy":
        placement = widths[1:] / np.sqrt(12.0)
        return Observations(origin, times[:-1], times[1:], np.diff(values), placement, noise[1:], 1.0, shift)
    window = trace.window_s or trace.update_period_s or float(np.median(np.diff(times)))
    step = float(np.median(np.diff(times)))
    noise = noise * window / np.sqrt(2.0)  # a window of its own, not the difference of two readings
    overlap = window / step if abs(window / step - 1.0) > 0.05 else 1.0
    if overlap == 1.0:
        energy = values[1:] * np.diff(times)
        return Observations(
            origin, times[:-1], times[1:], energy, widths[1:] / np.sqrt(12.0), noise[1:], 1.0, shift
        )
    return Observations(
        origin, times - window, times, values * window, widths / np.sqrt(12.0), noise, overlap, shift
    )


def _common_shift(times: Floats, widths: Floats) -> float:
    """How far all updates may lie off together: what remains of their doubt if they come regularly."""
    steps = np.diff(times)
    width = float(np.median(widths))
    if len(times) < REGULAR or np.median(steps) < REGULAR_STEP * width:
        return 0.0
    scatter = float(np.median(np.abs(steps - np.median(steps)))) * MAD_TO_SIGMA / np.sqrt(2.0)
    doubt = width / np.sqrt(12.0)
    return float(np.sqrt(max(doubt**2 - scatter**2, 0.0)))


def _updates(trace: SampledTrace, origin: int) -> tuple[Floats, Floats, Floats, Floats]:
    """When the meter updated, what it then said, how wide the stretch is in which it did, and its noise."""
    read: Floats = np.asarray((trace.times_ns - origin) * 1e-9, dtype=np.float64)
    values = np.asarray(trace.values, dtype=np.float64)
    period = trace.update_period_s
    ages = np.full(len(values), period) if trace.ages_s is None else trace.ages_s
    # A reading that is not old says for sure where a rest ends.
    changed = np.flatnonzero((np.diff(values) != 0) | (ages[1:] == 0.0)) + 1
    if trace.kind == "power" and len(changed) == 0:
        changed = np.arange(1, len(values))
    if len(changed) == 0:  # nothing was used at all: the first and the last reading say so
        changed = np.array([len(values) - 1])
    widths = np.minimum(read[changed] - read[changed - 1], ages[changed])
    if trace.kind == "energy" and trace.ages_s is None:
        widths = _at_most_one_update(widths, read, changed, period)
    times = read[changed] - widths / 2.0
    first_width = min(period, float(np.median(widths)))
    times = np.concatenate(([read[0] - first_width / 2.0], times))
    widths = np.concatenate(([first_width], widths))
    said = np.concatenate((values[:1], values[changed]))
    noise = np.full(len(values), trace.quantum / np.sqrt(12.0)) if trace.noises is None else trace.noises
    noise = np.concatenate((noise[:1], noise[changed]))
    updates = np.stack((np.maximum.accumulate(times), said, widths, noise))
    if period > 0:
        # The last reading that showed the value before; none did if the one before is already another value's.
        unchanged = np.where(np.diff(changed, prepend=0) > 1, read[changed - 1], -np.inf)
        updates = _fill(trace, updates, unchanged)
    times, said, widths, noise = updates[:, np.concatenate(([True], np.diff(updates[0]) > 0))]
    return times, said, widths, noise


def _at_most_one_update(widths: Floats, read: Floats, changed: Indices, period: float) -> Floats:
    """A sum of several counters changes more often than one counter can: any part may then be a period
    old."""
    if len(changed) < 8 or period <= 0:
        return widths
    between_changes = float(np.median(np.diff(read[changed])))
    between_readings = float(np.median(np.diff(read)))
    several = between_changes < 0.75 * period and between_readings < 0.75 * period
    return np.full_like(widths, period) if several else widths


def _fill(trace: SampledTrace, updates: Floats, last_unchanged: Floats) -> Floats:
    """Put back the updates that changed nothing: a counter at rest, a running mean that stayed level."""
    period = trace.update_period_s
    times, said = updates[:2]
    longest = LATE_UPDATE if trace.kind == "energy" else MISSED_UPDATE
    silent = np.flatnonzero(np.diff(times) > longest * period) + 1
    if len(silent) == 0:
        return updates
    if trace.kind == "energy":
        before = np.minimum(times[silent] - period, last_unchanged[silent - 1])
        rested = before > times[silent - 1]
        return _with(updates, silent[rested], before[rested], said)
    missing = np.floor((times[silent] - times[silent - 1]) / period - 0.5).astype(np.int64)
    at = np.repeat(silent, missing)
    nth = np.concatenate([np.arange(count, 0, -1) for count in missing]) if len(missing) else missing
    return _with(updates, at, times[at] - nth * period, said)


def _with(updates: Floats, at: Indices, when: Floats, said: Floats) -> Floats:
    """Updates with others put in before some of them, which said the same as those before."""
    more = updates[:, at]
    more[0], more[1] = when, said[at - 1]
    return np.insert(updates, at, more, axis=1)
