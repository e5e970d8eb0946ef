"""Joules per call in training loops, whose calls follow each other at once and as regularly as in real programs.

    python benchmarks/accuracy/training_loops.py [--seeds 30]

Steps of four calls (0.85, 0.12, 1.05 and 2.9 ms, of 20 to 80 W) by a simulated RAPL counter that moves every millisecond,
read every 1, 2 and 10 ms, where lengths scatter by so much about their middle and drift. One run each; for each call the
median error over the seeds, the middle half-width of the 95% interval, and how often it holds the truth.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share
from energy_measure.attribution.baseline import IdleWindow, fit_baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.site_energy import site_energies
from energy_measure.attribution.solver import attribute
from record import Results
from waveform import Calls, reading_times, sample_rapl

REST, IDLE, STEPS = 2.0, 30.0, 400
LENGTHS = np.array([0.85e-3, 0.12e-3, 1.05e-3, 2.9e-3])
GAPS = np.array([20e-6, 30e-6, 20e-6, 100e-6])


def training_loop(rng: np.random.Generator, scatter: float) -> Calls:
    """Four calls in turns."""
    drift = np.repeat(np.exp(np.cumsum(rng.normal(0, 0.01, STEPS))), 4)
    lengths = np.tile(LENGTHS, STEPS) * drift * rng.lognormal(0, scatter, 4 * STEPS)
    gaps = np.tile(GAPS, STEPS) * rng.lognormal(0, scatter, 4 * STEPS)
    watts = np.tile(rng.uniform(20.0, 80.0, 4), STEPS) * rng.lognormal(0, 0.1, 4 * STEPS)
    starts = REST + 0.1 + np.cumsum(lengths + gaps) - lengths - gaps
    return Calls(starts, starts + lengths, {"cpu": watts})


def once(seed: int, period: float, scatter: float) -> list[list[float]]:
    """Error, half-width and whether the interval holds, for each of the four calls."""
    rng = np.random.default_rng(seed)
    calls = training_loop(rng, scatter)
    finish = float(calls.ends.max()) + 0.1
    trace = sample_rapl(
        calls.waveform("cpu", IDLE), reading_times(finish + REST, period, rng=rng), rng, start_ns=0
    )
    starts, ends = (
        np.round(moments * 1e9).astype(np.int64).tolist() for moments in (calls.starts, calls.ends)
    )
    events = Events.of(list(range(4)) * STEPS, starts, ends)
    begin, end = round(REST * 1e9), round(finish * 1e9)
    rests = [IdleWindow(0, begin), IdleWindow(end, int(trace.times_ns[-1]))]
    found = site_energies(events, [attribute(trace, events, fit_baseline(trace, rests), (begin, end))])
    rows = []
    for site, energy in sorted(found.items()):
        true = float(np.mean(calls.true_joules("cpu")[site::4]))
        low, high = energy.interval.low, energy.interval.high
        rows.append([abs(energy.total.value / true - 1), (high - low) / 2 / true, low <= true <= high])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=30)
    options = parser.parse_args()
    results = Results(
        "accuracy/training_loops", topic="Measuring", title="Calls of a training loop, simulated RAPL"
    )
    calls = " | ".join(f"{length * 1e3:g} ms: error, ±" for length in LENGTHS)
    print(f"| read every | scatter | {calls} | 95% holds |\n|{'---|' * 7}")
    for period in (1e-3, 2e-3, 10e-3):
        for scatter in (0.02, 0.05, 0.15, 0.4):
            found = np.array([once(seed, period, scatter) for seed in range(options.seeds)])
            cells = [f"{error:.1%}, {half:.1%}" for error, half in np.median(found[:, :, :2], axis=0)]
            holds = np.mean(found[:, :, 2])
            print(
                f"| {period * 1e3:g} ms | {scatter:.0%} | {' | '.join(cells)} | {holds:.1%} |",
                flush=True,
            )
            where = f"read every {period * 1e3:g} ms, lengths scatter by {scatter:.0%}"
            results.add(f"{where}: 95% interval holds", 100 * holds, "%", at_least=93, at_most=97)
    results.write()


if __name__ == "__main__":
    main()
