"""What a benchmark found, as JSON in `benchmarks/results/`; `tools/build_benchmarks.py` makes the README from it.

    results = Results("speed/lookup", topic="Database", title="Look-up for a hover")
    results.add("first look-up at a call site", 38.8, "µs", at_most=50)
    results.add("the same in plain sqlite3", 14.4, "µs")  # for comparison: no goal
    results.write()

A file holds one run: its figures with their goals, the machine and how busy it was, the date, the commit, the command.
Running a benchmark again replaces the file; commit it when the figures are to stand.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent
FOLDER = BENCHMARKS / "results"
TOPICS = (
    "Reader",
    "Server",
    "Rules",
    "Measuring",
    "Inside a model",
    "Prediction",
    "Database",
    "Scale",
    "Editor",
)
"""The tables of the README, in their order."""


@dataclass(frozen=True)
class Figure:
    """One number; a goal is `at_most`, `at_least`, both or none."""

    name: str
    value: float | None
    """None where the run gave none; `note` says why."""
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""
    detail: bool = False
    """Kept in the file; the page has it only where it misses its goal."""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if self.at_most is None and self.at_least is None:
            return None
        if self.value is None:
            return False
        above = self.at_least is not None and self.value < self.at_least
        return not above and not (self.at_most is not None and self.value > self.at_most)


@dataclass
class Results:
    """The figures of one run of one benchmark."""

    benchmark: str
    """The script's path below `benchmarks/` without its ending; also the file's below `results/`."""
    topic: str
    title: str
    part: str = ""
    """Which part of a benchmark that is run in several ways; a file of its own."""
    figures: list[Figure] = field(default_factory=list)
    load: float = field(default_factory=lambda: load_now())
    """How busy the machine was when the run began."""
    meter: str = ""
    """What joules were read from, where figures are such: `rapl`, `cpu-time, estimated`."""

    def __post_init__(self) -> None:
        if self.topic not in TOPICS:
            raise ValueError(f"{self.topic!r} is no topic: take one of {', '.join(TOPICS)}, or add it there.")

    def add(
        self,
        name: str,
        value: float | None,
        unit: str = "",
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        note: str = "",
        detail: bool = False,
    ) -> None:
        """Keep a figure; units as a reader writes them (`ms`, `%`, `× ast.parse`, `MB`)."""
        kept = None if value is None else float(f"{value:.4g}")  # more digits are not known
        self.figures.append(Figure(name, kept, unit, at_most, at_least, note, detail))

    def write(self, folder: Path = FOLDER) -> Path:
        """Write the file and say where it is."""
        path = folder / f"{'-'.join(filter(None, (self.benchmark, self.part)))}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "benchmark": self.benchmark,
            "topic": self.topic,
            "title": self.title,
            "command": command_line(),
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "commit": commit(),
            "machine": {**machine(), "load": self.load, **({"meter": self.meter} if self.meter else {})},
            "figures": [
                {
                    name: value
                    for name, value in asdict(figure).items()
                    if name == "value" or (value not in (None, "") and value is not False)  # a goal may be 0
                }
                for figure in self.figures
            ],
        }
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
        print(f"figures written to {path}", file=sys.stderr)
        return path


def load_now() -> float:
    """How many processes wanted a processor in the last minute."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


def machine() -> dict[str, object]:
    """What a figure depends on; no name of the host or of a person."""
    return {
        "cpu": cpu_name(),
        "cpus": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def cpu_name() -> str:
    """The processor as it calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str:
    """The commit that was measured, with a + where files had been changed since."""
    try:
        name = subprocess.run(
            ["git", "describe", "--always", "--dirty=+", "--abbrev=9", "--exclude=*"],
            cwd=BENCHMARKS,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name.stdout.strip()


def command_line() -> str:
    """The command as somebody would type it: folders outside of the repository are not named."""
    arguments = ["PATH" if argument.startswith(("/", "..")) else argument for argument in sys.argv[1:]]
    script = Path(sys.argv[0]).resolve()
    name = script.relative_to(BENCHMARKS) if script.is_relative_to(BENCHMARKS) else script.name
    return " ".join(["python", f"benchmarks/{name}", *map(shlex.quote, arguments)])
