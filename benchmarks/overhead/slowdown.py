"""How much longer training takes while it is measured.

    python benchmarks/overhead/slowdown.py [--seconds 10] [--sets 4] [--script NAME]...

Three processes of one training script are started: plain, plain once more (the control), and measured as
`energy-lsp measure` does, with probes and under the meters. They take turns of a fraction of a second, in random
order, while the others wait and the sampler of the measured one is stopped, until each has trained for so many
seconds: other work on the machine meets all three alike. Shown are the medians of the turns' ratios to plain, with
their 95% intervals, over several sets of fresh processes; the control says what to make of them.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_code.workspace.project import Project
from energy_measure.attribution.events import Events
from energy_measure.meters import choose
from energy_measure.program.call_sites import Instrumented
from energy_measure.program.process import ProgramProcess
from energy_measure.sampling.controller import Sampling
from energy_measure.statistics import median_interval

PREAMBLE = """
import os, sys, time
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

def in_turns(train):
    with open(sys.argv[1]) as turns, open(sys.argv[2], "w") as told:
        train()
        print("ready", file=told, flush=True)
        while turns.readline():
            clock, cpu = time.perf_counter(), time.process_time()
            train()
            print(time.perf_counter() - clock, time.process_time() - cpu, file=told, flush=True)
"""

FIT = """
features = tf.random.stateless_normal([2048, 64], seed=[1, 2])
labels = tf.cast(tf.reduce_sum(features, axis=1) > 0.0, tf.int32)
model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(2)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
in_turns(lambda: model.fit(features, labels, batch_size=64, verbose=0))
"""

COMPILED = """
inputs = tf.random.stateless_normal([2048, 256], seed=[1, 2])
targets = tf.random.stateless_normal([2048, 1], seed=[3, 4])
batches = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(128)
model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
loss_of = tf.keras.losses.MeanSquaredError()
mean = tf.keras.metrics.Mean()

@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss

def train():
    for x, y in batches:
        mean.update_state(step(x, y))

in_turns(train)
"""

EAGER = """
inputs = tf.random.stateless_normal([512, 256], seed=[1, 2])
targets = tf.random.stateless_normal([512, 1], seed=[3, 4])
first = tf.Variable(tf.random.stateless_normal([256, 256], seed=[5, 6]) * 0.05)
second = tf.Variable(tf.random.stateless_normal([256, 1], seed=[7, 8]) * 0.05)

def train():
    for _ in range(12):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(inputs, first))
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, second) - targets))
        gradients = tape.gradient(loss, [first, second])
        first.assign_sub(gradients[0] * 0.01)
        second.assign_sub(gradients[1] * 0.01)

in_turns(train)
"""

SCRIPTS = {"Keras fit": FIT, "compiled step": COMPILED, "eager loop": EAGER}


@dataclass
class Trainee:
    """One process that trains when it is given the turn."""

    name: str
    turns: IO[str]
    told: IO[str]
    samplers: list[int] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    sampling: float = 0.0
    """CPU seconds of the samplers in its turns."""

    def take_turn(self) -> None:
        """Train once."""
        before = sum(map(cpu_seconds, self.samplers))
        self._signal(signal.SIGCONT)
        print("go", file=self.turns, flush=True)
        clock, cpu = map(float, self.told.readline().split())
        self._signal(signal.SIGSTOP)
        self.sampling += sum(map(cpu_seconds, self.samplers)) - before
        self.clock.append(clock)
        self.cpu.append(cpu)

    def prepare(self) -> None:
        """Wait until it has started and trained once unseen."""
        if self.told.readline() != "ready\n":
            raise SystemExit("the training script failed")
        self._signal(signal.SIGSTOP)

    def release(self) -> None:
        """Let it come to its end."""
        self._signal(signal.SIGCONT)
        self.turns.close()
        self.told.close()

    def _signal(self, number: int) -> None:
        for pid in self.samplers:
            os.kill(pid, number)


def cpu_seconds(pid: int) -> float:
    """The CPU time of another process."""
    return time.clock_gettime_ns((~pid << 3) | 2) * 1e-9


@contextmanager
def trainee(name: str, script: Path, folder: Path, *, measured: bool) -> Iterator[Trainee]:
    pipes = folder / "turns", folder / "told"
    for pipe in pipes:
        os.mkfifo(pipe)
    arguments = [str(pipe) for pipe in pipes]
    with ExitStack() as stack:
        samplers: list[int] = []
        if measured:
            samplers = start_measured(script, arguments, folder, stack)
        else:
            # A session of its own, as the measured one has: Linux shares out busy CPUs among sessions first.
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, str(script), *arguments],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
        one = Trainee(name, pipes[0].open("w"), pipes[1].open(), samplers)
        stack.callback(one.release)
        yield one


def start_measured(script: Path, arguments: list[str], folder: Path, stack: ExitStack) -> list[int]:
    """Start the script as the engine does; gives the samplers' processes."""
    instrumented = Instrumented()
    instrumented.add_file(script, Project(script.parent), script.parent)
    sampling = stack.enter_context(Sampling(choose("auto"), folder))
    program = stack.enter_context(
        ProgramProcess(
            Path(sys.executable),
            instrumented.specification(script, script.parent, arguments, gpu=False, marking=True),
            folder,
            cwd=script.parent,
            output=subprocess.DEVNULL,
            errors=subprocess.DEVNULL,
        )
    )
    program.wait_until_ready()
    sampling.follow(program.pid)

    def run() -> None:
        program.run(None, lambda seconds: None)
        program.finish()

    thread = threading.Thread(target=run)
    thread.start()
    stack.callback(thread.join)
    return sampling.pids


def train_in_turns(script: Path, seconds: float) -> tuple[Trainee, Trainee, Trainee, int]:
    """A plain run, its control and a measured one; and how many calls the last one recorded."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folders = [Path(name) / str(number) for number in range(3)]
        for folder in folders:
            folder.mkdir()
        plain, control, measured = (
            stack.enter_context(trainee(label, script, folder, measured=label == "measured"))
            for label, folder in zip(("plain", "control", "measured"), folders, strict=True)
        )
        trainees = [plain, control, measured]
        for one in trainees:
            one.prepare()
        while min(sum(one.clock) for one in trainees) < seconds:
            for one in random.sample(trainees, 3):
                one.take_turn()
        stack.close()
        return plain, control, measured, int(Events.read(folders[2]).count.sum())


def ratio(found: list[list[float]]) -> str:
    """Median over the turns of all sets, its interval, and the medians of the sets."""
    every = [value for values in found for value in values]
    interval = median_interval(every)
    sets = ", ".join(f"{np.median(values):.3f}" for values in found)
    return f"{np.median(every):.4f} ({interval.low:.4f} to {interval.high:.4f}; {sets})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="that each process trains at least")
    parser.add_argument("--sets", type=int, default=4, help="of fresh processes")
    parser.add_argument("--script", choices=list(SCRIPTS), action="append", help="only this one")
    options = parser.parse_args()
    from record import Results

    results = Results(
        "overhead/slowdown", topic="Measuring", title="Training while it is measured, against plain"
    )
    print("| script | calls a second | | CPU time / plain | clock / plain | sampler's CPU time / plain |")
    print("|---|---|---|---|---|---|")
    for name in options.script or SCRIPTS:
        ratios: dict[str, tuple[list[list[float]], list[list[float]]]] = {
            "control": ([], []),
            "measured": ([], []),
        }
        rates, sampling = [], []
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "training.py"
            script.write_text(PREAMBLE + SCRIPTS[name])
            for _ in range(options.sets):
                plain, control, measured, calls = train_in_turns(script, options.seconds)
                for one in (control, measured):
                    ratios[one.name][0].append(np.divide(one.cpu, plain.cpu).tolist())
                    ratios[one.name][1].append(np.divide(one.clock, plain.clock).tolist())
                rates.append(calls / sum(measured.clock))
                sampling.append(measured.sampling / sum(plain.cpu))
        for label, (cpu, clock) in ratios.items():
            own = f"{np.mean(sampling):.4f}" if label == "measured" else ""
            print(
                f"| {name} | {np.mean(rates):.0f} | {label} | {ratio(cpu)} | {ratio(clock)} | {own} |",
                flush=True,
            )
            goal = 1.01 if label == "measured" else None
            for what, found in (("CPU time", cpu), ("clock", clock)):
                middle = float(np.median([value for values in found for value in values]))
                results.add(f"{name}, {label}: {what}", middle, "× plain", at_most=goal)
    results.write()


if __name__ == "__main__":
    main()
