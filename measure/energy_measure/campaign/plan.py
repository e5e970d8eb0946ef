"""The plan of a campaign: a TOML file that names projects and how to measure them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from energy_data.paths import absolute
from energy_data.untrusted.reading import LARGEST_SOURCE, read_text
from energy_measure.plan_file import read_plan_file, section
from energy_measure.problems import MeasureProblem

MACHINES = ("any", "each")


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """What `[campaign]` may hold, with dashes for underscores."""

    name: str = ""
    """What the campaign is called; default: the plan's file name."""
    repeat: int = 1
    """How often each project is measured: each time is a job of its own."""
    quick: bool = False
    """Short rests and short replays, as `measure --quick`."""
    timeout: float = 0.0
    """Seconds that one run of a program may take; 0: as long as it likes."""
    database: str = ""
    """The merged database, relative to the plan; default: the plan's name with `.db`."""
    meter: str = "auto"
    """The meter on all machines; see `energy-lsp doctor`."""
    machines: str = "any"
    """`any`: each job is measured once, wherever there is room; `each`: once on every machine."""
    retries: int = 10
    """How often a job is tried again whose measurement or worker was killed."""
    projects: str = ""
    """A table of projects (CSV, relative to the plan) with the keys of `[[project]]` as its columns."""


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """What a `[[project]]` may hold, with dashes for underscores."""

    path: str
    """A folder, a script or a notebook, relative to the plan; the same on all machines."""
    entry: tuple[str, ...] = ()
    """Entry points of a folder, each a job of its own; default: one job with those that `measure` finds."""
    arguments: tuple[str, ...] = ()
    """Arguments of the program."""
    python: str = ""
    """The interpreter, or the folder of an environment; default: the project's own."""
    create_env: bool = False
    """Make an environment from `requirements.txt` or `pyproject.toml`, before anything is measured."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of the program."""
    backend: tuple[str, ...] = ()
    """Keras back ends (`tensorflow`, `jax`, `torch`), each a job of its own."""
    name: str = ""
    """What the project is called in tables; default: the folder's name."""
    repeat: int = 0
    """How often, if not as often as the campaign says."""
    timeout: float = 0.0
    """Seconds, if not those of the campaign."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A campaign as somebody wrote it."""

    path: Path
    settings: CampaignSettings
    projects: tuple[ProjectSettings, ...]

    @property
    def folder(self) -> Path:
        """What the plan's paths are relative to."""
        return absolute(self.path).parent

    @property
    def name(self) -> str:
        """What the campaign is called."""
        return self.settings.name or self.path.stem

    @property
    def database(self) -> Path:
        """Where the result goes."""
        return self.folder / (self.settings.database or f"{self.path.stem}.db")

    def place(self, project: ProjectSettings) -> Path:
        """Where a project lies."""
        return self.folder / project.path


def read_plan(path: Path) -> Plan:
    """Read a plan; what is wrong with it is said in one sentence."""
    table = read_plan_file(
        path,
        {"campaign": "[campaign]", "project": "[[project]]"},
        "`energy-lsp campaign find FOLDER` writes one",
    )
    settings = CampaignSettings(**section(path, "[campaign]", table.get("campaign", {}), CampaignSettings))
    _check_settings(path, settings)
    listed = table.get("project", [])
    if not isinstance(listed, list):
        raise MeasureProblem(f"{path}: write [[project]], with two brackets, for each project.")
    projects = [ProjectSettings(**section(path, "[[project]]", one, ProjectSettings)) for one in listed]
    if settings.projects:
        projects += _from_table(absolute(path).parent / settings.projects)
    if not projects:
        raise MeasureProblem(f"{path} names no project; add a [[project]] with its path.")
    return Plan(path, settings, tuple(projects))


def _check_settings(path: Path, settings: CampaignSettings) -> None:
    if settings.repeat < 1:
        raise MeasureProblem(f"{path}: repeat in [campaign] must be 1 or more.")
    if settings.machines not in MACHINES:
        raise MeasureProblem(f'{path}: machines in [campaign] must be "any" or "each".')


def _from_table(path: Path) -> list[ProjectSettings]:
    """Projects out of a CSV file; a cell of a list or of variables is JSON, or a single text."""
    try:
        written = read_text(path, LARGEST_SOURCE)
        rows = list(csv.DictReader(io.StringIO(written, newline="")))
    except (OSError, ValueError, csv.Error) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise MeasureProblem(f"The table {path} cannot be read ({why}); mend it first.") from problem
    found = []
    for number, row in enumerate(rows, 2):
        where = f"line {number}"
        cells = {key: _cell(value) for key, value in row.items() if key and value not in (None, "")}
        found.append(ProjectSettings(**section(path, where, cells, ProjectSettings)))
    return found


def _cell(text: str) -> Any:
    if text[:1] in '[{"0123456789' or text in ("true", "false"):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
