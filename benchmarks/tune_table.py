"""What tuning proves on a folder of programs, with all candidates and without the one that each was written for.

    python benchmarks/tune_table.py [FOLDER] [--budget 3] [--only NAME] [--side with]

Each script of the folder (`benchmarks/tune_programs`: nine with a saving that a person finds by hand, two without; 3 to 7
seconds of a CPU each) is tuned on a copy in a folder of its own, once with everything and once without one rule or knob:
what is left is what the others find. Nothing is applied, and no evidence is kept. A program that cannot be tuned is told
with the sentence that `tune` says. With `--only` and `--side` the other figures stay as they are, so that the table can be
made one tuning at a time, three minutes each; a machine that does other work as well needs `--budget 6`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from record import FOLDER, Figure, Results

WORTH = 5.0
"""Percent of a program's energy above which a proven saving counts."""
LONGEST = 15.0
"""Minutes that tuning a program of 20 s may take."""
PROGRAMS = Path(__file__).resolve().parent / "tune_programs"
WITHOUT = {
    "eager_loop": "missing-function",
    "eager_method": "missing-function",
    "generator": "from-generator",
    "map_then_batch": "batch-map",
    "predict_rows": "predict-loop",
    "reinforce": "compiled-calls",
    "run_eagerly": "run-eagerly",
    "scaled_each_epoch": "map-once",
    "small_dense": "steps-per-execution",
}
"""The rule or knob that is left out of each."""
NOTHING_HELPS = frozenset({"convolutions", "compiled_step"})
"""Programs in which no saving was found by hand: a proven one there would be suspect, a dearer patch wrong."""
SUMMED_UP = f"programs with a proven saving above {WORTH:g}%, of those with one found by hand"
SLOWEST = "longest tuning"
PIECEMEAL = "made one tuning at a time: command, commit and load are those of the last"


def tuned(script: Path, budget: float, skip: str = "") -> tuple[dict[str, Any] | None, str, float]:
    """What `tune` gave, or its sentence; and the minutes it took."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(script, folder))
        command = [str(Path(sys.executable).with_name("energy-lsp")), "tune", copy.name, "--format", "json"]
        command += [
            "--project",
            ".",
            "--progress",
            "none",
            "--db",
            "evidence.sqlite",
            "--budget",
            str(budget),
        ]
        command += ["--skip", skip] if skip else []
        begun = time.monotonic()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        minutes = (time.monotonic() - begun) / 60
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["no reason given"])[-1], minutes
    return json.loads(done.stdout), "", minutes


def saving(told: dict[str, Any]) -> float:
    """Percent of the program's energy that the patch saves, as proven; 0 where nothing was."""
    after = told["after"]
    return 100 * (1 - after["joules"] / told["before"]["joules"]) if after else 0.0


def proven(told: dict[str, Any]) -> list[dict[str, Any]]:
    """The candidates of the patch, the one that saves most first."""
    found = [one for one in told["candidates"] if one["verdict"] == "saves" and one["file"]]
    return sorted(found, key=lambda one: -(one["share"] or 0.0))


def note_of(told: dict[str, Any]) -> str:
    """The candidates that save, with what becomes of results."""
    return ", ".join(f"{one['name']} ({one['results']})" for one in proven(told)) or "nothing proven"


def tune_with(script: Path, budget: float, results: Results) -> None:
    """Its figure with everything."""
    told, problem, minutes = tuned(script, budget)
    note = problem if told is None else f"{note_of(told)}; tuned in {minutes:.1f} min, load {results.load:g}"
    results.add(script.stem, None if told is None else saving(told), "%", note=note)


def tune_without(script: Path, budget: float, results: Results) -> None:
    """Its figure without one rule or knob."""
    name = WITHOUT.get(script.stem)
    if name is not None:
        told, problem, _ = tuned(script, budget, name)
        share = None if told is None else saving(told)
        note = problem if told is None else f"{note_of(told)}; load {results.load:g}"
        results.add(f"{script.stem} without {name}", share, "%", note=note)


def sum_up(results: Results, piecemeal: bool) -> None:
    """How many of the programs have a saving that is worth it, and how long the longest took."""
    whole = [one for one in results.figures if " " not in one.name and one.value is not None]
    wanted = [one.value or 0.0 for one in whole if one.name not in NOTHING_HELPS]
    if wanted:
        worth = 100 * sum(share > WORTH for share in wanted) / len(wanted)
        results.add(SUMMED_UP, worth, "%", at_least=50.0, note=f"of {len(wanted)} programs")
    minutes = [float(found.group(1)) for one in whole if (found := re.search(r"in ([\d.]+) min", one.note))]
    if minutes:
        results.add(SLOWEST, max(minutes), "min", at_most=LONGEST, note=PIECEMEAL if piecemeal else "")


def kept(results: Results, scripts: Sequence[Path], side: str) -> None:
    """Take over the figures that are not made this time."""
    path = FOLDER / f"{results.benchmark}.json"
    for one in json.loads(path.read_text("utf-8"))["figures"] if path.exists() else ():
        program, *rest = one["name"].split()
        again = any(program == script.stem for script in scripts) and side in (
            "both",
            "without" if rest else "with",
        )
        if not again and one["name"] not in (SUMMED_UP, SLOWEST):
            results.figures.append(Figure(**one))


def main() -> None:
    """Tune all of them, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=PROGRAMS)
    parser.add_argument("--budget", type=float, default=3.0, help="minutes for each tuning")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="programs by their names")
    parser.add_argument("--side", choices=("with", "without", "both"), default="both")
    asked = parser.parse_args()
    scripts = [one for one in sorted(asked.folder.glob("*.py")) if not asked.only or one.stem in asked.only]
    for script in scripts:
        results = Results("tune_table", topic="Rules", title="Proven savings in whole programs")
        kept(results, scripts if script is scripts[0] else [script], asked.side)
        if asked.side != "without":
            tune_with(script, asked.budget, results)
        if asked.side != "with":
            tune_without(script, asked.budget, results)
        results.figures.sort(key=lambda one: one.name)
        sum_up(results, bool(asked.only) or asked.side != "both")
        results.write()


if __name__ == "__main__":
    main()
