"""One attempt at a job, as a process of its own: it ends when the worker that started it does.

    python -m energy_measure.campaign.attempt FOLDER

The job is the first line of standard input, as JSON; the pipe then stays open for as long as the attempt is wanted.
FOLDER keeps finished jobs: `KEY.db` appears there whole, by a link that never replaces another, so that of two attempts at
a job the first to finish is the one that counts. What it is at goes to standard output as lines of JSON (`under_way`), what
came of it as the last of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import sys
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from energy_data.problems import Problem
from energy_data.untrusted.writing import private_folder
from energy_measure.campaign.jobs import Job
from energy_measure.host.lock import HostLock, host_lock, host_name
from energy_measure.host.parent import INTERRUPTED, end_with_standard_input

Tell = Callable[[str], None]


def main() -> None:
    """Attempt the job that stands on standard input."""
    folder = Path(sys.argv[1])
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints does not get among the result

    def write(line: Mapping[str, Any]) -> None:
        result.write(json.dumps(line) + "\n")
        result.flush()

    def tell(sentence: str) -> None:
        write({"under_way": sentence})

    message = json.loads(_first_line())
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)
    end_with_standard_input()
    try:
        if "prepare" in message:
            outcome = prepare(message, tell)
        else:
            outcome = attempt(Job.from_message(message), folder, tell)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Problem as problem:
        outcome = {"failure": _for_a_plan(str(problem))}
    write({"host": host_name(), **outcome})


def attempt(job: Job, folder: Path, tell: Tell) -> dict[str, Any]:
    """Measure a job unless this host has done so; what there is to say of it."""
    finished = folder / f"{job.key}.db"
    with host_lock(f"{job.label} of a campaign", on_wait=tell) as held:
        if finished.exists():
            return {"database": str(finished), "again": True}
        tell("being measured.")
        private_folder(folder)
        unfinished = folder / f"{job.key}.{uuid.uuid4().hex}.part"
        try:
            outcome = measure_job(job, unfinished, held)
            if unfinished.exists() and not outcome.get("failure"):
                _one_file(unfinished)
                with contextlib.suppress(FileExistsError):
                    os.link(unfinished, finished)
                outcome["database"] = str(finished)
            return outcome
        finally:
            for left in folder.glob(f"{unfinished.name}*"):
                left.unlink(missing_ok=True)


def measure_job(job: Job, database: Path, lock: HostLock) -> dict[str, Any]:
    """Measure into a database of the job's own."""
    # Slow to import: an attempt that finds its job done does without.
    from energy_data.exchange.sharing import shared_text
    from energy_measure.program.process import without_values
    from energy_measure.request import MeasureRequest, project_root, read_options
    from energy_measure.session import Interrupted, measure

    os.environ.update(job.env)
    place = Path(job.path)
    project = project_root(place)
    path = place
    if not place.is_dir():  # a script finds its files as if it had been started in its own folder
        os.chdir(place.parent)
        path = Path(place.name)
    options = read_options(
        project,
        entry=(job.entry,) if job.entry else (),
        python=job.python or None,
        repeat=1,
        meter=job.meter,
        quick=job.quick or None,
        timeout=job.timeout or None,
        arguments=job.arguments,
    )
    request = MeasureRequest(path, project, options, create_env=job.create_env, database=database)
    try:
        measured = measure(request, lambda progress: None, announce=_say, lock=lock)
    except Interrupted:  # whatever it had is not the job
        raise KeyboardInterrupt from None
    why = without_values(
        " ".join(measured.reasons), job.arguments
    )  # pages and tables of a campaign are shared
    return {
        "failure": shared_text(why, str(project)),
        "killed": any(program.killed for program in measured.programs),
        "problems": measured.problems,
        "meter": measured.meter,
        "estimated": measured.estimated,
        "runs": len(measured.known),
    }


def _one_file(database: Path) -> None:
    """Without a log beside it, so that its bytes are all there is."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def prepare(message: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Make an environment ahead, while nothing is being measured on this host."""
    # making environments is loaded where one is made
    from energy_measure.program.interpreters import create_environment

    path = Path(message["prepare"])
    folder = path if path.is_dir() else path.parent
    with host_lock("building an environment", shared=True, on_wait=tell):
        return {"python": str(create_environment(folder, message["python"], announce=tell))}


def _for_a_plan(problem: str) -> str:
    """What `measure` has as options, a plan has as keys."""
    return re.sub(r"--(python|entry|timeout|meter|create-env)\b", r"`\1` in the plan", problem)


def _first_line() -> str:
    """Byte by byte: what stands behind the line is for the watch on the pipe."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line.decode()


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
