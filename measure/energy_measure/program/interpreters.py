"""Which interpreter runs the project: the one asked for, the project's own, or the active one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from energy_data.paths import absolute
from energy_data.untrusted.writing import private_folder, stream_into, write_file
from energy_measure.host.file_lock import locked_file
from energy_measure.problems import MeasureProblem
from energy_measure.program.guarded import Guarded
from energy_measure.program.requirements import Requirements, declared_requirements

OLDEST = (3, 8)
_POETRY = Path(__file__).with_name("poetry_requirements.py")

_QUESTION = """
import importlib.util, json, sys
has = [importlib.util.find_spec(name) is not None for name in ("tensorflow", "keras")]
print(json.dumps([list(sys.version_info[:3]), *has]))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can run the project."""

    path: Path
    version: tuple[int, int, int]
    has_tensorflow: bool
    has_keras: bool = False
    """Keras may do without TensorFlow: on JAX or PyTorch."""

    @property
    def can_measure(self) -> bool:
        """Whether it has anything whose calls are measured."""
        return self.has_tensorflow or self.has_keras


def find_interpreter(
    folder: Path, project: Path, asked_for: str = "", *, creates: bool = True
) -> Interpreter:
    """The interpreter for a program in `folder`; raises `MeasureProblem` if it cannot run TensorFlow.

    `creates`: whether the command has `--create-env`, which the advice then names.
    """
    if asked_for:
        return _usable(_named(asked_for), creates)
    for place in (folder, *folder.parents):
        own = python_of(place / ".venv")
        if own.exists():
            return _usable(own, creates)
        if place == project:
            break
    candidates = list(_active())
    for candidate in candidates:
        found = inspect_interpreter(candidate)
        if found is not None and found.can_measure and found.version >= OLDEST:
            return found
    return _usable(candidates[0], creates)


def python_of(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def inspect_interpreter(path: Path) -> Interpreter | None:
    """What an interpreter is; None if it does not answer."""
    try:
        answer = subprocess.run(
            [str(path), "-c", _QUESTION], capture_output=True, text=True, timeout=60, cwd=path.parent
        )
        version, has_tensorflow, *has_keras = json.loads(answer.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return Interpreter(path, (version[0], version[1], version[2]), has_tensorflow, any(has_keras))


def create_environment(
    project: Path, base: str = "", *, announce: Callable[[str], None] = lambda sentence: None
) -> Path:
    """A virtual environment with what the project requires, made once and kept until that changes.

    `announce` is told when one has to be made.
    """
    requirements = declared_requirements(project)
    python = _named(base) if base else Path(sys.executable)
    folder = environment_folder(project, python, requirements.text)
    private_folder(folder.parent)
    with locked_file(folder.with_suffix(".lock")):  # two projects may come for it at the same time
        if not (folder / "complete").exists():
            announce("making its environment; that may take minutes.")
            _make(project, python, folder, requirements)
        return python_of(folder)


def _make(project: Path, python: Path, folder: Path, requirements: Requirements) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    install = (str(python_of(folder)), "-m", "pip", "install", "--quiet")
    try:
        _run([str(python), "-m", "venv", str(folder)], project)
        arguments = requirements.arguments
        if not arguments:
            _run([*install, "poetry-core"], project)
            listed = folder / "requirements.txt"
            ask = [str(python_of(folder)), str(_POETRY), str(absolute(project))]
            with stream_into(listed) as stream:
                _run(ask, project, output=stream.fileno())
            arguments = ("-r", str(listed))
        _run([*install, *arguments], project)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    write_file(folder / "complete", requirements.text, private=True)


def environment_folder(project: Path, python: Path, requirements: str) -> Path:
    """Where the environment for these requirements is kept."""
    key = hashlib.sha256(
        json.dumps([str(project.resolve()), os.path.realpath(python), requirements]).encode()
    )
    cache = Path(platformdirs.user_cache_dir("energy-lsp", appauthor=False))
    return cache / "environments" / key.hexdigest()[:16]


def _run(command: list[str], project: Path, output: int | None = None) -> None:
    shown = sys.stderr.fileno()
    with Guarded(command, stdout=output or shown, stderr=shown, cwd=project) as process:
        status = process.wait()
    if status:
        raise MeasureProblem(
            f"Making an environment for {project} failed at `{' '.join(command[1:4])}` (see above); "
            "mend its requirements or give an interpreter with --python."
        )


def _named(text: str) -> Path:
    found = shutil.which(text) or (text if Path(text).is_file() else None)
    if found is None and Path(text).is_dir() and python_of(Path(text)).exists():
        found = str(python_of(Path(text)))
    if found is None:
        raise MeasureProblem(f"There is no interpreter {text}; give --python the path of one.")
    return Path(os.path.abspath(found))


def _active() -> Iterator[Path]:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if os.environ.get(variable):
            active = python_of(Path(os.environ[variable]))
            if active.exists():
                yield active
    yield Path(sys.executable)
    for name in ("python3", "python"):
        on_path = shutil.which(name)
        if on_path:
            yield Path(on_path)


def _usable(path: Path, creates: bool) -> Interpreter:
    found = inspect_interpreter(path)
    if found is None:
        raise MeasureProblem(
            f"{path} does not run as Python 3.8 or newer; give --python the path of one that does."
        )
    if found.version < OLDEST:
        number = ".".join(map(str, found.version))
        raise MeasureProblem(f"{path} is Python {number}; measuring needs Python 3.8 or newer.")
    if not found.can_measure:
        advice = (
            ", install it there, or let --create-env make an environment."
            if creates
            else " or install it there."
        )
        raise MeasureProblem(
            f"Neither TensorFlow nor Keras is installed for {path}; "
            f"name an interpreter that has it with --python{advice}"
        )
    return found
