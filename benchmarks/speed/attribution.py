"""How long attribution takes: 1,000,000 calls against 1,000,000 samples: one thread, eight, and nested.

    python benchmarks/speed/attribution.py [--calls 1000000] [--samples 1000000] [--rounds 5]

Goal: under 3 s. Also printed as a multiple of sorting so many numbers in the same process, which a busy
machine changes less than seconds.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_measure.attribution.baseline import IdleWindow, fit_baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.solver import attribute
from energy_measure.sampling.trace import SampledTrace
from record import Results

SITES = 300


def nested(calls: int, seconds: float, rng: np.random.Generator) -> Events:
    """Calls that hold two others each, which follow each other."""
    outer = program(calls // 3, 1, seconds, rng)
    cuts = np.sort(rng.uniform(0.0, 1.0, (4, len(outer))), axis=0)
    inner = outer.start + ((outer.end - outer.start) * cuts).astype(np.int64)
    start = np.concatenate((outer.start, inner[0], inner[2]))
    end = np.concatenate((outer.end, inner[1], inner[3]))
    parent = np.concatenate((np.full(len(outer), -1), np.arange(len(outer)), np.arange(len(outer))))
    order = np.lexsort((parent, start))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    parent = np.where(parent < 0, -1, place[parent])[order]
    none = np.zeros(len(order), dtype=np.int64)
    start, end, site = start[order], end[order], rng.integers(0, SITES, len(order))
    depth = (parent >= 0).astype(np.int64)
    return Events(site, none, start, end, end - start, none + 1, depth, none.astype(np.bool_), parent)


def program(calls: int, threads: int, seconds: float, rng: np.random.Generator) -> Events:
    """Calls of random length one after the other on one thread, overlapping on several."""
    edges = np.sort(rng.uniform(4.0, seconds - 4.0, 2 * calls))
    start, end = ((part * 1e9).astype(np.int64) for part in (edges[::2], edges[1::2]))
    if threads > 1:
        end = end + (threads - 1) * int(1e9 * seconds / calls / 2)
    none = np.zeros(calls, dtype=np.int64)
    thread = np.arange(calls) % threads
    site = rng.integers(0, SITES, calls)
    return Events(site, thread, start, end, end - start, none + 1, none, none.astype(np.bool_), none - 1)


def seconds_of(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock and of the CPU."""
    begin, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    work()
    now = resource.getrusage(resource.RUSAGE_SELF)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return time.perf_counter() - begin, cpu


@click.command()
@click.option("--calls", default=1_000_000, show_default=True)
@click.option("--samples", default=1_000_000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
def main(calls: int, samples: int, rounds: int) -> None:
    """Print the fastest and the middle round."""
    rng = np.random.default_rng(1)
    times = np.arange(samples, dtype=np.int64) * 1_000_000
    joules = np.cumsum(rng.normal(0.05, 0.01, samples))
    seconds = samples * 1e-3
    rests = [IdleWindow(0, int(4e9)), IdleWindow(int((seconds - 4) * 1e9), int(seconds * 1e9))]

    def attributed(events: Events) -> None:
        trace = SampledTrace("cpu", times, "energy", joules, 1e-3, quantum=2.0**-14)
        attribute(trace, events, fit_baseline(trace, rests))

    shapes = {
        "1 thread": program(calls, 1, seconds, rng),
        "8 threads": program(calls, 8, seconds, rng),
        "1 thread, nested": nested(calls, seconds, rng),
    }
    results = Results(
        "speed/attribution", topic="Measuring", title=f"Attribution of {calls:,} calls × {samples:,} samples"
    )
    print("| calls in | clock, fastest | clock, middle | CPU, fastest | times sorting the samples |")
    print("|---|---|---|---|---|")
    for name, events in shapes.items():
        numbers = rng.random(samples)
        found, sorting = [], []
        for _ in range(rounds):
            found.append(seconds_of(lambda e=events: attributed(e)))
            sorting.append(seconds_of(lambda n=numbers: np.sort(n, kind="heapsort"))[1])
        clock, cpu = np.array(found).T
        print(
            f"| {name} | {clock.min():.2f} s | {np.median(clock):.2f} s | {cpu.min():.2f} s "
            f"| {cpu.min() / min(sorting):.0f} |"
        )
        results.add(f"calls in {name}, fastest round", clock.min(), "s", at_most=3)
    results.write()


if __name__ == "__main__":
    main()
