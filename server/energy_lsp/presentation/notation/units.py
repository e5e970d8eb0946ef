"""Joules and seconds as people read them: three digits, a unit that fits, an interval, a bar."""

from __future__ import annotations

import math
from collections.abc import Iterable

UNITS: tuple[tuple[float, str], ...] = ((1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (0.0, "µJ"))
"""From how many joules up a unit is used."""

IN_JOULES = {"kJ": 1e3, "J": 1.0, "mJ": 1e-3, "µJ": 1e-6}
JOULES_PER_WH = 3600.0
WH_FROM = 1e3
"""Joules of a whole program from which on watt-hours stand beside them: what an electricity bill counts in."""
COLUMN_DECIMALS = 3
DURATIONS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
BAR_CELLS = 10


def unit_for(joules: float) -> str:
    """The unit that gives a number between 1 and 1000 where there is one."""
    size = abs(joules)
    if size == 0.0:
        return "J"
    return next(unit for start, unit in UNITS if size >= start)


def number(value: float, significant: int = 3) -> str:
    """Three significant digits, no exponent for anything a person would read."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = _rounded(value, significant)
    digits = significant - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(0, min(digits, 6))}f}"


def joules(value: float, significant: int = 3) -> str:
    """An energy in the unit that fits, such as `1.23 mJ`."""
    unit = unit_for(_rounded(value, significant))
    return f"{number(value / IN_JOULES[unit], significant)} {unit}"


def brief(amount: float, estimated: bool) -> str:
    """Two digits, for where room is short; `≈` alone says that it is an estimate."""
    return ("≈ " if estimated else "") + joules(amount, 2)


def percent(share: float) -> str:
    """A share as people say it: `94%`, and `<1%` for what is there but small."""
    return "<1%" if 0.0 < share < 0.01 else f"{share:.0%}"


def whole(value: float) -> str:
    """The energy of a whole program: `3.60 kJ (1.00 Wh)` from a kilojoule on."""
    beside = f" ({number(value / JOULES_PER_WH)} Wh)" if abs(value) >= WH_FROM else ""
    return joules(value) + beside


def column_unit(values: Iterable[float | None]) -> str:
    """The one unit of a column: that of its largest value."""
    return unit_for(_rounded(max((abs(value) for value in values if value is not None), default=0.0)))


def in_unit(value: float, unit: str) -> str:
    """A cell of a column in one unit; what would be all zeros says what it lies below."""
    scaled = value / IN_JOULES[unit]
    least = 10.0**-COLUMN_DECIMALS
    if 0.0 < abs(scaled) < least:
        return f"< {least:g}" if value > 0 else "≈ 0"
    places = (
        COLUMN_DECIMALS if abs(scaled) < 10 else 2 if abs(scaled) < 100 else 1 if abs(scaled) < 1000 else 0
    )
    return f"{scaled:.{places}f}" if value >= 0 else "≈ 0"


def share_text(share: float) -> str:
    """A share of a whole as a whole percentage; what is there is never 0%."""
    return "< 1%" if 0.0 < share < 0.005 else f"{max(share, 0.0):.0%}"


def fine_percent(share: float) -> str:
    """A share to a tenth of a percent, for where many small parts stand together; what is there is never 0.0%."""
    return "< 0.1%" if 0.0 < share < 0.0005 else f"{max(share, 0.0):.1%}"


def duration(seconds: float) -> str:
    """A duration in the unit that fits, such as `6.86 ms`."""
    size = abs(_rounded(seconds))
    unit, length = next((unit, length) for unit, length in DURATIONS if size >= length or unit == "ns")
    return f"{number(seconds / length)} {unit}"


def interval(low: float, high: float, significant: int = 3) -> str:
    """An interval in one unit, such as `1.10 to 1.31 J`; a narrow one has the digits in which its ends differ."""
    unit = unit_for(_rounded(max(abs(low), abs(high))))
    ends = [number(end / IN_JOULES[unit], significant) for end in (low, high)]
    for significant in (4, 5, 6):
        if ends[0] != ends[1] or low == high:
            break
        ends = [number(end / IN_JOULES[unit], significant) for end in (low, high)]
    return f"{ends[0]} to {ends[1]} {unit}"


def bar(share: float) -> str:
    """A share between 0 and 1 as ten cells."""
    filled = round(min(1.0, max(0.0, share)) * BAR_CELLS)
    return "█" * filled + "░" * (BAR_CELLS - filled)


def _rounded(value: float, significant: int = 3) -> float:
    """The value with the digits that are shown, so that 999.7 mJ becomes 1.00 J and not 1000 mJ."""
    return float(f"{value:.{significant - 1}e}") if math.isfinite(value) else value


def marked(amount: float, estimated: bool) -> str:
    """Joules, with the mark that an estimate never goes without."""
    return ("≈ " if estimated else "") + joules(amount)


def counted(amount: int, noun: str) -> str:
    """A number of things, such as `1 call` or `3 calls`."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"
