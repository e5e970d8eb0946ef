"""Hardware energy counters wrap around and are reset; joules do not."""

from __future__ import annotations

IMPOSSIBLE_WATTS = 20_000.0
"""No single package, memory or GPU draws this much: a jump beyond it is a reset (suspend, driver reload)."""


class UnwrappedCounter:
    """Turns raw readings of a counter into units counted since the first reading."""

    def __init__(self, wraps_at: int, unit_joules: float) -> None:
        """`wraps_at`: raw units after which the counter starts again from zero; 0 if it never does."""
        self.wraps_at = wraps_at
        self.unit_joules = unit_joules
        self.resets = 0
        self._last: int | None = None
        self._last_ns = 0
        self._units = 0

    def add(self, raw: int, now_ns: int) -> float:
        """Joules since the first reading. A reset counts nothing for the interval it fell into."""
        if self._last is not None:
            step = raw - self._last
            if step < 0 and self.wraps_at:
                step += self.wraps_at
            seconds = max(now_ns - self._last_ns, 1_000_000) / 1e9
            if step < 0 or step * self.unit_joules > IMPOSSIBLE_WATTS * seconds:
                self.resets += 1
            else:
                self._units += step
        self._last, self._last_ns = raw, now_ns
        return self._units * self.unit_joules
