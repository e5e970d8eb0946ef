"""Copies of a project to try changes on; the project itself is never run and never written to."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from energy_code.rule_engine.context import Edit
from energy_measure.comparison.windows import MeteredWindow
from energy_measure.host.processes import KILL, children_cpu_seconds, limit_cpu, was_killed
from energy_measure.problems import MeasureProblem
from energy_measure.program.entry_points import SKIPPED_FOLDERS
from energy_measure.program.guarded import Guarded
from energy_measure.tuning.candidate import ProgramFile, edited
from energy_measure.tuning.written import Written

MOST_BYTES = 1 << 30
HOOKS = Path(__file__).parents[1] / "injected" / "seeded_run.py"
_USAGE = 2
_PLACE = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
REMIND_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Version:
    """The program with some changes."""

    edits: Mapping[str, Sequence[Edit]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VersionRun:
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
    written: bytes = b""
    """What it left in files of the project, as text."""
    refused: str = ""
    """A file of the original that it wanted to change, by its absolute path."""

    @property
    def results(self) -> bytes:
        """All that can be compared as text."""
        return self.output + self.written

    @property
    def seconds(self) -> float:
        """By the clock."""
        return (self.window.end_ns - self.window.start_ns) * 1e-9


class Workshop:
    """A project, the entry point to run, and a fresh copy for each run. A context manager: copies go at the end."""

    def __init__(
        self,
        root: Path,
        entry: Path,
        python: Path,
        arguments: Sequence[str],
        sources: Sequence[ProgramFile],
        own: Iterable[Path] = (),
    ) -> None:
        """`own`: files that tuning itself may write meanwhile, wherever they are."""
        self.root, self.python, self.arguments = root.resolve(), python, tuple(arguments)
        self.entry = entry.resolve().relative_to(self.root)
        here = Path.cwd()
        # As a person runs it: from the folder they are in, where that belongs to the project, else from the program's.
        inside = here.relative_to(self.root) if here.is_relative_to(self.root) else self.entry.parent
        self._folder_of_run = inside
        self._texts = {source.name: source.text for source in sources}
        self._files = _files(self.root)
        self._own = {_identity(path) for path in own}
        self._before = self._state()
        self._folder = tempfile.TemporaryDirectory(prefix="energy-lsp-tune-", ignore_cleanup_errors=True)
        self._pattern = Path(self._folder.name) / "original"

    def __enter__(self) -> Workshop:
        """Every run begins with the project as it is now, whatever becomes of it meanwhile."""
        try:
            _copy(self.root, self._files, self._pattern)
        except OSError as problem:
            self._folder.cleanup()
            raise MeasureProblem(
                f"{problem.filename} cannot be copied ({problem.strerror}), and each trial runs on a copy of "
                f"{self.root}: mend that, or name a folder with the program alone by --project."
            ) from problem
        except BaseException:
            self._folder.cleanup()
            raise
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
        remind: Callable[[], None] = lambda: None,
    ) -> VersionRun:
        """Run a version once, in a copy of its own; it is stopped after so much time by the clock, or of a CPU.

        `remind` is called every now and then meanwhile.
        """
        copy = Path(tempfile.mkdtemp(dir=self._folder.name)) / self.root.name
        try:
            _copy(self._pattern, self._files, copy)
            for name, text in self._texts.items():
                if name in version.edits or name.endswith(
                    ".ipynb"
                ):  # Python runs a notebook's cells as a script
                    (copy / name).write_bytes(edited(text, version.edits.get(name, ())))
            written = Written(copy, _files(copy))
            outcome = self._run(copy, version, seed, timeout, cpu_seconds, remind)
            return replace(outcome, written=written.text(_files(copy)))
        finally:
            shutil.rmtree(copy.parent, ignore_errors=True)

    def text(self, name: str) -> bytes:
        """A file of the program as it is."""
        return self._texts[name]

    def changed(self) -> list[str]:
        """Files of the project that are not as they were before the first run, are new or gone."""
        now = self._state()
        return sorted(name for name in {*now, *self._before} if now.get(name) != self._before.get(name))

    def untouched(self) -> bool:
        """Whether every file of the project is as it was before the first run."""
        return not self.changed()

    def _run(
        self,
        copy: Path,
        version: Version,
        seed: int | None,
        timeout: float | None,
        cpu_seconds: float | None,
        remind: Callable[[], None],
    ) -> VersionRun:
        noted, refused = copy.parent / "metrics.txt", copy.parent / "refused.txt"
        hooks = [str(HOOKS), "-" if seed is None else str(seed), str(noted), str(self.root), str(refused)]
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
            guarded = Guarded(
                command,
                cwd=copy / self._folder_of_run,
                env=environment,
                stdout=output,
                stderr=errors,
                folders=(Path(self._folder.name),),
            )
            with guarded as process:
                if cpu_seconds is not None:
                    limit_cpu(process.pid, cpu_seconds)
                try:
                    status = _wait(process, timeout, remind)
                except subprocess.TimeoutExpired:
                    status = -KILL
            window = MeteredWindow(guarded.started, guarded.ended)
            cpu = children_cpu_seconds() - before
            output.seek(0)
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            metrics = _metrics(noted)
            return VersionRun(
                window,
                output.read(),
                tuple(number for _, number in metrics),
                status,
                _last_words(said, copy),
                cpu,
                dict(metrics),
                refused=_first_line(refused),
            )

    def _state(self) -> dict[str, bytes]:
        found = {}
        for name in _files(self.root):
            with suppress(OSError):
                path = self.root / name
                if _identity(path) not in self._own:
                    found[name] = hashlib.sha256(path.read_bytes()).digest()
        return found


def own_files(*paths: Path | None) -> list[Path]:
    """Files that a command writes to while it runs: some of its own, and where its output was sent."""
    given = [one for path in paths if path is not None for one in (path, *path.parent.glob(f"{path.name}-*"))]
    return [*given, Path("/dev/stdout"), Path("/dev/stderr")]


def _identity(path: Path) -> tuple[int, int] | str:
    """Of the file itself, by whatever name; of one that is not there yet its name."""
    try:
        about = path.stat()
        return about.st_dev, about.st_ino
    except OSError:
        return str(path.absolute())


def _wait(process: Guarded, timeout: float | None, remind: Callable[[], None]) -> int:
    end = time.monotonic() + timeout if timeout is not None else float("inf")
    while True:
        left = end - time.monotonic()
        try:
            return process.wait(max(0.0, min(left, REMIND_SECONDS)))
        except subprocess.TimeoutExpired:
            if left <= REMIND_SECONDS:
                raise
            remind()


def stopped(outcome: VersionRun, entry: Path) -> str:
    """Why a run did not come to its end, with what to do; empty when it did."""
    if outcome.refused:
        return (
            f"{entry} writes to {outcome.refused}, in the original, by an absolute path, and was stopped there: let it "
            "write to a relative path, which is tried on copies."
        )
    if outcome.status == 0:
        return ""
    if "EOFError" in outcome.error:
        return f"{entry} asks for input, which nobody can type here: give it what it needs after `--`."
    said = f" ({outcome.error})" if outcome.error else ""
    if outcome.status == _USAGE:
        return f"{entry} wants other arguments{said}: give them after `--`."
    if was_killed(outcome.status):
        return f"{entry} was stopped: one run takes too long. Give it less to do after `--`, or --budget more minutes."
    if outcome.status < 0:
        name = signal.strsignal(-outcome.status) or "unknown"
        return f"{entry} crashed: {name} (signal {-outcome.status}){said}. Make it run by itself first."
    return f"{entry} ended with status {outcome.status}{said}: make it run by itself first."


def _last_words(said: Sequence[str], copy: Path) -> str:
    """The last line of what a program complained about, with the last place in its own files."""
    if not said:
        return ""
    for line in reversed(said):
        if place := _PLACE.match(line):
            path = Path(place["file"])
            name = path.relative_to(copy).as_posix() if path.is_relative_to(copy) else place["file"]
            if not Path(name).is_absolute() and not name.startswith("<"):
                return f"{name}:{place['line']}: {said[-1]}"
    return said[-1]


def _first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    except OSError:
        return ""


def _copy(root: Path, names: Iterable[str], copy: Path) -> None:
    for name in names:
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target)


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
