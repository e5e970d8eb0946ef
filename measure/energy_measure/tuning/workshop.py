"""Copies of a project to try changes on; the project itself is never run and never written to."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from energy_code.rule_engine.context import Edit
from energy_measure.comparison.windows import MeteredWindow
from energy_measure.host.processes import KILL, children_cpu_seconds, kill_group, limit_cpu, was_killed
from energy_measure.problems import MeasureProblem
from energy_measure.program.entry_points import SKIPPED_FOLDERS
from energy_measure.tuning.candidate import Source, edited

MOST_BYTES = 1 << 30
HOOKS = Path(__file__).parents[1] / "injected" / "seeded_run.py"
_USAGE = 2


@dataclass(frozen=True, slots=True)
class Version:
    """The program with some changes."""

    edits: Mapping[str, Sequence[Edit]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of a version did."""

    window: MeteredWindow
    output: bytes
    metrics: tuple[float, ...]
    """What `fit` and `evaluate` gave, in their order; empty where nobody looked."""
    status: int
    error: str
    cpu_seconds: float = 0.0
    named: Mapping[str, float] = field(default_factory=dict)
    """The last of each metric."""

    @property
    def seconds(self) -> float:
        """By the clock."""
        return (self.window.end_ns - self.window.start_ns) * 1e-9


class Workshop:
    """A project, the entry point to run, and a fresh copy for each run. A context manager: copies go at the end."""

    def __init__(
        self, root: Path, entry: Path, python: Path, arguments: Sequence[str], sources: Sequence[Source]
    ) -> None:
        self.root, self.python, self.arguments = root.resolve(), python, tuple(arguments)
        self.entry = entry.resolve().relative_to(self.root)
        here = Path.cwd()
        # As a person runs it: from the folder they are in, where that belongs to the project, else from the program's.
        inside = here.relative_to(self.root) if here.is_relative_to(self.root) else self.entry.parent
        self._folder_of_run = inside
        self._texts = {source.name: source.text for source in sources}
        self._files = _files(self.root)
        self._before = self._state()
        self._folder = tempfile.TemporaryDirectory(prefix="energy-lsp-tune-", ignore_cleanup_errors=True)

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *problem: object) -> None:
        self._folder.cleanup()

    def run(
        self,
        version: Version,
        *,
        seed: int | None = None,
        timeout: float | None = None,
        cpu_seconds: float | None = None,
    ) -> Outcome:
        """Run a version once, in a copy of its own; it is stopped after so much time by the clock, or of a CPU."""
        copy = Path(tempfile.mkdtemp(dir=self._folder.name)) / self.root.name
        try:
            self._copy(copy, version)
            return self._run(copy, version, seed, timeout, cpu_seconds)
        finally:
            shutil.rmtree(copy.parent, ignore_errors=True)

    def text(self, name: str) -> bytes:
        """A file of the program as it is."""
        return self._texts[name]

    def untouched(self) -> bool:
        """Whether every file of the project is as it was before the first run."""
        return self._state() == self._before

    def _copy(self, copy: Path, version: Version) -> None:
        for name in self._files:
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / name, target)
        for name, edits in version.edits.items():
            (copy / name).write_bytes(edited(self._texts[name], edits))

    def _run(
        self, copy: Path, version: Version, seed: int | None, timeout: float | None, cpu_seconds: float | None
    ) -> Outcome:
        noted = copy.parent / "metrics.txt"
        hooks = [str(HOOKS), "-" if seed is None else str(seed), str(noted)]
        command = [
            str(self.python),
            *hooks,
            os.path.relpath(self.entry, self._folder_of_run),
            *self.arguments,
        ]
        environment = {**os.environ, **version.environment, "PYTHONDONTWRITEBYTECODE": "1"}
        if seed is not None:
            environment["PYTHONHASHSEED"] = str(seed)
        before = children_cpu_seconds()
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            started = time.monotonic_ns()
            process = subprocess.Popen(
                command,
                cwd=copy / self._folder_of_run,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
            try:
                if cpu_seconds is not None:
                    limit_cpu(process.pid, cpu_seconds)
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                status = -KILL
            finally:
                kill_group(process.pid)
                process.wait()
            window = MeteredWindow(started, time.monotonic_ns())
            cpu = children_cpu_seconds() - before
            output.seek(0)
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            metrics = _metrics(noted)
            return Outcome(
                window,
                output.read(),
                tuple(number for _, number in metrics),
                status,
                said[-1] if said else "",
                cpu,
                dict(metrics),
            )

    def _state(self) -> str:
        digest = hashlib.sha256()
        for name in _files(self.root):
            digest.update(name.encode(errors="surrogateescape"))
            digest.update(hashlib.sha256((self.root / name).read_bytes()).digest())
        return digest.hexdigest()


def stopped(outcome: Outcome, entry: Path) -> str:
    """Why a run did not come to its end, with what to do; empty when it did."""
    if outcome.status == 0:
        return ""
    if "EOFError" in outcome.error:
        return f"{entry} asks for input, which nobody can type here: give it what it needs after `--`."
    if outcome.status == _USAGE:
        return f"{entry} wants other arguments ({outcome.error}): give them after `--`."
    if was_killed(outcome.status):
        return f"{entry} was stopped: one run takes too long. Give it less to do after `--`, or --budget more minutes."
    return f"{entry} ended with status {outcome.status} ({outcome.error}): make it run by itself first."


def _files(root: Path) -> list[str]:
    """The regular files of a project, without what tools and environments have left."""
    found: list[str] = []
    size = 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED_FOLDERS
            and not name.startswith(".")
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
        )
        for name in sorted(files):
            path = Path(folder, name)
            with suppress(OSError):
                about = path.stat()
                if stat.S_ISREG(about.st_mode):
                    found.append(path.relative_to(root).as_posix())
                    size += about.st_size
            if size > MOST_BYTES:
                raise MeasureProblem(
                    f"{root} holds more than 1 GiB, and each trial runs on a copy of it: name a folder with the "
                    "program alone by --project."
                )
    return found


def _metrics(noted: Path) -> list[tuple[str, float]]:
    try:
        pairs = [line.partition(" ") for line in noted.read_text(encoding="utf-8").splitlines()]
        return [(name, float(number)) for number, _, name in pairs]
    except (OSError, ValueError):
        return []
