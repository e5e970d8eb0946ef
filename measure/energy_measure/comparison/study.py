"""A study of frameworks: models × frameworks × phases, each pair of programs compared, all tests corrected together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from energy_data.paths import absolute
from energy_measure.comparison.effects import Effects
from energy_measure.comparison.pairs import PAIRS, QUICK_PAIRS, NotResolvedError
from energy_measure.comparison.programs import (
    REST_SECONDS,
    ComparedPrograms,
    ProgramPair,
    compare_programs,
    interpreter,
)
from energy_measure.plan_file import read_plan_file, section
from energy_measure.problems import MeasureProblem
from energy_measure.statistics import holm

FEWEST_PAIRS = 6
INTERRUPTED = "The study was interrupted before it was measured."


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What `[study]` may hold, with dashes for underscores."""

    name: str = ""
    """What the study is called; default: the file's name."""
    pairs: int = 0
    """How many pairs of each two programs; default: 15."""
    quick: bool = False
    """A first look: 6 pairs."""
    rest: float = REST_SECONDS
    """Idle seconds between runs."""
    timeout: float = 0.0
    """Seconds that one run may take; 0: as long as it likes."""
    meter: str = "auto"
    """The meter; see `energy-lsp doctor`."""
    profile: bool = True
    """Also tell the hot functions of each program, from a run under `cProfile` that is not metered."""


@dataclass(frozen=True, slots=True)
class FrameworkSettings:
    """What a `[framework.NAME]` may hold."""

    python: str = ""
    """The interpreter that runs its programs, relative to the file; default: the programs' own."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of its programs."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What a `[[model]]` may hold."""

    name: str
    """What the model is called in tables."""
    programs: Mapping[str, str]
    """Framework → its program, relative to the file."""
    arguments: tuple[str, ...] = ()
    """Arguments of all its programs."""


@dataclass(frozen=True, slots=True)
class Study:
    """A study as somebody wrote it."""

    path: Path
    settings: StudySettings
    frameworks: Mapping[str, FrameworkSettings]
    models: tuple[ModelSettings, ...]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.settings.name or self.path.stem

    @property
    def pairs(self) -> int:
        """How many pairs of each two programs."""
        return self.settings.pairs or (QUICK_PAIRS if self.settings.quick else PAIRS)

    def sides(self) -> list[tuple[ModelSettings, str, str]]:
        """Each model with each two of its frameworks, in the order of the file."""
        return [
            (model, before, after)
            for model in self.models
            for before, after in itertools.combinations(
                [f for f in self.frameworks if f in model.programs], 2
            )
        ]

    def pair(self, model: ModelSettings, before: str, after: str) -> ProgramPair:
        """Two programs as `compare` takes them; what they print is told, not compared."""
        folder = absolute(self.path).parent
        scripts = [folder / model.programs[name] for name in (before, after)]
        for script in scripts:
            if not script.is_file():
                raise MeasureProblem(f"{self.path}: there is no program {script} for the model {model.name}.")
        pythons = [
            interpreter(_python(folder, self.frameworks[name].python), script)
            for name, script in zip((before, after), scripts, strict=True)
        ]
        return ProgramPair(
            scripts[0],
            scripts[1],
            pythons[0],
            model.arguments,
            self.settings.timeout or None,
            outputs="differ",
            after_python=pythons[1],
            before_env=self.frameworks[before].env,
            after_env=self.frameworks[after].env,
            rest_seconds=self.settings.rest,
            profile=self.settings.profile,
        )


@dataclass(frozen=True, slots=True)
class StudyCell:
    """One model with two frameworks, compared; or why it could not be."""

    model: str
    before: str
    after: str
    compared: ComparedPrograms | None
    problem: str = ""


def read_study(path: Path) -> Study:
    """Read a study; what is wrong with it is said in one sentence."""
    table = read_plan_file(
        path,
        {"study": "[study]", "framework": "[framework.NAME]", "model": "[[model]]"},
        "docs/how-to/frameworks.md shows one",
    )
    settings = StudySettings(**section(path, "[study]", table.get("study", {}), StudySettings))
    if settings.pairs and settings.pairs < FEWEST_PAIRS:
        raise MeasureProblem(f"{path}: pairs in [study] must be {FEWEST_PAIRS} or more.")
    frameworks, models = table.get("framework", {}), table.get("model", [])
    if not isinstance(frameworks, dict) or not all(isinstance(one, dict) for one in frameworks.values()):
        raise MeasureProblem(f"{path}: write [framework.NAME] for each framework.")
    if not isinstance(models, list):
        raise MeasureProblem(f"{path}: write [[model]], with two brackets, for each model.")
    study = Study(
        path,
        settings,
        {
            name: FrameworkSettings(**section(path, f"[framework.{name}]", one, FrameworkSettings))
            for name, one in frameworks.items()
        },
        tuple(ModelSettings(**section(path, "[[model]]", one, ModelSettings)) for one in models),
    )
    for model in study.models:
        for name in model.programs:
            if name not in study.frameworks:
                raise MeasureProblem(
                    f"{path}: the model {model.name} has a program for {name}; add [framework.{name}]."
                )
    if not study.sides():
        raise MeasureProblem(f"{path} compares nothing: give a [[model]] programs of two frameworks.")
    return study


def run_study(
    study: Study,
    *,
    progress: Callable[[float, str], None] = lambda part, label: None,
    wait: bool = True,
    on_wait: Callable[[str], None] = lambda sentence: None,
) -> list[StudyCell]:
    """Compare every model with every two of its frameworks; one that cannot be is told, and the others go on.

    Interrupted, it gives what is finished, and says so of the others.
    """
    pairs = [
        (sides, study.pair(*sides)) for sides in study.sides()
    ]  # what is missing is told before anything runs
    cells: list[StudyCell] = []
    for (model, before, after), pair in pairs:

        def tell(done: int, of: int, label: str = f"{model.name}: {before} and {after}") -> None:
            progress((len(cells) + done / of) / len(pairs), f"{label}, {done} of {of} pairs")

        try:
            compared = compare_programs(
                pair,
                pairs=study.pairs,
                meter=study.settings.meter,
                progress=tell,
                wait=wait,
                on_wait=on_wait,
            )
        except (MeasureProblem, NotResolvedError) as problem:
            cells.append(StudyCell(model.name, before, after, None, str(problem)))
        except KeyboardInterrupt:
            left = [sides for sides, _ in pairs[len(cells) :]]
            cells.extend(
                StudyCell(model.name, before, after, None, INTERRUPTED) for model, before, after in left
            )
            break
        else:
            cells.append(StudyCell(model.name, before, after, compared))
    return corrected(cells)


def corrected(cells: Sequence[StudyCell]) -> list[StudyCell]:
    """The same with Holm's correction over all tests of the study, not of each pair alone."""
    known = [cell.compared.effects for cell in cells if cell.compared is not None]
    p_values = iter(holm([effect.p_value for one in known for effect in one.respects]))
    return [
        cell
        if cell.compared is None
        else replace(cell, compared=replace(cell.compared, effects=_with(cell.compared.effects, p_values)))
        for cell in cells
    ]


def _with(found: Effects, p_values: Iterator[float]) -> Effects:
    return replace(found, respects=tuple(replace(one, p_holm=next(p_values)) for one in found.respects))


def _python(folder: Path, asked_for: str) -> str:
    """A path relative to the file, or a command that is found by its name."""
    beside = folder / asked_for
    return str(beside) if asked_for and "/" in asked_for and beside.exists() else asked_for
