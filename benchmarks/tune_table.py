"""What tuning proves on a folder of programs, with all candidates and without the one that each was written for.

    python benchmarks/tune_table.py [FOLDER] [--budget 3] [--only NAME]

Each script of the folder (`benchmarks/tune_programs`: nine with a saving that a person finds by hand, two without; 3 to 7
seconds of a CPU each) is tuned on a copy in a folder of its own, once with everything and once without one rule or knob:
what is left is what the others find. Nothing is applied, and no evidence is kept. A program that cannot be tuned is told
with the sentence that `tune` says. With `--only` the figures of the other programs stay as they are, so that the table can
be made a program at a time, six minutes each.
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
from dataclasses import replace
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
"""The rule or knob that is left out; of another program the one that saved most."""
NOTHING_HELPS = frozenset({"convolutions", "compiled_step"})
"""Programs in which no saving was found by hand: a proven one there would be suspect, a dearer patch wrong."""
SUMMED_UP = f"programs with a proven saving above {WORTH:g}%, of those with one found by hand"
SLOWEST = "longest tuning"


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


def tune_program(script: Path, budget: float, results: Results) -> None:
    """Its figures with everything, and without one rule or knob."""
    told, problem, minutes = tuned(script, budget)
    if told is None:
        results.add(script.stem, None, "%", note=problem)
        return
    note = f"{note_of(told)}; tuned in {minutes:.1f} min"
    results.add(script.stem, saving(told), "%", note=note)
    best = [one["name"] for one in proven(told)[:1]]
    for name in [WITHOUT[script.stem]] if script.stem in WITHOUT else best:
        other, problem, _ = tuned(script, budget, name)
        share = None if other is None else saving(other)
        results.add(
            f"{script.stem} without {name}", share, "%", note=problem if other is None else note_of(other)
        )


def sum_up(results: Results) -> None:
    """How many of the programs have a saving that is worth it, and how long the longest took."""
    whole = [one for one in results.figures if " " not in one.name and one.value is not None]
    wanted = [one.value or 0.0 for one in whole if one.name not in NOTHING_HELPS]
    if wanted:
        worth = 100 * sum(share > WORTH for share in wanted) / len(wanted)
        results.add(SUMMED_UP, worth, "%", at_least=50.0, note=f"of {len(wanted)} programs")
    minutes = [float(found.group(1)) for one in whole if (found := re.search(r"in ([\d.]+) min", one.note))]
    if minutes:
        results.add(SLOWEST, max(minutes), "min", at_most=LONGEST)


def kept(results: Results, scripts: Sequence[Path]) -> None:
    """Take over the figures of the programs that are not tuned this time."""
    path = FOLDER / f"{results.benchmark}.json"
    again = {script.stem for script in scripts} | {SUMMED_UP.split()[0], SLOWEST.split()[0]}
    for one in json.loads(path.read_text("utf-8"))["figures"] if path.exists() else ():
        if one["name"].split()[0] not in again:
            results.figures.append(Figure(**one))


def main() -> None:
    """Tune all of them, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=PROGRAMS)
    parser.add_argument("--budget", type=float, default=3.0, help="minutes for each tuning")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="programs by their names")
    asked = parser.parse_args()
    results = Results("tune_table", topic="Rules", title="Proven savings in whole programs")
    scripts = [one for one in sorted(asked.folder.glob("*.py")) if not asked.only or one.stem in asked.only]
    if asked.only:
        kept(results, scripts)
    for script in scripts:
        tune_program(script, asked.budget, results)
        done = replace(results, figures=sorted(results.figures, key=lambda one: one.name))
        sum_up(done)
        done.write()


if __name__ == "__main__":
    main()
