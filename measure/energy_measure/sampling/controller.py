"""Starting samplers, telling them what to follow, and getting what they recorded."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from energy_data.untrusted.writing import stream_into
from energy_measure.meters import Meter, MeterProblem
from energy_measure.sampling.recording import Recording, read_recording
from energy_measure.sampling.sampler import LONGEST_PERIOD, SHORTEST_PERIOD

START_SECONDS = 20.0
STOP_SECONDS = 5.0
READING_SECONDS = 1e-4
"""CPU time that one reading takes with the waking up for it (`benchmarks/overhead/sampler.py`)."""
AFFORDABLE_SHARE = 0.005
"""Of the CPU time of all CPUs together: a program that keeps all of them busy is slowed by as much."""


def suitable_period(meter: Meter, *, closely: bool) -> float:
    """Seconds between two readings: what suits the meter, longer where there are few CPUs to spare for it."""
    affordable = READING_SECONDS / (AFFORDABLE_SHARE * (os.cpu_count() or 1))
    return max(meter.period_s, affordable, 0.0 if closely else meter.far_period_s)


class Sampling:
    """One sampler process per meter, writing into a folder; a context manager that always stops them.

    One process each, because a GPU driver may take milliseconds to answer and must not make the others late.
    """

    def __init__(
        self,
        meters: Sequence[Meter],
        folder: Path,
        *,
        period_s: float | None = None,
        pid: int | None = None,
        closely: bool = False,
    ) -> None:
        """`period_s` for all meters, else the period that suits each; `pid`: the process tree to follow, `closely`
        even if that slows it a little."""
        if period_s is not None and not SHORTEST_PERIOD <= period_s <= LONGEST_PERIOD:
            raise MeterProblem(
                f"A sampling period of {period_s * 1e3:g} ms is not possible; take 1 to 500 ms."
            )
        self.folder = folder
        self._samplers = [
            _SamplerProcess(
                meter,
                folder / f"{meter.name}.trace",
                period_s or suitable_period(meter, closely=closely),
                pid,
                closely=closely,
            )
            for meter in meters
        ]

    def start(self) -> None:
        """Start all samplers; returns when every one has begun to read."""
        self.folder.mkdir(exist_ok=True)
        try:
            for sampler in self._samplers:
                sampler.start()
            for sampler in self._samplers:
                sampler.expect("ready")
        except BaseException:
            self._end()
            raise

    @property
    def pids(self) -> list[int]:
        """The processes that sample."""
        return [sampler.pid for sampler in self._samplers]

    def follow(self, pid: int) -> None:
        """Look at this process tree from now on; returns when the samplers do."""
        for sampler in self._samplers:
            sampler.send(f"follow {pid}")
        for sampler in self._samplers:
            sampler.expect(f"following {pid}")

    def recording(self) -> Recording:
        """What has been recorded up to now; at any time."""
        recording = read_recording([sampler.output for sampler in self._samplers])
        ended = [sampler.complaint() for sampler in self._samplers]
        problems = recording.problems + tuple(sentence for sentence in ended if sentence)
        return Recording(recording.sources, recording.health, problems)

    def stop(self) -> Recording:
        """End the samplers and return everything they recorded."""
        self._end()
        return self.recording()

    def _end(self) -> None:
        for sampler in self._samplers:
            sampler.send("stop")
        for sampler in self._samplers:
            sampler.end()

    def __enter__(self) -> Sampling:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


class _SamplerProcess:
    """The parent's side of one sampler."""

    def __init__(
        self, meter: Meter, output: Path, period_s: float, pid: int | None, *, closely: bool
    ) -> None:
        self.name = meter.name
        self.output = output
        self._errors = output.with_suffix(".stderr")
        self._command = [sys.executable, "-m", "energy_measure.sampling.sampler", meter.name]
        self._command += ["--period", f"{period_s * 1e3:g}", "--output", str(output.absolute())]
        self._command += ["--pid", str(pid)] if pid is not None else []
        self._command += ["--closely"] if closely else []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with stream_into(self._errors) as errors:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                # A folder of our own: modules of the measured project must not be imported by mistake.
                cwd=self.output.parent,
                # Linux shares out busy CPUs among sessions first: work in this terminal does not keep it waiting.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def send(self, command: str) -> None:
        if self._process and self._process.stdin and not self._process.stdin.closed:
            with contextlib.suppress(OSError):
                self._process.stdin.write(command.encode() + b"\n")

    def expect(self, answer: str) -> None:
        """Wait for a line; raise with what the sampler said if it ended instead."""
        assert self._process is not None
        assert self._process.stdout is not None
        handle = self._process.stdout.fileno()
        deadline = time.monotonic() + START_SECONDS
        said = b""
        while answer.encode() + b"\n" not in said:
            if not select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise MeterProblem(f"The sampler of {self.name} did not answer within {START_SECONDS:g} s.")
            data = os.read(handle, 4096)
            if not data:
                self._process.wait()
                raise MeterProblem(self.complaint() or f"The sampler of {self.name} has ended.")
            said += data

    def end(self) -> None:
        """Wait until it has ended, by force if it must be."""
        process = self._process
        if process is None:
            return
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def complaint(self) -> str:
        """Why the sampler ended before it was told to; empty if it did not."""
        status = self._process.poll() if self._process else None
        if not status:
            return ""
        said = self._errors.read_text(errors="replace").strip().splitlines()
        why = said[-1] if said else f"signal {-status}" if status < 0 else f"status {status}"
        return f"The sampler of {self.name} ended early: {why}"
