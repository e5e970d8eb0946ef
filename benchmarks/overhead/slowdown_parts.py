"""What a measured training loop pays for: the probes, their marks, and the clocks behind the estimate from CPU time.

    python benchmarks/overhead/slowdown_parts.py [--seconds 60] [--probe FILE]...

One process holds the eager training loop of `slowdown.py` three times, plain, with probes and with probes that mark CPU
times (and once more for each `--probe`, an older `probe.py` to compare with), and runs them in turns of a few steps, in
random order; a second process reads its clock from afar, or the task clock, or none. Being one process they share
everything else, so the ratios are far sharper than between processes. Shown are the medians of the ratios to the plain
turn beside it, with their 95% intervals.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from slowdown import EAGER

from energy_code.workspace.project import Project
from energy_measure.injected import probe as probe_module
from energy_measure.program.call_sites import Instrumented
from energy_measure.statistics import median_interval
from record import Results

STEPS = 5
PERIOD = 0.01
MARKING = 2
"""The number of the loop whose probes mark CPU times."""

TRAINEE = """
import builtins, importlib.util, os, sys, tempfile, time
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
plain, instrumented, sites, marking, *probes = sys.argv[1:]

def loop(path):
    names = {"tf": tf}
    exec(compile(open(path).read(), path, "exec"), names)
    return names["train"]

loops = [loop(plain)]
for path in probes:
    spec = importlib.util.spec_from_file_location("probe", path)
    sys.modules["probe"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    options = {"marking": True} if len(loops) == int(marking) else {}
    builtins.__energy_probe__ = module.make_probe(module.Recorder(tempfile.mkdtemp(), int(sites), **options))
    loops.append(loop(instrumented))
    loops[-1].__globals__["__energy_probe__"] = builtins.__energy_probe__
for train in loops:
    train()
    train()
print(flush=True)
clocks = time.process_time, time.perf_counter, time.thread_time
for line in sys.stdin:
    train = loops[int(line)]
    before = [clock() for clock in clocks]
    train()
    print(*[clock() - start for clock, start in zip(clocks, before)], flush=True)
"""

CLOCK = """
import select, sys, time
from energy_measure.meters import Roots
from energy_measure.meters.cpu_time import TaskClock, TickClock
pid, period = int(sys.argv[1]), float(sys.argv[2])
clock, reading = None, False
kinds = {"from afar": TickClock, "closely": TaskClock}
while True:
    if not select.select([sys.stdin], [], [], period if reading else None)[0]:
        clock.read()
        continue
    wish = sys.stdin.readline().strip()
    if not wish:
        break
    if clock is not None:
        clock.close()
    clock = kinds[wish](pid, Roots()) if wish in kinds else None
    reading = clock is not None
    print(flush=True)
"""


class Talker:
    """A process that does what one line says, and answers with one."""

    def __init__(self, code: str, *arguments: str) -> None:
        command = [sys.executable, "-c", code, *arguments]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )

    def hear(self) -> str:
        """The next line it says."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def ask(self, line: str) -> str:
        """Tell it a line, and wait for its answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        return self.hear()

    def end(self) -> None:
        """Let it come to its end."""
        self.process.communicate("")


def prepare(folder: Path) -> tuple[Path, Path, int, int]:
    """The training loop plain and with probes, how many sites it has, and how many probes a turn meets."""
    text = "import tensorflow as tf\n" + EAGER.replace("range(12)", f"range({STEPS})")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("in_turns"))
    plain, probed = folder / "plain.py", folder / "probed.py"
    plain.write_text(text)
    instrumented = Instrumented()
    instrumented.add_file(plain, Project(folder), folder)
    (source,) = instrumented.sources.values()
    probed.write_text(source)
    calls = source[source.index("def train") :].count(probe_module.NAME)
    return plain, probed, len(instrumented.sites), calls


def measure(seconds: float, probes: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        plain, probed, sites, calls = prepare(Path(name))
        trainee = Talker(TRAINEE, str(plain), str(probed), str(sites), str(MARKING), *probes)
        trainee.hear()
        clock = Talker(CLOCK, str(trainee.process.pid), str(PERIOD))
        turns = list(itertools.product(range(1 + len(probes)), ("none", "from afar", "closely")))
        found: dict[tuple[int, str], list[list[float]]] = {turn: [] for turn in turns}
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for loop, wish in random.sample(turns, len(turns)):
                clock.ask(wish)
                found[loop, wish].append([float(part) for part in trainee.ask(str(loop)).split()])
        for process in (trainee, clock):
            process.end()
    report(found, probes, calls * STEPS)


def report(found: dict[tuple[int, str], list[list[float]]], probes: list[str], calls: int) -> None:
    plain = np.array(found[0, "none"])
    print(f"{len(plain)} turns of each, {calls / np.median(plain[:, 1]):.0f} probed calls a second, ", end="")
    print(
        f"load {os.getloadavg()[0]:.1f}\n\n| probes | clock | CPU time / plain | clock / plain | µs a call |"
    )
    print("|---|---|---|---|---|")
    results = Results(
        "overhead/slowdown_parts",
        topic="Measuring",
        title="What each part of measuring costs a training loop",
    )
    for (loop, wish), turns in found.items():
        values = np.array(turns)
        cells = []
        for column in (0, 1):
            ratios = values[:, column] / plain[:, column]
            interval = median_interval(ratios)
            cells.append(f"{np.median(ratios):.4f} ({interval.low:.4f} to {interval.high:.4f})")
        own = np.median(values[:, 2] - plain[:, 2]) / calls * 1e6
        name = {0: "none", 1: "now", MARKING: "now, with marks"}.get(loop) or Path(probes[loop - 1]).name
        print(f"| {name} | {wish} | {cells[0]} | {cells[1]} | {own:.1f} |")
        cpu = float(np.median(values[:, 0] / plain[:, 0]))
        results.add(f"CPU time, probes {name}, clock {wish}", cpu, "× plain", note=f"interval {cells[0]}")
    results.write()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--probe", action="append", default=[], metavar="FILE", help="an older probe.py")
    options = parser.parse_args()
    measure(options.seconds, [probe_module.__file__, probe_module.__file__, *options.probe])


if __name__ == "__main__":
    main()
