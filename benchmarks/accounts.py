"""Where the energy of programs goes: measures every program of a folder once and prints the share of each phase.

    python benchmarks/accounts.py [FOLDER] [--python PYTHON] [--timeout SECONDS]

A program is a script, a notebook, or a folder with a `main.py`. Checked for each: the phases add up to the whole, what
nothing explains stays below 15% (5% in the median), no call draws more than the machine can, the first hotspot of `check`
is the costliest call measured, and `check` sums nothing that this run did not measure.
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

from record import Results

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
    checked: Sequence[dict[str, Any]] = ()
    """What `check` says of the program afterwards."""

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

    @property
    def costliest(self) -> dict[str, Any] | None:
        """The call that took most, as `measure` tells it."""
        calls = [call for call in self.report["calls"] if call["resolved"] and not call["trace_time"]]
        return max(calls, key=lambda call: call["total_joules"], default=None)

    @property
    def hotspots(self) -> list[dict[str, Any]]:
        """In the order that `check` names them in."""
        return [item for item in self.checked if item["rule"] == "hotspot"]

    def ranking(self) -> list[str]:
        """Where `check` and `measure` disagree."""
        found, costliest = [], self.costliest
        first = self.hotspots[0] if self.hotspots else None
        if costliest is not None and (first is None or place_of(first) != place_of(costliest)):
            found.append(f"check names {first and place_of(first)} first, not {place_of(costliest)}")
        measured = {place_of(call) for call in self.report["calls"]}
        found += [
            f"check has a foreign figure for {place_of(item)}"
            for item in self.hotspots
            if place_of(item) not in measured or item["origin"] != "site" or item["times_from"] != "measured"
        ]
        return found

    def problems(self) -> list[str]:
        """What is wrong with the account."""
        found = [] if self.status == 0 else [f"left with status {self.status}"]
        if abs(sum(self.phases.values()) - self.joules) > 1e-9 * max(self.joules, 1e-9):
            found.append("the phases do not add up")
        if self.unexplained > 0.15:
            found.append(f"{self.unexplained:.0%} unexplained")
        return found + self.impossible + self.ranking()


def place_of(call: dict[str, Any]) -> tuple[str, int | None, int, int, str]:
    """Where a call is, in the words of `measure` and `check`, whose files are relative to other folders."""
    return Path(call["file"]).name, call.get("cell"), call["line"], call["column"], call["api"]


def programs_in(folder: Path) -> list[Path]:
    """Scripts, notebooks, and folders with a `main.py`."""
    found = [path for path in sorted(folder.iterdir()) if path.suffix in (".py", ".ipynb")]
    return found + [path / "main.py" for path in sorted(folder.iterdir()) if (path / "main.py").is_file()]


def measure(program: Path, database: Path, options: Sequence[str] = ()) -> Account:
    """Measure a program once."""
    with tempfile.TemporaryFile() as errors:
        command = [sys.executable, "-m", "energy_lsp", "measure", str(program), "--quick", "--format", "json"]
        done = subprocess.run(
            [*command, "--inside", "off", "--db", str(database), *options],
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    name = program.parent.name if program.name == "main.py" else program.name
    report = json.loads(done.stdout) if done.stdout else {}
    checked = check(program, database) if report else []
    return Account(name, report, done.returncode, text, checked)


def check(program: Path, database: Path) -> list[dict[str, Any]]:
    """What `check` says of a program: of its folder, if it is one of several files."""
    named = "." if program.name == "main.py" else program.name
    command = [sys.executable, "-m", "energy_lsp", "check", named, "--format", "json", "--db", str(database)]
    done = subprocess.run([*command, "--hotspots", "3"], cwd=program.parent, capture_output=True, timeout=300)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=PROGRAMS)
    parser.add_argument("--python", help="interpreter that runs the programs")
    parser.add_argument(
        "--timeout", default=300, help="longest that a program may take; its account is partial then"
    )
    chosen = parser.parse_args()
    names: list[str] = []
    shares: list[float] = []
    sound = unmeasured = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in programs_in(chosen.folder):
            options = ["--timeout", str(chosen.timeout)]
            options += ["--python", chosen.python] if chosen.python else []
            account = measure(program, Path(folder) / "accounts.db", options)
            if not account.report:
                print(
                    f"{program.name:24} not measured: {account.errors.strip().splitlines()[-1:]}", flush=True
                )
                unmeasured += 1
                continue
            if not names:
                names = list(account.phases)
                print(f"{'program':24} {'joules':>8} " + " ".join(f"{name[:9]:>9}" for name in names))
            shares.append(account.unexplained)
            sound += not account.problems()
            parts = " ".join(f"{joules / account.joules:>9.1%}" for joules in account.phases.values())
            print(
                f"{account.name[:24]:24} {account.joules:8.2f} {parts}  {'; '.join(account.problems())}",
                flush=True,
            )
    if shares:
        print(
            f"unexplained: median {statistics.median(shares):.1%}, most {max(shares):.1%} of {len(shares)} programs"
        )
        results = Results("accounts", topic="Measuring", title=f"Accounts of {len(shares)} programs")
        results.add("unexplained, median program", statistics.median(shares) * 100, "%", at_most=5)
        results.add("unexplained, worst program", max(shares) * 100, "%", at_most=15)
        results.add("accounts without a fault", sound, "programs", at_least=len(shares))
        results.add("not measured", unmeasured, "programs", note="what they need is not installed")
        if chosen.folder == PROGRAMS:
            results.write()


if __name__ == "__main__":
    main()
