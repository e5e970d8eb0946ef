"""How well the inside of calls is known: operations mapped, lines, gradients, what reading and looking cost.

    python benchmarks/inside.py [--quick]

For programs of all kinds (tests/measure/inside/labelled.py): the share of operation time that is mapped to a
layer, optimizer, loss, input or line (goal: 99% in graphs, 94% with XLA), creation lines that are right (100%),
gradient time that is mapped to the backward pass (99%), and how long reading the profiles takes against the run
(10%). For steps of two usual kinds the slow-down of `--inside auto`, in CPU time, runs with and without in
turns (2%). And the total variation of the layers' shares from their isolated cost, beside Smaragdine's way on the
same traces.
Prints a table and writes JSON to standard output with --json.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from energy_measure.injected.inside import reader
from energy_measure.inside.account import _level, _Process
from energy_measure.inside.origins import Origins
from energy_measure.inside.recorded import Recorded, read_profiles, read_recorded
from energy_measure.inside.splitting import joined, shares, stretch

ROOT = Path(__file__).parent.parent
LABELLED = ROOT / "tests" / "measure" / "inside" / "labelled.py"
LAUNCHER = ROOT / "measure" / "energy_measure" / "injected" / "launcher.py"
KINDS = [
    "sequential",
    "functional",
    "subclassed",
    "recurrent",
    "compiled_step",
    "mixed",
    "mirrored",
    "compiled",
    "attention",
    "eager",
]
XLA = {"compiled"}

SLOWDOWN = {
    "CNN fit": """
import keras, numpy as np
from keras import layers
convolutions = [layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(32, 3)]
model = keras.Sequential([keras.Input((32, 32, 3)), *convolutions, layers.Flatten(), layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images, labels = np.random.rand(SIZE * 32, 32, 32, 3).astype("float32"), np.random.randint(0, 10, SIZE * 32)
model.fit(images, labels, epochs=4, verbose=0)
""",
    "compiled step": """
import tensorflow as tf
weight = tf.Variable(tf.random.normal((512, 512)))
@tf.function
def step(x):
    return tf.reduce_sum(tf.nn.relu(tf.matmul(x, weight)))
x = tf.random.normal((256, 512))
for _ in range(SIZE * 12):
    step(x)
""",
}


ISOLATED = """
import json, sys, time
import keras
import tensorflow as tf
from keras import layers
sizes = [layers.Conv2D(24, 3, name="one"), layers.Conv2D(32, 5, name="two"), layers.Flatten(name="flat"),
    layers.Dense(160, name="three"), layers.Dense(64, name="four")]
model = keras.Sequential([keras.Input((24, 24, 8)), *sizes])
x = tf.random.normal((32, 24, 24, 8))
step = tf.function(model)
for _ in range(REPEAT):
    step(x)
isolated, values = {}, x
for layer in sizes:
    alone = tf.function(layer)
    values_in = values
    for _ in range(5):
        values = alone(values_in)
    before = time.process_time()
    for _ in range(REPEAT):
        alone(values_in)
    isolated[layer.name] = time.process_time() - before
empty = tf.function(lambda values: values)
empty(x)
before = time.process_time()
for _ in range(REPEAT):
    empty(x)
calling = time.process_time() - before
with open("isolated.json", "w") as file:
    json.dump({name: max(0.0, own - calling) for name, own in isolated.items()}, file)
"""
"""The layers of a model one by one, after the model: their CPU time without that of calling a function."""


def labelled_source() -> str:
    text = LABELLED.read_text()
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "name":
                at = keyword.value.lineno - 1
                lines[at] = lines[at].replace("_@", f"_at{node.lineno}", 1)
    return "\n".join(lines)


def run(script: Path, folder: Path, mode: str, arguments: list[str]) -> tuple[float, float]:
    """Run a program by the launcher, as `measure` does but without meters; gives CPU seconds and seconds."""
    folder.mkdir()
    specification = {
        "entry": str(script),
        "arguments": arguments,
        "sources": {},
        "sites": 0,
        "pure": [],
        "gpu": False,
        "marking": False,
        "graph_calls": {},
        "folder": str(folder),
        "inside": mode,
    }
    path = folder / "specification.json"
    path.write_text(json.dumps(specification))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, str(LAUNCHER), str(path)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, time.monotonic() - start


def mapped(recorded: Recorded) -> dict[str, float]:
    """Shares of operation time by what became of it."""
    process = _Process(recorded, _no_events(), [])
    rows = recorded.rows
    lengths = (rows[:, 5] - rows[:, 4]).astype(float)
    origins = Origins(recorded)
    time_of = {"all": 0.0, "mapped": 0.0, "gradient": 0.0, "backward": 0.0}
    for (_, number, *_), function, length in zip(
        rows.tolist(), process.functions.tolist(), lengths, strict=True
    ):
        name = recorded.names[number]
        found = origins.of(name, recorded.functions.get(function, ""))
        time_of["all"] += length
        time_of["mapped"] += length * found.mapped
        if "gradient_tape/" in name or "gradients/" in name:
            time_of["gradient"] += length
            time_of["backward"] += length * (found.origin.stage == "backward")
    return time_of


def _no_events() -> Any:
    from energy_measure.attribution.events import Events

    return Events.empty()


def lines_right(recorded: Recorded) -> tuple[int, int]:
    labelled = [layer for layer in recorded.layers.values() if re.search(r"_at\d+$", layer.path)]
    right = [layer for layer in labelled if layer.place and layer.path.endswith(f"_at{layer.place.line}")]
    return len(right), len(labelled)


def mapping(folder: Path, kinds: list[str]) -> dict[str, Any]:
    script = folder / "labelled.py"
    script.write_text(labelled_source())
    found: dict[str, Any] = {}
    right = layers = 0
    for kind in kinds:
        cpu, _ = run(script, folder / kind, "all", [kind])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        problems = read_profiles(Path(sys.executable), folder / kind)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        (recorded,) = read_recorded(folder / kind)
        times, lines = mapped(recorded), lines_right(recorded)
        right, layers = right + lines[0], layers + lines[1]
        found[kind] = {
            "mapped": times["mapped"] / max(times["all"], 1.0),
            "gradients": times["backward"] / times["gradient"] if times["gradient"] else None,
            "reading": (after.ru_utime - before.ru_utime) / cpu,
            "operations": int((recorded.rows[:, 2] == reader.OPERATION).sum()),
            "problems": problems,
        }
        gradients = found[kind]["gradients"]
        goal = 0.94 if kind in XLA else 0.99
        print(
            f"{kind:14} mapped {found[kind]['mapped']:.2%} (goal {goal:.0%})  gradients "
            f"{'-' if gradients is None else f'{gradients:.2%}'}  reading {found[kind]['reading']:.1%} of the run",
            file=sys.stderr,
        )
    print(f"creation lines right: {right} of {layers}", file=sys.stderr)
    return {"kinds": found, "lines_right": right, "lines": layers}


def slowdown(folder: Path, size: int, rounds: int) -> dict[str, Any]:
    """CPU time with `--inside auto` over that without, in turns; the median of rounds and their range."""
    found: dict[str, Any] = {}
    for name, text in SLOWDOWN.items():
        script = folder / "slow.py"
        script.write_text(text.replace("SIZE", str(size)))
        ratios = []
        for number in range(rounds):
            order = ("off", "auto") if number % 2 else ("auto", "off")
            cpu = {mode: run(script, folder / f"{name}-{number}-{mode}", mode, [])[0] for mode in order}
            ratios.append(cpu["auto"] / cpu["off"])
        found[name] = {"ratio": median(ratios), "low": min(ratios), "high": max(ratios), "rounds": rounds}
        print(
            f"{name:14} slow-down {median(ratios):.3f} (range {min(ratios):.3f} to {max(ratios):.3f})",
            file=sys.stderr,
        )
    return found


def isolated(folder: Path, repeat: int) -> dict[str, Any]:
    """Total variation, in points, of the layers' shares from their isolated cost: by our split, and by Smaragdine's.

    Energy is taken as level over the windows, so that only the ways of splitting differ.
    """
    script = folder / "isolated.py"
    script.write_text(ISOLATED.replace("REPEAT", str(repeat)))
    run(script, folder / "isolated", "all", [])
    truth = json.loads((folder / "isolated" / "isolated.json").read_text())
    read_profiles(Path(sys.executable), folder / "isolated")
    (recorded,) = read_recorded(folder / "isolated")
    steps = recorded.steps[recorded.steps[:, 0] == recorded.steps[0, 0]][5:]
    process = _Process(recorded, _no_events(), [])
    side, names = process.host, [found.origin.path.rpartition("/")[2] for found in process.found]
    power = _level(*joined(steps[:, 1:3])).within(*process.sessions)
    level = np.array([names.index(name) if name in names else -1 for name in names])
    ways = {
        "same window": shares(side.activity, power, len(names), loaded=False, weights=None).origins,
        "percentile": shares(side.activity, power, len(names), loaded=True, weights=side.weights).origins,
        "Smaragdine": by_previous_reading(side, steps, len(names)),
    }
    result: dict[str, Any] = {
        "stretch": stretch(side.rows, float(sum(session.cpu_ns for session in recorded.sessions)))
    }
    for way, values in ways.items():
        found = dict.fromkeys(truth, 0.0)
        for number, name in enumerate(names):
            if name in found and level[number] >= 0:
                found[name] += float(values[number])
        total, whole = sum(found.values()) or 1.0, sum(truth.values())
        differences = {name: found[name] / total - truth[name] / whole for name in truth}
        variation = 50.0 * sum(abs(difference) for difference in differences.values())
        large = [
            abs(differences[name]) / (truth[name] / whole) for name in truth if truth[name] / whole >= 0.05
        ]
        result[way] = {"variation": variation, "worst": max(large)}
        print(
            f"{way:12} {variation:5.1f} points from isolated cost, layers of 5% and more within {max(large):.0%}",
            file=sys.stderr,
        )
    print(f"operations took {result['stretch']:.2f} times the CPU time", file=sys.stderr)
    return result


def by_previous_reading(side: Any, steps: Any, count: int, period: int = 4_000_000) -> Any:
    """Smaragdine: samples of 4 ms, each in equal parts to the operations that were active since the one before."""
    found = np.zeros(count)
    activity = side.activity
    order = np.argsort(activity.start)
    starts, ends, origins = activity.start[order], activity.end[order], activity.origin[order]
    longest = int((ends - starts).max(initial=0))
    for sample in range(int(steps[0, 1]), int(steps[-1, 2]), period):
        near = slice(np.searchsorted(starts, sample - longest), np.searchsorted(starts, sample + period))
        active = origins[near][ends[near] > sample]
        if len(active):
            np.add.at(found, active, 1.0 / len(active))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four kinds, short runs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--isolated", action="store_true", help="only the isolated cost of layers")
    options = parser.parse_args()
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as name:
        if options.isolated:
            print(json.dumps(isolated(Path(name), 150 if options.quick else 600), indent=2))
            return
        kinds = ["sequential", "compiled", "compiled_step", "attention"] if options.quick else KINDS
        result = {
            "mapping": mapping(Path(name), kinds),
            "isolated": isolated(Path(name), 150 if options.quick else 600),
            "slowdown": slowdown(Path(name), 60 if options.quick else 400, 2 if options.quick else 5),
        }
    if options.json:
        print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
