"""What tuning proves on a folder of programs, with all candidates and without those that were proven.

    python benchmarks/tune_table.py [FOLDER] [--budget 5] [--only NAME]

Each script of the folder (`benchmarks/tune_programs`: eight with a saving that a person finds by hand, two without) is
tuned on a copy in a folder of its own, once with everything and once without the candidate that saved most: what is left
is what the others find. Nothing is applied, and no evidence is kept. A program that cannot be tuned is told with the
sentence that `tune` says. Figures are written after each program, so that an interrupted run keeps what it has. The ten
programs take about half an hour on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from record import Results

WORTH = 5.0
"""Percent of a program's energy above which a proven saving counts."""
LONGEST = 15.0
"""Minutes that tuning a program of 20 s may take."""
PROGRAMS = Path(__file__).resolve().parent / "tune_programs"
NOTHING_HELPS = frozenset({"convolutions", "compiled_step"})
"""Programs in which no saving was found by hand: a proven one there would be suspect, a dearer patch wrong."""


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


def main() -> None:
    """Tune all of them, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=PROGRAMS)
    parser.add_argument("--budget", type=float, default=5.0, help="minutes for each tuning")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="programs by their names")
    asked = parser.parse_args()
    results = Results("tune_table", topic="Rules", title="Proven savings in whole programs")
    savings: dict[str, float] = {}
    longest = 0.0
    scripts = [one for one in sorted(asked.folder.glob("*.py")) if not asked.only or one.stem in asked.only]
    for script in scripts:
        told, problem, minutes = tuned(script, asked.budget)
        longest = max(longest, minutes)
        if told is None:
            results.add(script.stem, None, "%", note=problem)
            continue
        savings[script.stem] = saving(told)
        results.add(script.stem, savings[script.stem], "%", note=note_of(told))
        for one in proven(told)[:1]:
            other, problem, _ = tuned(script, asked.budget, one["name"])
            share = None if other is None else saving(other)
            note = problem if other is None else note_of(other)
            results.add(f"{script.stem} without {one['name']}", share, "%", note=note)
        results.write()
    wanted = [share for name, share in savings.items() if name not in NOTHING_HELPS]
    if wanted:
        worth = 100 * sum(share > WORTH for share in wanted) / len(wanted)
        results.add(
            f"programs with a proven saving above {WORTH:g}%, of those with one found by hand",
            worth,
            "%",
            at_least=50.0,
            note=f"of {len(wanted)} programs",
        )
    results.add("longest tuning", longest, "min", at_most=LONGEST)
    results.write()


if __name__ == "__main__":
    main()
