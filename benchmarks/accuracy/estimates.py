"""How well estimated joules are shared out among calls that are shorter than the time between two readings.

    python benchmarks/accuracy/estimates.py [--runs 3]

A training step written by hand with Keras runs under the estimating meter. It reads the kernel's exact task clock (perf
events) about each of its calls itself: that is the truth, but for the probe, which it counts too. Compared are the
joules in place as `energy-lsp measure` finds them, with the marks that the probe makes, and from the sampler's readings
alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

import energy_measure
from energy_code.workspace.project import Project
from energy_measure.meters import PowerModel, choose
from energy_measure.program.call_sites import Instrumented
from energy_measure.run.one_run import Key, OneRun
from energy_measure.run.runs import QUICK, RepeatedRuns
from record import Results

STEPS = 600
CALLS = {
    "predictions = model(inputs)": "model",
    "loss = tf.reduce_mean(tf.square(predictions - targets))": "",
    "gradients = tape.gradient(loss, weights)": "gradient",
    "optimizer.apply_gradients(zip(gradients, weights))": "apply",
}
PREAMBLE = """
import json, os, sys
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
sys.path.insert(0, sys.argv[1])
from energy_measure.meters import perf_events
event = perf_events.open_event(perf_events.SOFTWARE, perf_events.TASK_CLOCK, pid=os.getpid(), inherit=True)
import keras
import tensorflow as tf

inputs = tf.random.stateless_normal((4096, 64), seed=(1, 2))
targets = tf.random.stateless_normal((4096, 1), seed=(3, 4))
model = keras.Sequential([keras.layers.Dense(1, use_bias=False)])
model(inputs)
weights = model.trainable_variables
optimizer = keras.optimizers.Adam()
used = {}

def now():
    return perf_events.read_count(event)

def note(name, since):
    used[name] = used.get(name, 0) + now() - since

for _ in range(STEPS):
    with tf.GradientTape() as tape:
"""


def program() -> tuple[str, dict[str, int]]:
    """The training script, and the line of each call that it knows the truth of."""
    lines = PREAMBLE.strip().replace("STEPS", str(STEPS)).split("\n")
    place: dict[str, int] = {}
    for statement, name in CALLS.items():
        indent = "        " if "gradients" not in statement else "    "
        lines += [f"{indent}since = now()"]
        lines += [indent + statement]
        if name:
            place[name] = len(lines)
            lines += [f"{indent}note({name!r}, since)"]
    return "\n".join([*lines, "print(json.dumps(used))", ""]), place


def run_once(script: Path, *, marking: bool) -> tuple[OneRun, Instrumented, dict[str, float]]:
    """One run of the script, and the joules that each of its calls really took by the same power model."""
    instrumented = Instrumented()
    instrumented.add_file(script, Project(script.parent), script.parent)
    arguments = [str(Path(energy_measure.__file__).parents[1])]
    with tempfile.TemporaryDirectory() as name, (script.parent / "output").open("wb") as output:
        runs = RepeatedRuns(
            Path(sys.executable),
            instrumented.specification(script, script.parent, arguments, gpu=False, marking=marking),
            choose("cpu-time"),
            cwd=script.parent,
            pace=replace(QUICK, replay_seconds=0.0),
            period_s=None,
            timeout=None,
            output=output,
            errors=subprocess.DEVNULL,
        )
        found = runs.once(Path(name), lambda stage, seconds: None)
    used = json.loads((script.parent / "output").read_text())
    watts = PowerModel.from_environment().active_watts
    return found, instrumented, {name: spent * 1e-9 * watts / STEPS for name, spent in used.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    text, place = program()
    print("| call | ms | readings alone: error | 95% interval ± | with marks: error | 95% interval ± |")
    print("|---|---|---|---|---|---|")
    rows: dict[str, list[list[float]]] = {name: [] for name in place}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "training.py"
        script.write_text(text)
        for _ in range(options.runs):
            for marking in (False, True):
                found, instrumented, truths = run_once(script, marking=marking)
                for name, truth in truths.items():
                    site = next(n for n, one in enumerate(instrumented.sites) if one.line == place[name])
                    energy = found.energies[Key(site, False)]
                    width = (energy.interval.high - energy.interval.low) / (2 * truth)
                    error = abs(energy.total.value / truth - 1)
                    rows[name].append([marking, energy.seconds, error, width])
    results = Results(
        "accuracy/estimates", topic="Measuring", title="Estimated joules of short calls in place"
    )
    for name, values in rows.items():
        of = np.array(values)
        alone, marked = of[of[:, 0] == 0], of[of[:, 0] == 1]
        cells = [f"{np.mean(part[:, column]):.1%}" for part in (alone, marked) for column in (2, 3)]
        print(f"| {name} | {np.mean(of[:, 1]) * 1e3:.2f} | {' | '.join(cells)} |")
        results.add(f"{name}, {np.mean(of[:, 1]) * 1e3:.2f} ms: error", 100 * np.mean(marked[:, 2]), "%")
        results.add(f"{name}: error from readings alone", 100 * np.mean(alone[:, 2]), "%")
    results.write()


if __name__ == "__main__":
    main()
