"""The sampler: a process of its own that reads one meter at fixed times and writes what it saw.

    python -m energy_measure.sampling.sampler METER --period MS --output FILE [--pid PID] [--closely]

It is started and steered by `energy_measure.sampling.controller`. Commands come in on stdin, one a line: `follow PID`,
`stop`; the end of stdin, or of the parent, ends it too. Answers go out on stdout, one a line.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import select
import signal
import sys
import time
from pathlib import Path

from energy_measure import meters
from energy_measure.host.processes import be_urgent
from energy_measure.sampling.trace_file import UNCERTAIN_NS, Header, TraceWriter

SHORTEST_PERIOD, LONGEST_PERIOD = 1e-3, 0.5
ATTEMPTS = 10
"""For a reading that nobody can do without: the first and the last. One that was interrupted does not count."""
_PR_SET_TIMERSLACK = 29


class Sampler:
    """Reads at start, start + period, start + 2 × period and so on.

    A reading that cannot be taken in its period is left out, not postponed. The number of the tick is written
    with every reading, so that whoever reads the trace sees each gap and how late each reading was.
    """

    def __init__(self, meter: meters.Meter, output: Path, period_ns: int) -> None:
        self.meter = meter
        self.period_ns = period_ns
        self.start_ns = time.monotonic_ns()
        header = Header(meter.name, meter.estimated, period_ns, self.start_ns, tuple(meter.sources))
        self.writer = TraceWriter(output, header)
        self._noted = 0

    def run(self, control: int) -> None:
        """Until told to stop or left alone; says that it is ready after the first reading."""
        parent = os.getppid()
        tick = 0
        running = True
        while running and os.getppid() == parent:
            self._read(tick, ATTEMPTS if tick == 0 else 1)
            if tick == 0:
                print("ready", flush=True)
            tick = max(tick + 1, (time.monotonic_ns() - self.start_ns) // self.period_ns + 1)
            running = self._wait(self.start_ns + tick * self.period_ns, control)
        if running:
            return
        last = (time.monotonic_ns() - self.start_ns) // self.period_ns
        self._read(max(last, tick), ATTEMPTS)

    def _read(self, tick: int, attempts: int = 1) -> None:
        """Write a reading; of several attempts the first that was not interrupted."""
        quickest = 0
        for _ in range(attempts):
            before = time.monotonic_ns()
            values = self.meter.read()
            after = time.monotonic_ns()
            if after - before <= quickest + UNCERTAIN_NS:
                break
            quickest = min(quickest or after - before, after - before)
        self.writer.add(tick, (before + after) // 2, after - before, time.process_time_ns() // 1000, values)
        for sentence in self.meter.problems[self._noted :]:
            self.writer.note(sentence)
            self._noted += 1

    def _wait(self, deadline_ns: int, control: int) -> bool:
        """Sleep until the deadline, obeying commands meanwhile; False to stop."""
        while (left := deadline_ns - time.monotonic_ns()) > 0:
            if select.select([control], [], [], left / 1e9)[0] and not self._obey(control):
                return False
        return True

    def _obey(self, control: int) -> bool:
        lines = os.read(control, 4096).decode().split("\n")
        for line in lines:
            word, _, argument = line.partition(" ")
            if word == "follow":
                self.meter.follow(int(argument))
                print(f"following {argument}", flush=True)
        return lines != [""] and "stop" not in lines


def _become_punctual() -> None:
    """Do what an ordinary process may do to wake up in time; all of it is optional.

    No real-time priority: such a process wakes up on the CPU it slept on, and stops the program if that runs there,
    while another CPU may be idle.
    """
    gc.disable()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    be_urgent()


def main(arguments: list[str] | None = None) -> int:
    """Run the process; 0 when told to stop, 2 when the meter cannot be read."""
    parser = argparse.ArgumentParser(
        prog="energy_measure.sampling.sampler", description="Read one meter at fixed times."
    )
    parser.add_argument("meter", choices=list(meters.METERS))
    parser.add_argument("--period", type=float, required=True, metavar="MS", help="1 to 500 milliseconds")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument("--pid", type=int, help="process tree to follow (cpu-time)")
    parser.add_argument("--closely", action="store_true", help="as finely as the meter can")
    options = parser.parse_args(arguments)
    if not SHORTEST_PERIOD <= options.period / 1e3 <= LONGEST_PERIOD:
        parser.error("the period must be from 1 to 500 milliseconds")
    # Ctrl-C reaches the whole terminal group; the parent decides when sampling ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        meter = meters.find(options.meter)
        meter.closely = options.closely
        meter.open()
        if options.pid is not None:
            meter.follow(options.pid)
        sampler = Sampler(meter, options.output, round(options.period * 1e6))
        _become_punctual()
        sampler.run(sys.stdin.fileno())
    except (meters.MeterProblem, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    meter.close()
    sampler.writer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
