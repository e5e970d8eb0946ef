"""What tuning proves on a folder of programs, with all candidates and without some of them.

    python benchmarks/tune_table.py FOLDER [--without missing-function --without batch-map] [--budget 15]

Each script of the folder is tuned on a copy in a folder of its own, once with everything and once without each named
candidate where it was tried at all. Nothing is applied, and no evidence is kept. A program that cannot be tuned is
told with the sentence that `tune` says.
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


def proven(told: dict[str, Any]) -> str:
    """The candidates that save, with what becomes of results."""
    found = [f"{one['name']} ({one['results']})" for one in told["candidates"] if one["verdict"] == "saves"]
    return ", ".join(found) or "nothing proven"


def main() -> None:
    """Tune all of them, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", action="append", default=[], metavar="NAME")
    parser.add_argument("--budget", type=float, default=LONGEST)
    asked = parser.parse_args()
    results = Results("tune_table", topic="Rules", title="Proven savings in whole programs")
    savings: list[float] = []
    longest = 0.0
    for script in sorted(asked.folder.glob("*.py")):
        told, problem, minutes = tuned(script, asked.budget)
        longest = max(longest, minutes)
        if told is None:
            results.add(script.stem, None, "%", note=problem)
            continue
        savings.append(saving(told))
        results.add(script.stem, savings[-1], "%", note=proven(told))
        tried = {one["name"] for one in told["candidates"]}
        for name in asked.without:
            if name in tried:
                other, problem, _ = tuned(script, asked.budget, name)
                share = None if other is None else saving(other)
                results.add(
                    f"{script.stem} without {name}", share, "%", note=problem or proven(other or told)
                )
    worth = sum(share > WORTH for share in savings)
    results.add(f"programs with a proven saving of more than {WORTH:g}%", worth, f"of {len(savings)}")
    results.add("longest tuning", longest, "min", at_most=LONGEST)
    results.write()


if __name__ == "__main__":
    main()
