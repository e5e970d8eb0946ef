"""What the probe costs: per call, in memory over millions of calls, and on a training script of ten seconds and more.

    python benchmarks/overhead.py [--pairs 8] [--seconds 10] [--calls 5000000]

The training script runs plain, and with the probe and under the meters, in turns, in the same interpreter that runs
this file. Shown are the medians of the pairs' ratios with their 95% intervals: of the program's CPU time, of that with
the sampler's (a process of its own, which slows the program only where no CPU is free), and of the clock, which other
work on the machine disturbs far more. The cost per call is CPU time, the smallest of many rounds: noise only adds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from energy_code.project import Project
from energy_measure import probe as probe_module
from energy_measure.call_sites import Instrumented
from energy_measure.meters import choose
from energy_measure.runner import Program
from energy_measure.sampling import Sampling
from energy_measure.statistics import median_interval

TRAINING = """
import os, sys, time
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

STEPS = int(sys.argv[1])

def main():
    inputs = tf.random.stateless_normal([512, 256], seed=[1, 2])
    targets = tf.random.stateless_normal([512, 1], seed=[3, 4])
    first = tf.Variable(tf.random.stateless_normal([256, 256], seed=[5, 6]) * 0.05)
    second = tf.Variable(tf.random.stateless_normal([256, 1], seed=[7, 8]) * 0.05)
    for step in range(STEPS):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(inputs, first))
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, second) - targets))
        gradients = tape.gradient(loss, [first, second])
        first.assign_sub(gradients[0] * 0.01)
        second.assign_sub(gradients[1] * 0.01)
    return loss

main_begin = time.perf_counter()
cpu_begin = time.process_time()
loss = main()
print(time.perf_counter() - main_begin, time.process_time() - cpu_begin, float(loss))
"""


PER_CALL = """
import importlib.util, sys, tempfile, time, types
spec = importlib.util.spec_from_file_location("probe", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules["tensorflow"] = types.SimpleNamespace(executing_eagerly=lambda: True)
recorder = module.Recorder(tempfile.mkdtemp(), 1)
probe = module.make_probe(recorder)

def nothing(a, b):
    pass

def rounds(calls=4096, times=24):
    plain, probed = [], []
    for _ in range(times):
        begin = time.thread_time_ns()
        for _ in range(calls):
            nothing(1, 2)
        middle = time.thread_time_ns()
        for _ in range(calls):
            probe(0, nothing, 1, 2)
        plain.append(middle - begin)
        probed.append(time.thread_time_ns() - middle)
    return (min(probed) - min(plain)) / calls

print(rounds(), rounds())
"""


MANY = """
import importlib.util, os, sys, tempfile, time, types
spec = importlib.util.spec_from_file_location("probe", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.modules["tensorflow"] = types.SimpleNamespace(executing_eagerly=lambda: True)
calls = int(sys.argv[2])

def megabytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

with tempfile.TemporaryDirectory() as folder:
    recorder = module.Recorder(folder, 2)
    probe = module.make_probe(recorder)
    inner = lambda: None
    outer = lambda: probe(1, inner)
    print(megabytes())
    begin = time.process_time()
    for part in range(5):
        for _ in range(calls // 10):
            probe(0, outer)
        print(megabytes())
    used = time.process_time() - begin
    recorder.finish()
    written = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    print(used / calls * 1e6, written / 1e6)
"""


def many_calls(calls: int) -> tuple[list[float], float, float]:
    """Megabytes of the process before and after each fifth of the calls, µs per call, megabytes written."""
    command = [sys.executable, "-c", MANY, probe_module.__file__, str(calls)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    each, written = lines[-1].split()
    return [float(line) for line in lines[:-1]], float(each), float(written)


def nanoseconds_per_call(python: Path) -> tuple[float, float]:
    """CPU time that a probed call costs more than a plain one: with every call written, and with merging."""
    done = subprocess.run(
        [str(python), "-c", PER_CALL, probe_module.__file__], capture_output=True, text=True, check=True
    )
    single, merged = done.stdout.split()
    return float(single), float(merged)


def pythons() -> dict[str, Path]:
    """This interpreter, and the others that are installed beside it and can run the probe."""
    found = {"{}.{}.{}".format(*sys.version_info): Path(sys.executable)}
    for folder in sorted(Path(sys.base_prefix).parent.glob("3.*")):
        python = folder / "bin" / "python"
        if python.exists() and (3, 8) <= tuple(map(int, folder.name.split(".")[:2])) <= (3, 13):
            found.setdefault(folder.name, python)
    return found


def run_plain(script: Path, steps: int) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, str(script), str(steps)], capture_output=True, text=True, check=True
    )
    wall, cpu, _ = done.stdout.split()
    return float(wall), float(cpu)


def run_probed(script: Path, steps: int, instrumented: Instrumented) -> tuple[float, float, float, int]:
    """Seconds on the clock, of the program's CPU time and of the sampler's, and the calls that were recorded."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        specification = instrumented.specification(script, script.parent, [str(steps)], gpu=False)
        with (
            (folder / "out").open("wb") as output,
            Sampling(choose("auto"), folder) as sampling,
            Program(
                Path(sys.executable),
                specification,
                folder,
                cwd=script.parent,
                output=output,
                errors=subprocess.DEVNULL,
            ) as program,
        ):
            program.wait_until_ready()
            sampling.follow(program.pid)
            program.run(None, lambda seconds: None)
            program.finish()
            health = sampling.stop().health
        wall, cpu, _ = (folder / "out").read_text().split()
        rows = sum(path.stat().st_size for path in folder.glob("events-*.bin")) // 56
        sampler = sum(part.cpu_share for part in health) * float(wall)
        return float(wall), float(cpu), sampler, rows


def ratio(values: list[float]) -> str:
    interval = median_interval(values)
    return f"{np.median(values):.4f} (95% {interval.low:.4f} to {interval.high:.4f}, {len(values)} pairs)"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0, help="shortest run of the training script")
    parser.add_argument("--calls", type=int, default=5_000_000, help="for the memory of very many calls")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        script = Path(name) / "training.py"
        script.write_text(TRAINING)
        instrumented = Instrumented()
        instrumented.add_file(script, Project(script.parent), script.parent)
        steps = max(200, int(200 * 1.1 * options.seconds / run_plain(script, 200)[0]))
        walls, cpus, with_sampler, rows = [], [], [], 0
        for pair in range(options.pairs):
            first_probed = pair % 2 == 0
            if first_probed:
                *probed, rows = run_probed(script, steps, instrumented)
            plain = run_plain(script, steps)
            if not first_probed:
                *probed, rows = run_probed(script, steps, instrumented)
            walls.append(probed[0] / plain[0])
            cpus.append(probed[1] / plain[1])
            with_sampler.append((probed[1] + probed[2]) / plain[1])
    table = Table(title="Overhead of the probe")
    table.add_column("what")
    table.add_column("figure", justify="right")
    for version, python in pythons().items():
        single, merged = nanoseconds_per_call(python)
        table.add_row(f"a probed call, Python {version}", f"{single:.0f} ns ({merged:.0f} ns when merged)")
    table.add_row("training script, plain", f"{plain[0]:.1f} s, {steps} steps, about {rows} calls")
    table.add_row("CPU time, measured / plain", ratio(cpus))
    table.add_row("CPU time with the sampler's, measured / plain", ratio(with_sampler))
    table.add_row("clock, measured / plain", ratio(walls))
    table.add_row("pairs, CPU", ", ".join(f"{one:.3f}" for one in cpus))
    table.add_row("pairs, clock", ", ".join(f"{one:.3f}" for one in walls))
    memory, each, written = many_calls(options.calls)
    table.add_row(f"{options.calls:,} calls", f"{each:.2f} µs each, {written:.0f} MB written")
    table.add_row("memory, before and after each fifth", ", ".join(f"{part:.0f}" for part in memory) + " MB")
    Console().print(table)


if __name__ == "__main__":
    main()
