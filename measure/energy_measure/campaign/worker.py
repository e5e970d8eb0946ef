"""What Dask's workers run: each task starts a process for one attempt and stands by it.

The attempt holds a pipe to this worker, so a worker that is killed takes its measurement with it. A task that nobody wants
any more (its client is gone, the campaign was cancelled) ends its attempt as well: Dask itself cannot stop a running task.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from energy_data.untrusted.reading import LARGEST_DATABASE, open_bytes, read_bytes
from energy_measure.campaign.jobs import Job
from energy_measure.host.lock import host_name

LOOK_SECONDS = 0.5
END_SECONDS = 20.0
LAST_WORDS = 2000
MOST_SAID = 65536
KEEP_SECONDS = 30 * 86400.0
"""How long a host keeps finished jobs that no client came back for."""


Tell = Callable[[str], None]


class MeasurementKilled(Exception):  # noqa: N818 - what happened, not a fault of ours
    """The measurement was killed from outside: Dask tries the task again."""


class Unwanted(Exception):  # noqa: N818
    """Nobody waits for this task any more."""


def prepare_environment(path: str, python: str, campaign: str) -> dict[str, Any]:
    """Task: make a project's environment on this host; never raises, so that jobs can say what went wrong."""
    try:
        return _attempt({"prepare": path, "python": python}, campaign, Path(path).name)
    except MeasurementKilled as killed:
        return {"host": host_name(), "failure": f"Making its environment was killed ({killed})."}


def run_job(
    job: Mapping[str, Any], campaign: str, prepared: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Task: measure a job; the result holds the database itself, since hosts need not share a disk."""
    here = host_name()
    for environment in prepared:
        if environment.get("failure") and environment.get("host") == here:
            return {"key": job["key"], "host": here, "failure": environment["failure"]}
    outcome = _attempt(job, campaign, Job.from_message(job).label)
    if outcome.get("killed"):
        raise MeasurementKilled(outcome["failure"])
    database = outcome.pop("database", None)
    if database is not None:
        outcome["content"] = read_bytes(Path(database), LARGEST_DATABASE)
    return {"key": job["key"], **outcome}


def forget(campaign: str, keys: Sequence[str]) -> None:
    """On every worker, when a client has what these jobs gave: the host need not keep it any longer."""
    folder = finished_folder(campaign)
    for key in keys:
        (folder / f"{key}.db").unlink(missing_ok=True)
    try:
        folder.rmdir()
    except OSError:
        return  # others are still there, or it never was


def topic_of(campaign: str) -> str:
    """Dask's topic on which workers say what they are at: an environment may take minutes, a lock hours."""
    return f"energy-lsp-{campaign}"


def finished_folder(campaign: str) -> Path:
    """Where this host keeps finished jobs of a campaign until their client has them."""
    import platformdirs

    cache = Path(platformdirs.user_cache_dir("energy-lsp", appauthor=False)) / "campaigns"
    _drop_old(cache)
    # Simulated hosts share a disk, but no more than that.
    return cache / f"{campaign}-{host_name().replace(os.sep, '_').replace(':', '-')}"


def _drop_old(cache: Path) -> None:
    for old in cache.glob("*/*.db"):
        try:
            if time.time() - old.stat().st_mtime > KEEP_SECONDS:
                old.unlink()
        except OSError:
            continue


def _attempt(message: Mapping[str, Any], campaign: str, label: str) -> dict[str, Any]:
    with (
        tempfile.NamedTemporaryFile() as output,
        open_bytes(Path(output.name)) as answers,
        tempfile.TemporaryFile() as errors,
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "energy_measure.campaign.attempt", str(finished_folder(campaign))],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(dict(message)).encode() + b"\n")
            process.stdin.flush()
            status = _wait(process, answers, _teller(campaign, label))
        except BrokenPipeError:
            status = process.wait()
        finally:
            _end(process)
        said = _tail(errors)
        answers.seek(0)
        lines = answers.read().splitlines()
    if status == 0 and lines:
        outcome: dict[str, Any] = json.loads(lines[-1])
        if outcome.get("failure"):
            outcome["failure"] = _in_full(outcome["failure"], said)
        return {**outcome, "said": said}
    if status < 0 or status == 130:
        name = signal.Signals(-status).name if status < 0 else "an interrupt"
        raise MeasurementKilled(f"ended by {name}")
    last = said.strip().splitlines()[-1:] or ["it said nothing"]
    return {
        "host": host_name(),
        "failure": f"The measurement ended with status {status}: {last[0]}",
        "said": said,
    }


def _in_full(failure: str, said: str) -> str:
    """A failure that points to what was printed before it, with the words that matter: nobody sees them otherwise."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")] or lines
    return failure.replace("(see above)", f"({errors[-1]})" if errors else "").replace("  ", " ")


def _wait(process: subprocess.Popen[bytes], answers: IO[bytes], tell: Tell) -> int:
    """Until the attempt has ended; what it says on the way is passed on."""
    wanted = _wanted_check()
    heard = 0
    while True:
        try:
            return process.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if not wanted():
                raise Unwanted("nobody waits for this job any more") from None
        answers.seek(heard)
        said, newline, _ = answers.read(MOST_SAID).rpartition(b"\n")
        heard += len(said) + len(newline)
        for line in said.splitlines():
            if under_way := json.loads(line).get("under_way"):
                tell(under_way)


def _teller(campaign: str, label: str) -> Tell:
    """A function that tells whoever follows the campaign; nobody has to."""
    from distributed import get_worker

    worker = get_worker()
    return lambda sentence: worker.log_event(topic_of(campaign), f"{label} at {host_name()}: {sentence}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the pipe, upon which the attempt ends in good order; then make sure."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wanted_check() -> Callable[[], bool]:
    """A function that says whether the scheduler still wants the task that runs in this thread."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        closing = str(worker.status) in ("Status.closing", "Status.closed")
        return task is not None and task.state not in ("cancelled", "released") and not closing

    return wanted


def _tail(stream: IO[bytes]) -> str:
    stream.seek(0, os.SEEK_END)
    stream.seek(max(0, stream.tell() - LAST_WORDS))
    return stream.read().decode(errors="replace")
