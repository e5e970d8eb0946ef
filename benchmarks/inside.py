"""How well the inside of calls is known: operations mapped, lines, gradients, accuracy, what reading and looking cost.

    python benchmarks/inside.py [mapping] [isolated] [slowdown] [--quick]

`mapping`, for programs of all kinds (tests/measure/inside/labelled.py): the share of operation time that is mapped to
a layer, optimizer, loss, input or line (goal: 99% in graphs, 94% with XLA), creation lines that are right (100%),
gradient time that is mapped to the backward pass (99%), and how long reading the profiles takes against the run (10%).
`isolated`: the total variation of the layers' shares from their isolated cost (5 points, 8 while others keep all
processors busy) and the error of layers of 5% and more (20%), beside Smaragdine's way on the same traces.
`slowdown`: CPU time of `--inside auto` over that of `off`, two runs at once, each on a processor of its own, which they
change from pair to pair (2%; the upper end of the 95% interval at most 4%).
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
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import stats

from energy_measure.inside.account import _level, _Process
from energy_measure.inside.origins import Origins
from energy_measure.inside.recorded import Recorded, read_profiles, read_recorded
from energy_measure.inside.splitting import joined, shares, wall_over_cpu
from record import Results

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
    "wrapped",
    "twins",
    "eager",
]
XLA = {"compiled"}
TITLES = {
    "mapping": "Operations to layers, passes and lines",
    "isolated": "Shares of layers against their isolated cost",
    "slowdown": "What looking inside costs the program (--inside auto)",
}

SLOWDOWN = {
    "CNN fit": """
import keras, numpy as np
from keras import layers
convolutions = [layers.Conv2D(32, 3, activation="relu"), layers.Conv2D(32, 3)]
model = keras.Sequential([keras.Input((32, 32, 3)), *convolutions, layers.Flatten(), layers.Dense(10)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
images, labels = np.random.rand(1024, 32, 32, 3).astype("float32"), np.random.randint(0, 10, 1024)
model.fit(images, labels, epochs=max(1, SIZE // 32), verbose=0)
""",
    "BERT fit": """
import runpy, sys
sys.argv = ["bert.py", "--layers", "4", "--hidden", "128", "--steps", "SIZE"]
runpy.run_path("EXAMPLE", run_name="__main__")
""",
    "compiled step": """
import tensorflow as tf
weight = tf.Variable(tf.random.normal((512, 512)))
@tf.function
def step(x):
    return tf.reduce_sum(tf.nn.relu(tf.matmul(x, weight)))
x = tf.random.normal((256, 512))
for _ in range(SIZE):
    step(x)
""",
}
STEPS = {"CNN fit": 3072, "BERT fit": 480, "compiled step": 52_000}
"""So many take 30 s and more of one processor."""
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"
"""Keeps a processor busy for as long as the benchmark runs."""


ISOLATED = """
import json, sys, time
import keras
import tensorflow as tf
from keras import layers
LAYERS
model = keras.Sequential([keras.Input(shape), *sizes])
x = tf.random.normal((32, *shape))
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
MODELS = {
    "tuned": """
shape = (24, 24, 8)
sizes = [layers.Conv2D(24, 3, name="one"), layers.Conv2D(32, 5, name="two"), layers.Flatten(name="flat"),
    layers.Dense(160, name="three"), layers.Dense(64, name="four")]
""",
    "other": """
shape = (64, 96)
sizes = [layers.Dense(256, activation="relu", name="wide"), layers.Conv1D(96, 5, padding="same", name="along"),
    layers.LayerNormalization(name="norm"), layers.Dense(384, activation="gelu", name="gelu"),
    layers.AveragePooling1D(4, name="pool"), layers.Flatten(name="flat"), layers.Dense(128, name="last")]
""",
}
"""The percentile of weights (`splitting.PERCENTILE`) was chosen on the first; the other was not looked at for it."""


def labelled_source() -> str:
    text = LABELLED.read_text()
    lines = text.split("\n")
    marks = [
        (keyword.value.end_lineno or 0, keyword.value.end_col_offset or 0, node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "name"
    ]
    for row, column, line in sorted(marks, reverse=True):
        before, after = lines[row - 1][:column], lines[row - 1][column:]
        lines[row - 1] = f"_at{line}".join(before.rsplit("_@", 1)) + after
    return "\n".join(lines)


def run(script: Path, folder: Path, mode: str, arguments: list[str]) -> float:
    """Run a program by the launcher, as `measure` does but without meters; gives its CPU seconds."""
    return finished(begin(script, folder, mode, arguments))


def begin(
    script: Path, folder: Path, mode: str, arguments: list[str], processor: int | None = None
) -> subprocess.Popen[str]:
    """The same without waiting for it; `processor`: the only one that it may use."""
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
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    pin = ["taskset", "-c", str(processor)] if processor is not None else []
    return subprocess.Popen(
        [*pin, sys.executable, str(LAUNCHER), str(path)],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> float:
    """The CPU seconds of a program that was begun."""
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(complaint[-2000:])
    return used.ru_utime + used.ru_stime


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


def mapping(folder: Path, results: Results, kinds: list[str]) -> None:
    """What is known of the operations of programs of all kinds."""
    script = folder / "labelled.py"
    script.write_text(labelled_source())
    right = layers = 0
    for kind in kinds:
        cpu = run(script, folder / kind, "all", [kind])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        problems = read_profiles(Path(sys.executable), folder / kind)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        (recorded,) = read_recorded(folder / kind)
        times, lines = mapped(recorded), lines_right(recorded)
        right, layers = right + lines[0], layers + lines[1]
        reading = (after.ru_utime - before.ru_utime) / cpu
        known = times["mapped"] / max(times["all"], 1.0)
        note = " ".join(problems)
        goal = 94 if kind in XLA else 99
        results.add(f"{kind}: operation time mapped", 100 * known, "%", at_least=goal, note=note)
        if times["gradient"]:
            gradients = times["backward"] / times["gradient"]
            results.add(f"{kind}: gradients to forward operations", 100 * gradients, "%", at_least=99)
        results.add(f"{kind}: reading the profile", 100 * reading, "% of the run", at_most=10)
        print(f"{kind:14} mapped {known:.2%} (goal {goal}%)  reading {reading:.1%}", file=sys.stderr)
    results.add(
        "creation lines right", 100 * right / max(layers, 1), "%", at_least=100, note=f"{right} of {layers}"
    )
    print(f"creation lines right: {right} of {layers}", file=sys.stderr)


def slowdown(folder: Path, results: Results, part: float, pairs: int) -> None:
    """CPU time with `--inside auto` over that without."""
    for name, text in SLOWDOWN.items():
        script = folder / "slow.py"
        example = str(ROOT / "examples" / "bert" / "bert.py")
        script.write_text(text.replace("SIZE", str(int(STEPS[name] * part))).replace("EXAMPLE", example))
        ratios: list[float] = []
        seconds = 0.0
        for number in range(pairs):
            order = ("off", "auto") if number % 2 else ("auto", "off")
            begun = {
                mode: begin(script, folder / f"{name}-{number}-{mode}", mode, [], processor)
                for processor, mode in enumerate(order)
            }
            cpu = {mode: finished(process) for mode, process in begun.items()}
            seconds = cpu["off"]
            ratios.append(cpu["auto"] / cpu["off"])
        # What the two processors differ by cancels out: it has one sign in even pairs and the other in odd ones.
        logs = np.log(ratios)
        turns = np.array([logs[number::2].mean() for number in range(min(2, pairs))])
        middle, freedom = float(turns.mean()), pairs - 2
        rest = logs - turns[np.arange(pairs) % 2]
        spread = float((rest @ rest / freedom / pairs) ** 0.5) if freedom > 0 else 0.0
        reach = float(stats.t.ppf(0.975, freedom)) * spread if freedom > 0 else 0.0
        note = f"{pairs} pairs of {seconds:.0f} s"
        results.add(f"{name}: slow-down", 100 * (np.exp(middle) - 1), "%", at_most=2, note=note)
        if freedom > 0:
            high = 100 * (np.exp(middle + reach) - 1)
            results.add(f"{name}: upper end of its interval", high, "%", at_most=4)
        print(f"{name:14} {[round(ratio, 4) for ratio in ratios]} {note}", file=sys.stderr)


def isolated(folder: Path, results: Results, repeat: int, rounds: int, model: str, *, loaded: bool) -> None:
    """Total variation, in points, of the layers' shares from their isolated cost: by our split, and by Smaragdine's."""
    how = "loaded" if loaded else "calm"
    found = [
        against_isolated(folder / f"{how}-{number}", repeat, model, loaded=loaded) for number in range(rounds)
    ]
    ways = list(found[0][0])
    note = f"median of {rounds} runs"
    for way in ways:
        variations = [one[0][way] for one in found]
        goal = (8 if loaded else 5) if way == "ours" else None
        spread = f"{note}, {min(variations):.1f} to {max(variations):.1f}"
        results.add(
            f"{how}: from isolated cost, {way}", median(variations), "points", at_most=goal, note=spread
        )
    worst = median([one[1] for one in found])
    limit = None if loaded else 20
    results.add(f"{how}: worst layer of 5% and more", 100 * worst, "%", at_most=limit, note=note)
    results.add(f"{how}: time of operations over CPU time", median([one[2] for one in found]), "×")


def against_isolated(
    where: Path, repeat: int, model: str, *, loaded: bool
) -> tuple[dict[str, float], float, float]:
    """One run: points by each way of splitting, the worst layer's error by ours, and how stretched operations were.

    Energy is taken as level over the windows, so that only the ways of splitting differ.
    """
    script = where.with_suffix(".py")
    script.write_text(ISOLATED.replace("REPEAT", str(repeat)).replace("LAYERS", MODELS[model]))
    others = [
        subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())])
        for _ in range(os.cpu_count() or 1 if loaded else 0)
    ]
    try:
        run(script, where, "all", [])
    finally:
        for other in others:
            other.kill()
            other.wait()
    truth = json.loads((where / "isolated.json").read_text())
    read_profiles(Path(sys.executable), where)
    (recorded,) = read_recorded(where)
    steps = recorded.steps[recorded.steps[:, 0] == recorded.steps[0, 0]][5:]
    process = _Process(recorded, _no_events(), [])
    side, names = process.host, [found.origin.path.rpartition("/")[2] for found in process.found]
    power = _level(*joined(steps[:, 1:3])).within(*process.sessions)
    same = shares(side.activity, power, len(names), loaded=False, weights=None).origins
    weighed = shares(side.activity, power, len(names), loaded=True, weights=side.weights).origins
    ways = {
        "ours": weighed if process.loaded else same,
        "same window": same,
        "percentile weights": weighed,
        "Smaragdine's way": by_previous_reading(side, steps, len(names)),
    }
    stretched = wall_over_cpu(side.rows, float(sum(session.cpu_ns for session in recorded.sessions)))
    points, worst = {}, 0.0
    for way, values in ways.items():
        found = dict.fromkeys(truth, 0.0)
        for number, name in enumerate(names):
            if name in found:
                found[name] += float(values[number])
        total, whole = sum(found.values()) or 1.0, sum(truth.values())
        differences = {name: found[name] / total - truth[name] / whole for name in truth}
        points[way] = 50.0 * sum(abs(difference) for difference in differences.values())
        large = [
            abs(differences[name]) / (truth[name] / whole) for name in truth if truth[name] / whole >= 0.05
        ]
        worst = max(large) if way == "ours" else worst
    print(
        where.name,
        {way: round(value, 1) for way, value in points.items()},
        f"worst {worst:.0%}",
        file=sys.stderr,
    )
    print(f"  operations took {stretched:.2f} times the CPU time", file=sys.stderr)
    return points, worst, stretched


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
    parser.add_argument("parts", nargs="*", choices=[*TITLES, []], help="all where none is named")
    parser.add_argument("--quick", action="store_true", help="fewer kinds, shorter runs")
    parser.add_argument("--pairs", type=int, default=6, help="of runs, for the slow-down")
    parser.add_argument("--rounds", type=int, default=3, help="of comparing with isolated costs")
    parser.add_argument(
        "--model", choices=list(MODELS), default="other", help="to compare with isolated costs"
    )
    parser.add_argument("--loaded", action="store_true", help="compare only while processors are busy")
    options = parser.parse_args()
    np.seterr(all="ignore")
    for part in options.parts or TITLES:
        results = Results("inside", topic="Inside a model", title=TITLES[part], part=part)
        with tempfile.TemporaryDirectory() as name:
            if part == "mapping":
                kinds = ["sequential", "compiled", "compiled_step", "attention"] if options.quick else KINDS
                mapping(Path(name), results, kinds)
            elif part == "isolated":
                for loaded in (False, True) if not options.loaded else (True,):
                    repeat = 150 if options.quick else 600
                    isolated(Path(name), results, repeat, options.rounds, options.model, loaded=loaded)
            else:
                slowdown(Path(name), results, 0.1 if options.quick else 1.0, options.pairs)
        results.write()


if __name__ == "__main__":
    main()
