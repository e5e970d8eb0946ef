"""Programs to run with and without the probe, and interpreters to run them with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from energy_code.workspace.project import Project
from energy_data.database.database import Database
from energy_measure.attribution.events import Events
from energy_measure.attribution.firsts import selected
from energy_measure.program.call_sites import CallSite, Instrumented
from energy_measure.program.entry_points import python_files
from energy_measure.program.process import ProgramProcess

HERE = Path(__file__).parent
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


def interpreter(version: str) -> Path | None:
    """An interpreter of that version: this one, or one that is installed beside it."""
    if "{}.{}".format(*sys.version_info) == version:
        return Path(sys.executable)
    for folder in sorted(Path(sys.base_prefix).parent.glob(f"{version}*")):
        if re.fullmatch(rf"{re.escape(version)}(\.\d+)?", folder.name):
            python = folder / "bin" / "python"
            if python.exists():
                return python
    return None


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest) -> Path:
    """Each Python that a project may use."""
    found = interpreter(request.param)
    if found is None:
        pytest.skip(f"Python {request.param} is not installed beside this one")
    return found


@dataclass(frozen=True)
class Outcome:
    """What a program did, as somebody who started it sees it."""

    status: int
    output: str
    errors: str


@dataclass(frozen=True)
class Probed:
    """The same, with what the probe recorded."""

    outcome: Outcome
    events: Events
    sites: Sequence[CallSite]
    folder: Path
    windows: Sequence[Mapping[str, object]]

    def count(self, api: str) -> int:
        """How often an API was called."""
        numbers = [number for number, site in enumerate(self.sites) if site.api == api]
        return int(sum(self.events.count[self.events.site == number].sum() for number in numbers))


class Bench:
    """A project folder with a stand-in for TensorFlow on its path."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        package = folder / "packages" / "tensorflow"
        package.mkdir(parents=True)
        (package / "__init__.py").write_bytes((HERE / "standin.py").read_bytes())
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "80",
        }
        self._runs = folder / "runs"
        self._runs.mkdir()

    def write(self, others: Mapping[str, str] | None = None, **files: str) -> None:
        """Files of the project by path, or by name: `write(main=...)` makes `main.py`."""
        named = {f"{name}.py": text for name, text in files.items()}
        for name, text in {**named, **(others or {})}.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")

    def plain(self, python: Path, entry: str, *arguments: str) -> Outcome:
        """Run as anybody would."""
        done = subprocess.run(
            [str(python), entry, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def instrument(self, entry: str) -> Instrumented:
        """All files of the project with probes."""
        project = Project(self.project)
        instrumented = Instrumented()
        if entry.endswith(".ipynb"):
            instrumented.add_notebook(self.project / entry, project, self.project)
        for path in python_files(self.project):
            instrumented.add_file(path, project, self.project)
        assert not instrumented.problems
        return instrumented

    def probed(
        self,
        python: Path,
        entry: str,
        *arguments: str,
        gpu: bool = False,
        marking: bool = False,
        replay: Mapping[int, float] | None = None,
    ) -> Probed:
        """Run with the probe."""
        instrumented = self.instrument(entry)
        folder = self._runs / str(len(list(self._runs.iterdir())))
        folder.mkdir()
        before = dict(os.environ)
        os.environ.update(self.environment)
        try:
            with (folder / "out").open("wb") as output, (folder / "err").open("wb") as errors:
                program = ProgramProcess(
                    python,
                    instrumented.specification(
                        Path(entry), self.project, arguments, gpu=gpu, marking=marking
                    ),
                    folder,
                    cwd=self.project,
                    output=output,
                    errors=errors,
                )
        finally:
            os.environ.clear()
            os.environ.update(before)
        with program:
            program.wait_until_ready()
            program.run(60, lambda seconds: None)
            plan = {"sites": dict(replay or {}), "windows": 2, "rest": 0.01, "settle": 0.01, "stagger": 0.001}
            windows = program.replay(plan, 30) if replay else []
            status = program.finish()
        outcome = Outcome(status, (folder / "out").read_text(), (folder / "err").read_text())
        events = Events.read(folder)
        calls, _ = selected(events, [], events.site < len(instrumented.sites))
        return Probed(outcome, calls, instrumented.sites, folder, windows)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """An empty project."""
    return Bench(tmp_path)


@pytest.fixture
def same(bench: Bench) -> Callable[..., Probed]:
    """Runs a program with and without the probe, and makes sure that nobody could tell the difference."""

    def run(python: Path, entry: str = "main.py", *arguments: str) -> Probed:
        plain = bench.plain(python, entry, *arguments)
        probed = bench.probed(python, entry, *arguments)
        assert probed.outcome == plain
        return probed

    return run


class Command:
    """The command in a project with the stand-in, and a database of its own."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.database = bench.project.parent / "energy.db"

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[str]:
        line = "import sys; sys.path[:1] = []; from energy_lsp.cli import main; main()"
        return subprocess.Popen(
            [sys.executable, "-c", line, "measure", *arguments],
            cwd=self.bench.project,
            env={**self.bench.environment, "ENERGY_LSP_DB": str(self.database)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        output, errors = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def runs(self) -> Sequence[Any]:
        if not self.database.exists():
            return []
        with Database.read(self.database) as database:
            return database.runs()


@pytest.fixture
def command(bench: Bench) -> Command:
    return Command(bench)
