"""The runs of one program over time and commits. Only runs of one machine and meter stand in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from energy_data.database.database import Database
from energy_data.database.summaries import program_of
from energy_data.model import Measurement, Run
from energy_data.project_places import place_of

MOST = 200
"""Runs of a history: those before are too old to matter, and each has to be read."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One run in a history."""

    run: Run
    joules: float | None
    """Of the program or of the call; None where the meter could not tell, or the call did not run."""
    count: int = 0
    """How often the call ran."""


def total(run: Run) -> float | None:
    """Net joules of a whole run; None where nobody measured them."""
    return sum(quantity.value for quantity in run.joules.values()) if run.joules else None


def of_run(call: Measurement) -> float | None:
    """Joules of all calls of a site in one run."""
    if not call.resolved:
        return None
    each = sum(quantity.value for quantity in call.joules.values())
    first = 0.0 if call.first_joules is None else max(call.first_joules, 0.0) - each
    return each * call.count + first


def program_name(run: Run) -> str:
    """The program of a run, without the folders it lies in."""
    return PurePath(program_of(run.command)).name


def same_program(one: Run, other: Run) -> bool:
    """Whether two runs are of one program of one project, measured by one machine in one way."""
    return (
        program_of(one.command) == program_of(other.command)
        and _same_project(one, other)
        and (one.machine.label, one.meter) == (other.machine.label, other.meter)
    )


def _same_project(one: Run, other: Run) -> bool:
    """By identity; a project that was measured before its first commit, and so has two, by where it lies."""
    if (one.project_id or one.project) == (other.project_id or other.project):
        return True
    return (place := place_of(one)) is not None and place == place_of(other)


def program_history(run: Run, runs: Iterable[Run]) -> list[Moment]:
    """The finished runs of the run's program, the oldest first."""
    found = [Moment(one, total(one)) for one in runs if same_program(one, run) and one.status == "finished"]
    return found[-MOST:]


def same_call(one: Measurement, other: Measurement) -> bool:
    """The same call as it was then: its text in its function, wherever the lines have moved to."""
    if (one.api, one.file, one.function) != (other.api, other.file, other.function):
        return False
    return one.text == other.text if one.text and other.text else one.line == other.line


def call_history(call: Measurement, runs: Sequence[Moment], database: Database) -> list[Moment]:
    """The same call in each of the runs."""
    found = []
    for moment in runs:
        calls = [one for one in database.measurements(moment.run.id) if same_call(one, call)]
        joules = [value for one in calls if (value := of_run(one)) is not None]
        found.append(Moment(moment.run, sum(joules) if joules else None, sum(one.count for one in calls)))
    return found
