"""How well the inside of calls is known: operations mapped, lines, gradients, accuracy, what reading and looking cost.

    python benchmarks/inside.py [mapping] [isolated] [slowdown] [--quick]

`mapping`, for programs of all kinds (tests/measure/inside/labelled.py): the share of operation time that is mapped to
a layer, optimizer, loss, input or line (goal: 99% in graphs, 94% with XLA), creation lines that are right (100%),
gradient time that is mapped to the backward pass (99%), and how long reading the profiles takes against the run (10%).
`isolated`: the total variation of the layers' shares from their isolated cost (5 points, 8 while others keep all
processors busy) and the error of layers of 5% and more (20%), beside Smaragdine's way on the same traces, for the
models of `isolated_layers.py`, and how far a second reference is from the first. `--realtime` gives the programs
priority over everything: a calm machine where others work.
`slowdown`: CPU time of `--inside auto` over that of `off`, two runs at once, each on a processor of its own, which they
change from pair to pair (2%; the upper end of the 95% interval at most 4%).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "lab"))
from energy_measure.inside.account import _level, _Process
from energy_measure.inside.origins import Origins
from energy_measure.inside.recorded import Recorded, read_profiles, read_recorded
from energy_measure.inside.splitting import joined, shares, wall_over_cpu
from labelled_layers import labelled_source
from record import Results
from subjects.isolated_layers import MODELS, program

ROOT = Path(__file__).parent.parent
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
    "shared_between_models",
    "stacked",
    "eager_fit",
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
WAYS = ("ours", "same window", "percentile weights", "Smaragdine's way")
SECOND = "a second reference"
"""The same layers by themselves, but one after the other: how well isolated cost is known."""
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"
"""Keeps a processor busy for as long as the benchmark runs."""


def run(script: Path, folder: Path, mode: str, arguments: list[str]) -> float:
    """Run a program by the launcher, as `measure` does but without meters; gives its CPU seconds."""
    return finished(begin(script, folder, mode, arguments))


def begin(
    script: Path, folder: Path, mode: str, arguments: list[str], first: Sequence[str] = ()
) -> subprocess.Popen[str]:
    """The same without waiting for it; `first`: the command that starts it, such as one that chooses its processor."""
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
    return subprocess.Popen(
        [*first, sys.executable, str(LAUNCHER), str(path)],
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
                mode: begin(
                    script, folder / f"{name}-{number}-{mode}", mode, [], ["taskset", "-c", str(processor)]
                )
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


def isolated(
    folder: Path, results: Results, repeat: int, models: list[str], *, loaded: bool, realtime: bool
) -> None:
    """Total variation, in points, of the layers' shares from their isolated cost: by our split, and by Smaragdine's."""
    how = "loaded" if loaded else "calm"
    found = {
        model: against_isolated(folder / f"{how}-{model}", repeat, model, loaded=loaded, realtime=realtime)
        for model in models
    }
    note = f"median of {len(models)} models"
    for way in (*WAYS, SECOND):
        points = [one[0][way] for one in found.values()]
        goal = (8 if loaded else 5) if way == "ours" else None
        spread = f"{note}, {min(points):.1f} to {max(points):.1f}"
        results.add(f"{how}: from isolated cost, {way}", median(points), "points", at_most=goal, note=spread)
    limit = None if loaded else 20
    for model, (_, worst, stretched) in found.items():
        stretch = f"operations took {stretched:.2f} times the CPU time"
        results.add(
            f"{how}: worst layer of 5% and more, {model}", 100 * worst, "%", at_most=limit, note=stretch
        )


def against_isolated(
    where: Path, repeat: int, model: str, *, loaded: bool, realtime: bool
) -> tuple[dict[str, float], float, float]:
    """One model: points by each way of splitting, the worst layer's error by ours, and how stretched operations were.

    Energy is taken as level over the windows, so that only the ways of splitting differ.
    """
    script = where.with_suffix(".py")
    script.write_text(program(model, repeat))
    first = ["chrt", "--fifo", "1"] if realtime else []
    others = [
        subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())])
        for _ in range(os.cpu_count() or 1 if loaded else 0)
    ]
    try:
        finished(begin(script, where, "all", ["model"], first))
        subprocess.run(
            [*first, sys.executable, str(script), "layers"], cwd=where, check=True, capture_output=True
        )
    finally:
        for other in others:
            other.kill()
            other.wait()
    references = json.loads((where / "isolated.json").read_text())
    truth = references["turns"]
    read_profiles(Path(sys.executable), where)
    (recorded,) = read_recorded(where)
    functions, counts = np.unique(recorded.steps[:, 0], return_counts=True)
    steps = recorded.steps[recorded.steps[:, 0] == functions[np.argmax(counts)]][5:]
    process = _Process(recorded, _no_events(), [])
    side = process.host
    names = [
        next((one for one in found.origin.path.split("/") if one in truth), "") for found in process.found
    ]
    power = _level(*joined(steps[:, 1:3])).within(*process.sessions)
    same = shares(side.activity, power, len(names), loaded=False, weights=None).origins
    weighed = shares(side.activity, power, len(names), loaded=True, weights=side.weights).origins
    previous = by_previous_reading(side, steps, len(names))
    ways = dict(zip(WAYS, (weighed if process.loaded else same, same, weighed, previous), strict=True))
    stretched = wall_over_cpu(side.rows, float(sum(session.cpu_ns for session in recorded.sessions)))
    points, worst = {}, 0.0
    costs = {way: dict.fromkeys(truth, 0.0) for way in ways}
    for way, values in ways.items():
        for number, name in enumerate(names):
            if name in truth:
                costs[way][name] += float(values[number])
    costs[SECOND] = references["in order"]
    for way, found in costs.items():
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
    parser.add_argument(
        "--model",
        choices=list(MODELS),
        action="append",
        help="to compare with isolated costs; default: all but the first",
    )
    parser.add_argument("--loaded", action="store_true", help="compare only while processors are busy")
    parser.add_argument("--calm", action="store_true", help="compare only while they are not")
    parser.add_argument("--realtime", action="store_true", help="compare with priority over other programs")
    options = parser.parse_args()
    np.seterr(all="ignore")
    for part in options.parts or TITLES:
        results = Results("inside", topic="Inside a model", title=TITLES[part], part=part)
        with tempfile.TemporaryDirectory() as name:
            if part == "mapping":
                kinds = ["sequential", "compiled", "compiled_step", "attention"] if options.quick else KINDS
                mapping(Path(name), results, kinds)
            elif part == "isolated":
                models = options.model or list(MODELS)[1:]
                repeat = 150 if options.quick else 600
                for loaded in [False] * (not options.loaded) + [True] * (not options.calm):
                    # Priority is for what is calm: loaded programs are to wait.
                    realtime = options.realtime and not loaded
                    isolated(Path(name), results, repeat, models, loaded=loaded, realtime=realtime)
            else:
                slowdown(Path(name), results, 0.1 if options.quick else 1.0, options.pairs)
        results.write()


if __name__ == "__main__":
    main()
