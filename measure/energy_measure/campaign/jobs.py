"""Jobs of a campaign: one measurement each, with a key that says what would make it another one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from energy_data.untrusted.git import ask_git
from energy_data.untrusted.reading import read_source
from energy_measure.campaign.plan import Plan, ProjectSettings
from energy_measure.problems import MeasureProblem
from energy_measure.program.entry_points import notebook_files, python_files
from energy_measure.program.imports import reached_files
from energy_measure.program.requirements import declared_requirements

SOURCES = (".py", ".ipynb")
MOST_SOURCES = 20_000
MOST_JOBS = 50_000
ANY_MACHINE = "any"


@dataclass(frozen=True, slots=True)
class Job:
    """One measurement of one entry point: everything that an attempt needs, as it goes over the wire."""

    key: str
    project: str
    """What it is called in tables."""
    path: str
    entry: str
    arguments: tuple[str, ...]
    python: str
    create_env: bool
    env: Mapping[str, str]
    quick: bool
    timeout: float
    meter: str
    repeat: int
    """Which of the repeats it is, from 1."""
    host: str = ANY_MACHINE
    """The machine that it has to be measured on."""
    backend: str = ""

    @property
    def label(self) -> str:
        """How a person would name it."""
        entry = f"/{self.entry}" if self.entry else ""
        backend = f" on {self.backend}" if self.backend else ""
        host = f" at {self.host}" if self.host != ANY_MACHINE else ""
        return f"{self.project}{entry}{backend}{host} #{self.repeat}"

    def as_message(self) -> dict[str, Any]:
        """The job as JSON has it."""
        return {**asdict(self), "env": dict(self.env)}

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Job:
        """The job of a message."""
        return cls(**{**message, "arguments": tuple(message["arguments"])})


@dataclass(slots=True)
class States:
    """What state of its code each project is in, looked up once."""

    known: dict[Path, str] = field(default_factory=dict)

    def of(self, path: Path) -> str:
        """The commit, and what has changed since; without a repository, what the sources hold."""
        if path not in self.known:
            self.known[path] = _state(path)
        return self.known[path]


def jobs_of(plan: Plan, hosts: Iterable[str] = ()) -> list[Job]:
    """All jobs of a plan, repeats last so that every project is measured once before any is twice.

    `hosts`: the machines that are there, for a plan that wants each project on each of them.
    """
    states = States()
    machines = sorted(set(hosts)) if plan.settings.machines == "each" else [ANY_MACHINE]
    found: dict[str, Job] = {}
    for project in plan.projects:
        for job in _of_project(plan, project, machines, states):
            if job.key in found:
                raise MeasureProblem(
                    f"{plan.path} has {job.label} twice: remove one [[project]], or give it a name of its own."
                )
            found[job.key] = job
            if len(found) > MOST_JOBS:
                raise MeasureProblem(
                    f"{plan.path} has more than {MOST_JOBS:,} jobs: split it into several campaigns."
                )
    return sorted(found.values(), key=lambda job: job.repeat)


def _of_project(
    plan: Plan, project: ProjectSettings, machines: Iterable[str], states: States
) -> Iterator[Job]:
    path = Path(os.path.abspath(plan.place(project)))
    folder = path if path.is_dir() else path.parent
    state, required = states.of(path), _required(folder)
    for machine in machines:
        for entry in project.entry or ("",):
            for backend in project.backend or ("",):
                env = {**project.env, **({"KERAS_BACKEND": backend} if backend else {})}
                for repeat in range(1, (project.repeat or plan.settings.repeat) + 1):
                    job = Job(
                        key="",
                        project=project.name
                        or (path.name if path == folder else f"{folder.name}/{path.name}"),
                        path=str(path),
                        entry=entry,
                        arguments=project.arguments,
                        python=_interpreter(plan, project.python),
                        create_env=project.create_env,
                        env=env,
                        quick=plan.settings.quick,
                        timeout=project.timeout or plan.settings.timeout,
                        meter=plan.settings.meter,
                        repeat=repeat,
                        host=machine,
                        backend=backend,
                    )
                    yield replace(job, key=_key(job, project.path, state, required))


def _interpreter(plan: Plan, named: str) -> str:
    """An interpreter given by a path is relative to the plan; a bare name is looked up where it runs.

    Links are kept: the interpreter of an environment is one.
    """
    return os.path.abspath(plan.folder / named) if os.sep in named else named


def _key(job: Job, named: str, state: str, required: str) -> str:
    """Project, commit, environment, machine and repeat; how hard it is looked at does not make it another job."""
    environment = [job.python, job.create_env and required, sorted(job.env.items()), job.meter]
    parts = [job.project, named, job.entry, job.arguments, state, environment, job.host, job.repeat]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]


def _required(folder: Path) -> str:
    try:
        text = declared_requirements(folder).text
    except MeasureProblem:
        return ""  # making the environment says so
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:20]


def _state(path: Path) -> str:
    """What programs write beside their sources does not make another job of them."""
    folder = path if path.is_dir() else path.parent
    commit = ask_git(folder, "rev-parse", "HEAD")
    if not commit:
        return f"sources {_sources(path)}"
    changed = ask_git(folder, "status", "--porcelain", "--", *(f"*{ending}" for ending in SOURCES))
    return f"{commit}+{_sources(path)}" if changed else commit


def _sources(path: Path) -> str:
    """Of a folder all sources; of a script what it imports, of a notebook the modules beside it."""
    if path.is_dir():
        files = [*python_files(path), *notebook_files(path)][:MOST_SOURCES]
    elif path.suffix == ".ipynb":
        files = [path, *sorted(path.parent.glob("*.py"))]
    else:
        files = reached_files(path)
    return _digest(path if path.is_dir() else path.parent, files)


def _digest(folder: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        try:
            content = read_source(path)
        except OSError:
            continue  # there is none, or it is nothing that a program could be read from
        digest.update(os.path.relpath(path, folder).encode(errors="surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:20]
