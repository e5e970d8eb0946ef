"""Measures a script, a notebook or a project: finds what to run, runs it repeatedly, keeps the results."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from energy_data.model import Machine
from energy_data.paths import absolute
from energy_data.untrusted.writing import stream_into
from energy_measure.host.lock import HostLock, host_lock
from energy_measure.machine.describe import describe
from energy_measure.meters import Meter, choose
from energy_measure.meters.cpu_time import set_active_watts
from energy_measure.problems import MeasureProblem
from energy_measure.program.call_sites import Instrumented
from energy_measure.program.interpreters import Interpreter
from energy_measure.program.process import command_line
from energy_measure.request import MeasureRequest
from energy_measure.session.measured import Interrupted, Measured, MeasuredRun, Progress, Tell
from energy_measure.session.preparing import entries_of, instrumented_program, interpreter_for
from energy_measure.session.work import Work
from energy_measure.storage import database_path

__all__ = ["Interrupted", "Measured", "MeasuredRun", "Progress", "Tell", "measure"]


def measure(
    request: MeasureRequest,
    tell: Tell,
    *,
    announce: Callable[[str], None] = lambda line: None,
    wait: bool = True,
    lock: HostLock | None = None,
) -> MeasuredRun:
    """Measure what was asked for; raises `MeasureProblem` or `MeterProblem` before anything runs.

    `announce` is told what will run, before it does, and whom it waits for. Without `wait`, a host where somebody
    measures already is a `MeasureProblem`. `lock`: the host's lock, where the caller holds it.
    """
    options = request.options
    if not request.path.exists():
        raise MeasureProblem(f"There is no {request.path}; give a script, a notebook or a project folder.")
    if not request.path.is_dir() and not request.path.is_file():
        raise MeasureProblem(
            f"{request.path} is not a regular file; give a script, a notebook or a project folder."
        )
    set_active_watts(options.active_watts)
    meters = choose(options.meter)
    folder = request.path if request.path.is_dir() else absolute(request.path).parent
    if request.create_env:
        tell(Progress("making an environment for the project, unless it is there", 0.0, None))
    with _nobody_measuring(request, lock, announce):
        python = interpreter_for(request, folder)
    tell(Progress("reading the program", 0.0, None))
    entries = entries_of(request)
    instrumented = instrumented_program(request, entries)
    announce(f"Running with Python {'.'.join(map(str, python.version))} at {python.path}:")
    for entry in entries:
        announce(f"  {command_line(entry, options.arguments, keep=request.keep_arguments)}")
    with ExitStack() as stack:
        if lock is None:
            work = f"measuring {request.path.name}"
            lock = stack.enter_context(host_lock(work, wait=wait, on_wait=announce))
        return _measured(request, tell, python, meters, entries, instrumented, lock)


@contextmanager
def _nobody_measuring(
    request: MeasureRequest, lock: HostLock | None, announce: Callable[[str], None]
) -> Iterator[None]:
    """Building an environment would disturb who measures on this host: the lock is shared while that lasts."""
    if lock is not None or not request.create_env:
        yield
    else:
        with host_lock("building an environment", shared=True, on_wait=announce):
            yield


def _measured(
    request: MeasureRequest,
    tell: Tell,
    python: Interpreter,
    meters: Sequence[Meter],
    entries: Sequence[Path],
    instrumented: Instrumented,
    lock: HostLock,
) -> MeasuredRun:
    measured = MeasuredRun(
        meter="+".join(meter.name for meter in meters),
        estimated=any(meter.estimated for meter in meters),
        machine=_machine(meters),
        database=database_path(request.database),
    )
    with _outputs(request) as (output, errors):
        work = Work(request, python, meters, measured, tell, len(entries), output, errors, lock)
        for entry in entries:
            work.measure(entry, instrumented)
    return measured


def _machine(meters: Sequence[Meter]) -> Machine:
    with ExitStack() as stack:
        return describe([stack.enter_context(meter) for meter in meters])


@contextmanager
def _outputs(request: MeasureRequest) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """What the program prints goes to the file asked for, else to standard error."""
    sys.stderr.flush()
    with ExitStack() as stack:
        errors = stack.enter_context(os.fdopen(os.dup(2), "wb"))
        if request.program_output is None:
            yield errors, errors
        else:
            try:
                output = stream_into(request.program_output)
            except OSError as problem:
                raise MeasureProblem(
                    f"{request.program_output} cannot be written ({problem.strerror}): name another file with "
                    "--program-output."
                ) from problem
            yield stack.enter_context(output), errors
