"""The paper's study in small: where a BERT's energy goes, over stages, sizes and sharing of blocks.

    python benchmarks/bert_study.py [--layers 2 4 6] [--hidden 128 256] [--length 128] [--batch 32] [--steps 30]
        [--repeat 1] [--db PATH]

Measures examples/bert/bert.py with `energy-lsp measure --inside all` and prints, beside the figures of Smaragdine's paper
(BERT base on a GPU): stages, forward and backward, the encoder's and a transformer's share, attention within a block,
self-attention within attention, the top ten layers, a grid of layers × hidden size with correlation and mean error
difference of neighbours, and BERT against an ALBERT-like model. Anchors of the paper are of another machine and another
size: they say what to expect in kind, not in number. Sizes are such that layers have most of the larger models' energy;
building the graphs, which is the same for 30 steps as for a day's, has the rest. It takes about eight minutes on two
processors. Figures go to benchmarks/results/, the paper's as their notes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from energy_data.database.database import Database
from energy_data.model import Part
from energy_lsp.inside.footprints import summarised_footprints
from energy_lsp.inside.groups import grouped
from energy_lsp.inside.versions import compare_versions
from record import Results

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "bert" / "bert.py"
PAPER = {
    "stages": "pre-training > 60 kJ, fine-tuning 45 kJ, prediction 2 kJ",
    "encoder": "> 99% of the model",
    "transformer": "8.25 ± 0.61% each, of twelve",
    "attention": "40.68% of a block forward, 48.19% backward",
    "self": "72.5% of attention forward, 79.5% backward",
    "top": "8 of the top 10 tensors are of the backward pass",
    "shared": "sharing weights saves memory, not the step's energy",
    "grid": "models of one kind correlate; see the mean error difference",
}
RESULTS = Results(
    "bert_study", topic="Inside a model", title="Where a small BERT's energy goes, beside the paper's"
)


def measured(options: argparse.Namespace, database: Path, *arguments: str) -> list[Part]:
    """The parts of `fit` or `predict` of one configuration."""
    command = [
        sys.executable,
        "-m",
        "energy_lsp",
        "measure",
        str(EXAMPLE),
        "--format",
        "json",
        "--inside",
        "all",
    ]
    options_of = ["--quick", "--repeat", str(options.repeat), "--db", str(database)]
    data = ["--length", str(options.length), "--batch", str(options.batch), "--steps", str(options.steps)]
    program = ["--", *data, *arguments]
    done = subprocess.run([*command, *options_of, *program], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found = json.loads(done.stdout)
    RESULTS.meter = found["meter"] + (", estimated" if found["estimated"] else "")
    with Database.read(database) as open_:
        calls = {one.id for one in open_.measurements(found["run"]) if one.api.endswith((".fit", ".predict"))}
        return [part for part in open_.parts(found["run"]) if part.measurement_id in calls]


def joules(parts: Sequence[Part], chosen: Callable[[Part], bool]) -> float:
    return sum(part.joules for part in parts if chosen(part))


def share(parts: Sequence[Part], inner: str, outer: str, direction: str) -> float:
    """What layers whose path holds `inner` have of those whose path holds `outer`, in one pass."""
    whole = joules(parts, lambda part: outer in part.path and part.direction == direction)
    return (
        joules(parts, lambda part: inner in part.path and part.direction == direction) / whole
        if whole
        else 0.0
    )


def stages(options: argparse.Namespace, database: Path, size: list[str]) -> list[Part]:
    print(f"\n## Stages (paper: {PAPER['stages']})")
    fine: list[Part] = []
    for stage in ("pretrain", "finetune", "predict"):
        parts = measured(options, database, "--stage", stage, *size)
        total = joules(parts, lambda part: True)
        passes = {group.name: group.share for group in grouped(parts, "pass")}
        print(f"{stage:10} {total:8.2f} J  " + "  ".join(f"{name} {own:.0%}" for name, own in passes.items()))
        fine = parts if stage == "finetune" else fine
        RESULTS.add(f"{stage}: energy of the call", total, "J", note=f"paper: {PAPER['stages']}")
        for name in ("forward", "backward", "optimizer"):
            if name in passes:
                RESULTS.add(f"{stage}: {name}", 100 * passes[name], "%")
    return fine


def structure(parts: Sequence[Part]) -> None:
    layered = [
        part for part in parts if part.direction in ("forward", "backward") and part.path.startswith("bert/")
    ]
    total = joules(layered, lambda part: True)
    encoder = joules(layered, lambda part: "/encoder" in part.path)
    program = joules(parts, lambda part: True)
    print(f"\n## Program\nlayers {total / program:.1%}, optimizer, loss, input and runtime the rest")
    print(f"\n## Encoder\nencoder {encoder / total:.1%} of the model (paper: {PAPER['encoder']})")
    RESULTS.add("layers' share of the call", 100 * total / program, "%")
    RESULTS.add("encoder's share of the model", 100 * encoder / total, "%", note=f"paper: {PAPER['encoder']}")
    blocks = sorted({part.path.split("/")[2] for part in layered if part.path.startswith("bert/encoder/")})
    shares = [joules(layered, lambda part, b=block: f"/{b}" in part.path) / total for block in blocks]  # type: ignore[misc]
    each = ", ".join(f"{name} {own:.1%}" for name, own in zip(blocks, shares, strict=True))
    spread = float(np.std(shares, ddof=1)) if len(shares) > 1 else 0.0
    print(f"transformers: {each}; {np.mean(shares):.1%} ± {spread:.1%} each (paper: {PAPER['transformer']})")
    note = f"± {100 * spread:.2f} over {len(shares)} blocks; paper: {PAPER['transformer']}"
    RESULTS.add("a transformer's share of the model", 100 * float(np.mean(shares)), "%", note=note)
    for inner, outer, name in (
        ("/attention", "/layer_", "attention"),
        ("/attention/self", "/attention", "self"),
    ):
        ways = [share(layered, inner, outer, direction) for direction in ("forward", "backward")]
        print(f"{name}: {ways[0]:.1%} forward, {ways[1]:.1%} backward (paper: {PAPER[name]})")
        for direction, way in zip(("forward", "backward"), ways, strict=True):
            of = f"{name if name != 'self' else 'self-attention'}, {direction}"
            RESULTS.add(
                f"{of}: share of {'a block' if name != 'self' else 'attention'}",
                100 * way,
                "%",
                note=f"paper: {PAPER[name]}",
            )
    tensors = [
        (own, part.direction, f"{part.path}/{operation}")
        for part in layered
        for operation, own in part.operations.items()
    ]
    top = sorted(tensors, reverse=True)[:10]
    print(f"\n## Top ten tensors (paper: {PAPER['top']})")
    for own, direction, path in top:
        print(f"{own:8.3f} J  {direction:9} {path}")
    backward = sum(direction == "backward" for _, direction, _ in top)
    RESULTS.add("backward among the top ten tensors", backward, note=f"paper: {PAPER['top']}")
    print("\n## Blocks that are alike, together")
    for group in summarised_footprints(layered)[:8]:
        print(f"{group.share:6.1%}  {group.name}")


def grid(options: argparse.Namespace, database: Path, largest: list[Part]) -> None:
    print("\n## Layers × hidden size")
    known = {(options.layers[-1], options.hidden[-1]): largest}
    for count, hidden in itertools.product(options.layers, options.hidden):
        size = ["--layers", str(count), "--hidden", str(hidden)]
        parts = known.setdefault((count, hidden), []) or measured(options, database, *size)
        known[count, hidden] = parts
        steps = joules(parts, lambda part: part.direction in ("forward", "backward", "optimizer"))
        part = steps / joules(parts, lambda part: True)
        print(
            f"L{count} H{hidden}: {steps:8.2f} J in operations of layers and optimizer, {part:.0%} of the call"
        )
        RESULTS.add(
            f"L{count} H{hidden}: layers and optimizer", steps, "J", note=f"{part:.0%} of the call's energy"
        )
    for (one, first), (other, second) in itertools.combinations(known.items(), 2):
        change = compare_versions(first, second)
        pair = f"L{one[0]} H{one[1]} against L{other[0]} H{other[1]}"
        print(f"{pair}: PCC {change.correlation:.3f}, MED {100 * change.error_difference:.2f} points")
        note = f"mean error difference {100 * change.error_difference:.2f} points"
        RESULTS.add(f"{pair}: correlation", change.correlation, note=note)


def sharing(options: argparse.Namespace, database: Path, bert: Sequence[Part], size: list[str]) -> None:
    print(f"\n## BERT against ALBERT (paper: {PAPER['shared']})")
    albert = measured(options, database, "--shared", *size)
    for name, parts in (("BERT", bert), ("ALBERT", albert)):
        layers = joules(parts, lambda part: part.direction in ("forward", "backward"))
        optimizer = joules(parts, lambda part: part.direction == "optimizer")
        print(f"{name:7} layers {layers:7.2f} J  optimizer {optimizer:6.2f} J")
        RESULTS.add(f"{name}: layers", layers, "J", note=f"paper: {PAPER['shared']}")
        RESULTS.add(f"{name}: optimizer", optimizer, "J")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, nargs="+", default=[2, 4, 6])
    parser.add_argument("--hidden", type=int, nargs="+", default=[128, 256])
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--db", type=Path, help="keep the runs here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        database = options.db or Path(name) / "study.sqlite"
        size = ["--layers", str(options.layers[-1]), "--hidden", str(options.hidden[-1])]
        fine = stages(options, database, size)
        structure(fine)
        sharing(options, database, fine, size)
        if len(options.layers) * len(options.hidden) > 1:
            grid(options, database, fine)
    RESULTS.write()


if __name__ == "__main__":
    main()
