"""Where the energy of programs goes: measures every program of a folder once and prints the share of each phase.

    python benchmarks/accounts.py [FOLDER] [--python PYTHON]

A program is a script, a notebook, or a folder with a `main.py`. Checked for each: the phases add up to the whole, what
nothing explains stays below 15% (5% in the median), no call draws more than the machine can.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parents[1] / "tests" / "accounts" / "programs"
WATTS = 2.76
"""Of one busy CPU where energy is estimated."""


@dataclass(frozen=True)
class Account:
    """What was measured of one program."""

    name: str
    report: dict[str, Any]
    status: int
    errors: str

    @property
    def phases(self) -> dict[str, float]:
        """Joules by phase."""
        return {phase["name"]: phase["joules"] for phase in self.report["program"]["phases"]}

    @property
    def joules(self) -> float:
        """Of the whole program."""
        return float(self.report["program"]["joules"])

    @property
    def unexplained(self) -> float:
        """Share of the whole that no phase explains."""
        return abs(self.phases["unexplained"]) / self.joules

    @property
    def impossible(self) -> list[str]:
        """Calls that draw more than all CPUs can, where that is estimated."""
        most = float(os.environ.get("ENERGY_LSP_ACTIVE_WATTS") or WATTS) * (os.cpu_count() or 1) * 1.001
        return [
            f"{call['api']} line {call['line']}: {call['total_joules'] / call['seconds']:.2f} W"
            for call in self.report["calls"]
            if self.report["estimated"]
            and call["resolved"]
            and call["seconds"]
            and call["method"] == "in place"
            and call["total_joules"] > most * call["seconds"]
        ]

    def problems(self) -> list[str]:
        """What is wrong with the account."""
        found = [] if self.status == 0 else [f"left with status {self.status}"]
        if abs(sum(self.phases.values()) - self.joules) > 1e-6 * max(self.joules, 1e-9):
            found.append("the phases do not add up")
        if self.unexplained > 0.15:
            found.append(f"{self.unexplained:.0%} unexplained")
        return found + self.impossible


def programs_in(folder: Path) -> list[Path]:
    """Scripts, notebooks, and folders with a `main.py`."""
    found = [path for path in sorted(folder.iterdir()) if path.suffix in (".py", ".ipynb")]
    return found + [path / "main.py" for path in sorted(folder.iterdir()) if (path / "main.py").is_file()]


def measure(program: Path, database: Path, options: Sequence[str] = ()) -> Account:
    """Measure a program once."""
    with tempfile.TemporaryFile() as errors:
        command = [sys.executable, "-m", "energy_lsp", "measure", str(program), "--quick", "--format", "json"]
        done = subprocess.run(
            [*command, "--inside", "off", "--project", str(program.parent), "--db", str(database), *options],
            stdout=subprocess.PIPE,
            stderr=errors,
            timeout=600,
        )
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    name = program.parent.name if program.name == "main.py" else program.name
    return Account(name, json.loads(done.stdout) if done.stdout else {}, done.returncode, text)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=PROGRAMS)
    parser.add_argument("--python", help="interpreter that runs the programs")
    chosen = parser.parse_args()
    names: list[str] = []
    shares: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for program in programs_in(chosen.folder):
            options = ["--python", chosen.python] if chosen.python else []
            account = measure(program, Path(folder) / "accounts.db", options)
            if not account.report:
                print(
                    f"{program.name:24} not measured: {account.errors.strip().splitlines()[-1:]}", flush=True
                )
                continue
            if not names:
                names = list(account.phases)
                print(f"{'program':24} {'joules':>8} " + " ".join(f"{name[:9]:>9}" for name in names))
            shares.append(account.unexplained)
            parts = " ".join(f"{joules / account.joules:>9.1%}" for joules in account.phases.values())
            print(
                f"{account.name[:24]:24} {account.joules:8.2f} {parts}  {'; '.join(account.problems())}",
                flush=True,
            )
    if shares:
        print(
            f"unexplained: median {statistics.median(shares):.1%}, most {max(shares):.1%} of {len(shares)} programs"
        )


if __name__ == "__main__":
    main()
