"""Which run a command is about: by its id, the beginning of one, "latest", or a file that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from energy_data.database.database import Database
from energy_data.model import Run
from energy_data.paths import user_database
from energy_data.problems import Problem
from energy_data.project_places import place_of
from energy_data.untrusted.printable import one_line, storable

LISTED = 10
"""How many runs are named when the wanted one is not there."""


def measured_database(named: Path | None) -> Path:
    """The database with the runs; before the first measurement it says how to make one."""
    path = named or user_database()
    if named is None and not path.exists():
        raise Problem("Nothing has been measured yet: start with `energy-lsp measure PROGRAM.py --quick`.")
    return path


def choose_run(wanted: str, runs: Sequence[Run]) -> Run:
    """The run that is meant."""
    if not runs:
        raise Problem("No run has been measured yet: start with `energy-lsp measure FILE`.")
    if wanted == "latest":
        return runs[-1]
    fitting = [run for run in runs if run.id.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    known = "\n".join(
        f"  {one_line(run.id)}  {one_line(run.started[:16])}  {one_line(run.command)}"
        for run in (fitting or runs)[-LISTED:]
    )
    what = "More than one run begins" if fitting else "No run begins"
    raise Problem(f"{what} with {wanted!r}. The last ones are:\n{known}")


def run_or_file(wanted: str, database: Database) -> Run:
    """The same, where a file stands for the last run in which a call of it was measured."""
    runs = database.runs()
    path = Path(wanted)
    if not path.is_file() or any(run.id.startswith(wanted) for run in runs):
        return choose_run(wanted, runs)
    real = storable(path.resolve().as_posix())
    for run in reversed(runs):
        folder = place_of(run) or Path(run.project)
        for one in database.measurements(run.id):
            if storable((folder / one.file).as_posix()) == real or one.file == real:
                return run
    raise Problem(f"No call of {wanted} has been measured yet: start with `energy-lsp measure {wanted}`.")
