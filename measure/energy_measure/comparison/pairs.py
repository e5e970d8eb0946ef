"""Two sides against each other: interleaved pairs with a control of the first side against itself."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from energy_measure.comparison.windows import MeteredProcess, MeteredWindow
from energy_measure.statistics import a12, is_resolved, mean_interval, median_interval, wilcoxon

Side = Literal["before", "after", "control"]
SIDES: tuple[Side, ...] = ("before", "after", "control")
PAIRS, QUICK_PAIRS = 15, 6
MOST_REPEATS = 10_000_000


class NotResolvedError(Exception):
    """The meter cannot tell the side before from doing nothing, so there is no ratio."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Net energy of two sides in pairs; joules are per call (or per run of a program)."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    control: tuple[float, ...]
    """The side before once more, in the same rounds."""
    ratio: float
    """After over before, median of the pairs."""
    low: float
    high: float
    p_value: float
    a12: float
    """How often a run of the side after takes more than one of the side before: below one half, it saves."""
    control_ratio: float
    """Control over before, median of the pairs: what two equal sides differ by here."""
    seconds_before: float
    seconds_after: float

    @property
    def pairs(self) -> int:
        """How many."""
        return len(self.before)

    @property
    def joules_before(self) -> float:
        """Mean net joules of the side before."""
        return float(np.mean(self.before))

    @property
    def joules_after(self) -> float:
        """Mean net joules of the side after."""
        return float(np.mean(self.after))

    @property
    def differs(self) -> bool:
        """True when the sides measurably differ: significant, and outside what two equal sides differ by."""
        outside = self.high < min(1.0, self.control_ratio) or self.low > max(1.0, self.control_ratio)
        return self.p_value < 0.05 and outside


def orders(pairs: int, seed: int) -> Iterator[tuple[Side, ...]]:
    """The order of the three runs in each round, drawn at random but the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(pairs):
        yield tuple(chance.sample(SIDES, len(SIDES)))


def compare(
    before: Sequence[float],
    after: Sequence[float],
    control: Sequence[float],
    seconds: tuple[float, float] = (0.0, 0.0),
) -> Comparison:
    """Compare measured energies, pair by pair."""
    if not is_resolved(mean_interval(before).low) or min(before) <= 0:
        raise NotResolvedError(
            "the meter cannot tell the side before from an idle machine: give it more work to do"
        )
    first = np.asarray(before)
    ratios, controls = np.asarray(after) / first, np.asarray(control) / first
    interval = median_interval(ratios)
    return Comparison(
        tuple(map(float, before)),
        tuple(map(float, after)),
        tuple(map(float, control)),
        float(np.median(ratios)),
        interval.low,
        interval.high,
        wilcoxon(before, after),
        a12(after, before),
        float(np.median(controls)),
        seconds[0],
        seconds[1],
    )


def compare_callables(
    before: Callable[[], object],
    after: Callable[[], object],
    metered: MeteredProcess,
    *,
    pairs: int = PAIRS,
    finish: Callable[[], object] | None = None,
    seed: int = 0,
) -> Comparison:
    """Run two callables in interleaved windows long enough for the meters; both are warmed up first.

    `finish` is called at the end of each window, within it: give it what waits for a GPU.
    """
    seconds = metered.window_seconds
    functions = {"before": before, "after": after, "control": before}
    times = {"before": repeats_for(before, seconds), "after": repeats_for(after, seconds)}
    times["control"] = times["before"]
    found: dict[Side, list[MeteredWindow]] = {side: [] for side in SIDES}
    for order in orders(pairs, seed):
        for side in order:
            metered.rest()
            found[side].append(_window(metered, functions[side], times[side], finish))
    metered.rest()
    windows = [window for side in SIDES for window in found[side]]
    energy = metered.joules(windows) / np.array([window.times for window in windows])
    per_side = np.reshape(energy, (len(SIDES), pairs))
    lasted = [np.median([(s.end_ns - s.start_ns) * 1e-9 / s.times for s in found[side]]) for side in SIDES]
    return compare(
        per_side[0].tolist(),
        per_side[1].tolist(),
        per_side[2].tolist(),
        (float(lasted[0]), float(lasted[1])),
    )


def _window(
    metered: MeteredProcess, function: Callable[[], object], times: int, finish: Callable[[], object] | None
) -> MeteredWindow:
    window = metered.work(function, times)
    if finish is None:
        return window
    finish()
    return MeteredWindow(window.start_ns, time.monotonic_ns(), times)


def repeats_for(function: Callable[[], object], seconds: float) -> int:
    """How many calls last about so long; also warms the callable up."""
    function()
    times = 1
    while True:
        begin = time.perf_counter()
        for _ in range(times):
            function()
        lasted = time.perf_counter() - begin
        if lasted >= seconds / 4 or times >= MOST_REPEATS:
            return max(1, min(MOST_REPEATS, round(times * seconds / max(lasted, 1e-9))))
        times = max(times * 2, int(times * seconds / 3 / max(lasted, 1e-9)))
