"""Measuring from the editor: `energy-lsp measure` as a process of its own, with progress and cancel.

This is the only place where the user's program runs, only because somebody asked for it, and the client is
told the command before it starts.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types

from energy_data.untrusted.printable import one_line, visible
from energy_data.untrusted.writing import write_file
from energy_lsp.features.programs.failed_run import place_of_failure, sentence
from energy_lsp.features.programs.measure_choice import MeasureChoice, shown
from energy_lsp.features.refusal import refused
from energy_lsp.presentation.notation.units import duration, marked, whole
from energy_lsp.workspace.folders import Folder
from energy_lsp.workspace.settings import SECTION
from energy_measure.host.processes import KILL, kill_group, signal_group
from energy_measure.problems import MeasureProblem

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer

logger = logging.getLogger(__name__)

RUN_COMMAND_LINE = "import sys; sys.path[:1] = []; from energy_lsp.cli import main; main()"
"""Without the working folder on the path: a `click.py` of the project must not be imported."""

FAILED, INTERRUPTED = 1, 130
LAST_WORDS = 5
MOST_LINES = 20_000
"""Lines of what a program prints that are kept."""
LEFT_SECONDS = 3.0
"""How long the last words of a process that has ended may take."""

AS_SETTINGS = {
    "--python": f"{SECTION}.measurePython",
    "--create-env": f"--create-env in {SECTION}.measureArguments",
}
"""What the command line's advice is called in an editor."""


OUTPUT = "program-output.txt"
"""What a program printed while it was measured last, in the server's own folder."""


def register(server: EnergyServer) -> None:
    """Nothing is left running behind a server that ends."""
    server.on_end.append(partial(stop_all, server))


class Finished(NamedTuple):
    """What a command printed, what came on standard error beside progress, and how it ended."""

    output: bytes
    complaint: str
    code: int


async def measure(
    ls: EnergyServer, target: Path, argument: Mapping[str, Any], token: types.ProgressToken | None
) -> dict[str, Any]:
    """Measure and return what the client shows. Raises MeasureProblem."""
    choice = MeasureChoice.of(argument)
    done = await run_under_progress(ls, target, choice.command, f"Measuring {target.name}", token)
    printed = ls.scratch() / OUTPUT
    write_file(printed, done.complaint, private=True)
    name = ", ".join(choice.entries) or target.name
    return _result(done, name, ls.folders.of(target).root, printed.as_uri())


def said_of(measured: Mapping[str, Any], in_calls: str, kind: str) -> str:
    """One sentence at the end of a measurement: the whole run, and what of it the status item of the file shows."""
    if measured["status"] != "finished":
        return str(measured["problem"])
    how = "Estimated" if measured["estimated"] else "Measured"
    joules, mark = measured["joules"], "≈ " if measured["estimated"] else ""
    energy = "less than the meter can tell" if joules is None else f"{mark}{whole(joules)} for the whole run"
    time = "" if measured["seconds"] is None else f" in {duration(measured['seconds'])}"
    part = f", {in_calls} of it in the calls of this {kind}" if in_calls else ""
    return f"{how} here: {energy}{time} ({measured['meter']}){part}."


async def run_under_progress(
    ls: EnergyServer,
    target: Path,
    command: Callable[[Folder, Path], list[str]],
    title: str,
    token: types.ProgressToken | None,
    *,
    patience: float = 0.0,
    cwd: Path | None = None,
) -> Finished:
    """What one of our commands that runs the user's program prints. Raises MeasureProblem.

    `patience`: seconds that it has after a cancel to print what it knows; without, cancelling is a problem.
    """
    if not ls.folders.trusted:
        raise MeasureProblem(
            "This workspace is restricted: trust it before measuring, as measuring runs its code."
        )
    if ls.measurement is not None:
        raise MeasureProblem("A measurement is running already: wait for it or cancel it.")
    folder = ls.folders.of(target)
    arguments = command(folder, target)
    ls.window_log_message(
        types.LogMessageParams(types.MessageType.Info, f"Running {visible(shown(arguments))}")
    )
    about_to_run = f"runs {_within(folder.root, target)}; the log has the whole command"
    progress = await WorkDoneProgress.begin(ls, token, title, about_to_run)
    ls.measurement = progress
    ls.set_state("measuring")
    try:
        return await _run(cwd or folder.root, arguments, progress, patience)
    finally:
        ls.measurement = None
        ls.set_state("ready")
        progress.end()


def _within(root: Path, target: Path) -> str:
    """What is run, as people call it."""
    inside = target.relative_to(root) if target.is_relative_to(root) else target
    return f"the programs in {root.name}" if inside == Path() else str(inside)


async def _run(root: Path, arguments: list[str], progress: WorkDoneProgress, patience: float) -> Finished:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        RUN_COMMAND_LINE,
        *arguments,
        cwd=root,
        stdin=asyncio.subprocess.PIPE,  # closes with this server, however it ends, and ends the measurement
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        limit=1 << 26,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    reading = asyncio.ensure_future(_outcome(process, progress))
    cancelled = asyncio.ensure_future(progress.cancelled.wait())
    both: list[asyncio.Future[Any]] = [reading, cancelled]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not reading.done() and patience:
            signal_group(process.pid, signal.SIGINT)
            await asyncio.wait([reading], timeout=patience)
        if not reading.done() or (cancelled.done() and not reading.result().output):
            raise MeasureProblem("Measuring was cancelled.")
        done = reading.result()
    finally:
        cancelled.cancel()
        await _end(process)
        reading.cancel()
    if done.code in (0, FAILED, INTERRUPTED) and (done.output or done.code == 0):
        return done
    last_words = "\n".join(done.complaint.splitlines()[-LAST_WORDS:])
    raise MeasureProblem(
        _for_editors(last_words) or f"`energy-lsp {arguments[0]}` ended with code {done.code}; see the log."
    )


async def _outcome(process: asyncio.subprocess.Process, progress: WorkDoneProgress) -> Finished:
    """What the process printed, complained about and left with.

    Something that the program left behind may hold the streams open: nobody waits for it.
    """
    assert process.stdout is not None
    assert process.stderr is not None
    printed = asyncio.ensure_future(process.stdout.read())
    complained = asyncio.ensure_future(_follow(process.stderr, progress))
    try:
        while process.returncode is None and not (printed.done() and complained.done()):
            await asyncio.wait([printed, complained], timeout=0.1)
        await asyncio.wait([printed, complained], timeout=LEFT_SECONDS)
        while process.returncode is None:
            await asyncio.sleep(0.01)
        return Finished(
            printed.result() if printed.done() else b"",
            complained.result() if complained.done() else "",
            process.returncode,
        )
    finally:
        printed.cancel()
        complained.cancel()


def _for_editors(complaint: str) -> str:
    for option, setting in AS_SETTINGS.items():
        complaint = complaint.replace(option, setting)
    return complaint


def _result(done: Finished, name: str, root: Path, printed: str) -> dict[str, Any]:
    """What the contract with clients promises, out of what the command printed."""
    try:
        report = json.loads(done.output)
        program, status = report["program"], report["status"]
        place = None if status == "finished" else place_of_failure(done.complaint, root)
        return {
            "run": report.get("run", ""),
            "meter": report["meter"],
            "estimated": report["estimated"],
            "joules": program["joules"],
            "seconds": program["seconds"],
            "text": "" if program["joules"] is None else marked(program["joules"], report["estimated"]),
            "status": status,
            "problem": "" if status == "finished" else sentence(name, status, report["error"], place),
            "place": {"uri": place.file.as_uri(), "line": place.line - 1} if place is not None else None,
            "output": printed,
        }
    except (ValueError, KeyError, TypeError) as problem:
        raise MeasureProblem(f"`energy-lsp measure` printed no usable result ({problem}).") from problem


async def command_line(*arguments: str) -> bytes:
    """What one of our own commands prints that runs nothing of the project; its complaint becomes the answer."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        RUN_COMMAND_LINE,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        raise refused(complaint.decode("utf-8", "replace").strip() or f"energy-lsp {arguments[0]} failed.")
    return output


async def _follow(stream: asyncio.StreamReader, progress: WorkDoneProgress) -> str:
    """Pass progress on; what is no progress is what the command complained about."""
    complaints: deque[str] = deque(maxlen=MOST_LINES)
    while line := await stream.readline():
        text = line.decode("utf-8", "replace").rstrip()
        try:
            step = json.loads(text)
            progress.report(str(step.get("message", "")), step.get("percentage"))
        except (ValueError, AttributeError):
            logger.info("measure: %s", text)
            complaints.append(text)
    return "\n".join(complaints)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process and all it started, kindly first."""
    for sign, patience in ((signal.SIGINT, 5.0), (signal.SIGTERM, 2.0), (KILL, 5.0)):
        if process.returncode is not None:
            break
        signal_group(process.pid, sign)
        try:
            await asyncio.wait_for(process.wait(), patience)
        except asyncio.TimeoutError:
            logger.info("measure: did not end on signal %d", sign)
    kill_group(process.pid)


async def stop_all(ls: EnergyServer) -> None:
    """End what is being measured; nothing is left behind when the server ends."""
    while ls.measurement is not None:
        ls.measurement.cancelled.set()
        await asyncio.sleep(0.02)


class WorkDoneProgress:
    """Work-done progress, under the client's own token or one that the server makes."""

    def __init__(self, ls: EnergyServer, token: types.ProgressToken | None) -> None:
        self._ls = ls
        self.token = token
        self.cancelled = asyncio.Event()

    @classmethod
    async def begin(
        cls, ls: EnergyServer, token: types.ProgressToken | None, title: str, message: str
    ) -> WorkDoneProgress:
        """Show the progress, with a way to cancel it."""
        if token is None and ls.client.progress:
            token = str(uuid.uuid4())
            await ls.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token))
        progress = cls(ls, token)
        progress._send(
            types.WorkDoneProgressBegin(
                one_line(title), cancellable=True, message=one_line(message), percentage=0
            )
        )
        return progress

    def report(self, message: str, percentage: float | None) -> None:
        """One step further."""
        share = None if percentage is None else max(0, min(100, int(percentage)))
        self._send(
            types.WorkDoneProgressReport(message=one_line(message), percentage=share, cancellable=True)
        )

    def end(self) -> None:
        """Take the progress away."""
        self._send(types.WorkDoneProgressEnd())

    def _send(self, value: Any) -> None:
        if self.token is not None:
            self._ls.progress(types.ProgressParams(self.token, value))
