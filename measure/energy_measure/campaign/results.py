"""What a campaign has so far, in a folder beside its database, so that the same command goes on where it ended.

Each finished job is a database of its own, put in place by a link that never replaces another: whatever is tried twice, one
of them counts. Merging is a transaction that adds what is not there yet, so that it may be cut short and done again.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy_data.database.database import Database
from energy_data.exchange.interchange import merge
from energy_data.problems import Problem
from energy_data.untrusted.reading import MEGABYTE, read_text
from energy_data.untrusted.writing import create, private_folder, write_file
from energy_measure.campaign.jobs import Job
from energy_measure.campaign.plan import Plan
from energy_measure.host.file_lock import LockFileError, open_lock_file, try_lock
from energy_measure.problems import MeasureProblem

NOT_TRIED = "It was not tried yet."


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What became of a job."""

    job: Job
    host: str = ""
    failure: str = ""
    """Why it is not in the result; empty if it is."""
    problems: tuple[str, ...] = ()
    """What a reader of its figures should know."""
    runs: tuple[str, ...] = ()
    """The runs in the database that it gave."""

    @property
    def measured(self) -> bool:
        """Whether it is in the result."""
        return not self.failure


class CampaignResults:
    """The folder of a campaign."""

    def __init__(self, plan: Plan) -> None:
        self.database = plan.database
        self.folder = plan.database.with_name(f"{plan.database.stem}.campaign")
        self.jobs = self.folder / "jobs"
        self._merged: set[str] = set()

    @contextmanager
    def opened(self) -> Iterator[CampaignResults]:
        """For one client at a time."""
        try:
            private_folder(self.jobs)
            private_folder(self.database.parent)
        except OSError as problem:
            raise MeasureProblem(
                f"{self.folder} cannot be made ({problem.strerror}); name another database in the plan."
            ) from problem
        with _alone(self.folder / "client.lock", self.folder):
            for part in self.jobs.glob("*.part"):  # of a client that was killed while it wrote
                part.unlink(missing_ok=True)
            self._merged = self._read_merged()
            yield self

    def campaign(self) -> str:
        """The campaign's own name on the hosts that keep what it finished; made at the first start."""
        path = self.folder / "id"
        if not path.exists():
            write_file(path, uuid.uuid4().hex[:16], private=True)
        return read_text(path, MEGABYTE).strip()

    def finished(self, job: Job) -> bool:
        """Whether the job has been measured."""
        return self._path(job.key).exists()

    def keep(self, key: str, content: bytes) -> None:
        """Keep the database of a finished job; one that is there already stays."""
        part = self.jobs / f"{key}.{uuid.uuid4().hex}.part"
        try:
            with os.fdopen(create(part), "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(part, self._path(key))
        finally:
            part.unlink(missing_ok=True)

    def note(self, outcome: JobOutcome) -> None:
        """Keep what was said of a job, for the table of a later start."""
        said = {
            "job": outcome.job.label,
            "host": outcome.host,
            "failure": outcome.failure,
            "problems": outcome.problems,
            "noted": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        }
        write_file(self.jobs / f"{outcome.job.key}.json", json.dumps(said), private=True)

    def outcome(self, job: Job) -> JobOutcome:
        """What is known of a job."""
        said: Mapping[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            said = json.loads(read_text(self.jobs / f"{job.key}.json", MEGABYTE))
        failure = "" if self.finished(job) else str(said.get("failure") or NOT_TRIED)
        runs = () if failure else self._runs(job)
        return JobOutcome(job, str(said.get("host", "")), failure, tuple(said.get("problems", ())), runs)

    def _runs(self, job: Job) -> tuple[str, ...]:
        with Database.read(self._path(job.key)) as database:
            return tuple(run.id for run in database.runs())

    def merge(self, jobs: Iterable[Job]) -> None:
        """Put the finished jobs of these into the campaign's database, each once."""
        waiting = [job for job in jobs if job.key not in self._merged and self.finished(job)]
        if not waiting and self.database.exists():
            return
        with Database.open(self.database) as database:
            for job in waiting:
                try:
                    merge(database, self._path(job.key))
                except Problem as problem:
                    raise MeasureProblem(
                        f"What {job.label} gave cannot be merged ({problem}); remove {self._path(job.key)} and start "
                        "the campaign again."
                    ) from problem
                self._merged.add(job.key)
        # Written after the transaction: what is missing here is merged again, which adds nothing.
        write_file(self.folder / "merged.json", json.dumps(sorted(self._merged)), private=True)

    def _read_merged(self) -> set[str]:
        if not self.database.exists():
            return set()  # somebody took the result away: make it again
        try:
            return set(json.loads(read_text(self.folder / "merged.json", 100 * MEGABYTE)))
        except (OSError, ValueError):
            return set()

    def _path(self, key: str) -> Path:
        return self.jobs / f"{key}.db"


@contextmanager
def _alone(path: Path, folder: Path) -> Iterator[None]:
    try:
        descriptor = open_lock_file(path)
    except LockFileError as problem:
        raise MeasureProblem(f"The lock {problem}; name another database in the plan.") from problem
    try:
        if not try_lock(descriptor):
            raise MeasureProblem(f"Another client is at work on {folder}; wait for it, or end it.")
        yield
    finally:
        os.close(descriptor)
