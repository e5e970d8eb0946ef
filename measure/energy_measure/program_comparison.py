"""Two programs against each other: run in interleaved pairs under the meters, their outputs compared."""

from __future__ import annotations

import difflib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from energy_measure.comparison import PAIRS, SIDES, Comparison, Side, compare, orders
from energy_measure.environments import python_of
from energy_measure.metered import Metered, Stretch
from energy_measure.problems import MeasureProblem

SHOWN_LINES = 12
REST_SECONDS = 0.3


class DifferentOutputs(Exception):  # noqa: N818
    """The programs print different things; `excerpt` shows where."""

    def __init__(self, message: str, excerpt: str) -> None:
        super().__init__(message)
        self.excerpt = excerpt


@dataclass(frozen=True, slots=True)
class ComparedPrograms:
    """What came out, and under which meter on which machine."""

    comparison: Comparison
    meter: str
    estimated: bool
    machine: str


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """Two scripts, the interpreter that runs them, and what they are given."""

    before: Path
    after: Path
    python: Path
    arguments: tuple[str, ...] = ()
    timeout: float | None = None

    def script(self, side: Side) -> Path:
        """The script of a side; the control is the side before once more."""
        return self.after if side == "after" else self.before


def interpreter(asked_for: str, script: Path) -> Path:
    """The interpreter asked for, else that of a `.venv` beside or above the script, else the active one."""
    if asked_for:
        found = shutil.which(asked_for)
        if found is None:
            raise MeasureProblem(f"There is no interpreter {asked_for}; give --python the path of one.")
        return Path(found)
    for folder in script.resolve().parents:
        if (own := python_of(folder / ".venv")).exists():
            return own
    active = os.environ.get("VIRTUAL_ENV")
    if active and python_of(Path(active)).exists():
        return python_of(Path(active))
    return Path(sys.executable)


def compare_programs(
    pair: ProgramPair,
    *,
    pairs: int = PAIRS,
    meter: str = "auto",
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> ComparedPrograms:
    """Run both programs in interleaved pairs; raises `DifferentOutputs` as soon as they print unlike
    things."""
    metered = Metered(meter)  # says at once if the meter cannot be used
    first = {side: _run(pair, side) for side in SIDES}  # also warms the disk's cache
    _require_equal(pair, first["before"], first["control"], first["after"])
    with metered:
        found: dict[Side, list[Stretch]] = {side: [] for side in SIDES}
        for number, order in enumerate(orders(pairs, seed=0)):
            progress(number, pairs)
            printed: dict[Side, bytes] = {}
            for side in order:
                metered.rest(REST_SECONDS)
                started = time.monotonic_ns()
                printed[side] = _run(pair, side)
                found[side].append(Stretch(started, time.monotonic_ns()))
            _require_equal(pair, printed["before"], printed["control"], printed["after"])
        metered.rest(REST_SECONDS)
        progress(pairs, pairs)
        stretches = [stretch for side in SIDES for stretch in found[side]]
        energy = np.reshape(metered.joules(stretches), (len(SIDES), pairs)).tolist()
        lasted = [
            float(np.median([stretch.end_ns - stretch.start_ns for stretch in found[side]])) * 1e-9
            for side in SIDES
        ]
        result = compare(energy[0], energy[1], energy[2], (lasted[0], lasted[1]))
        return ComparedPrograms(result, metered.meter, metered.estimated, metered.machine.label)


def _run(pair: ProgramPair, side: Side) -> bytes:
    """One run of a side; what it printed."""
    script = pair.script(side)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [str(pair.python), str(script), *pair.arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        try:
            status = process.wait(pair.timeout)
        except subprocess.TimeoutExpired:
            raise MeasureProblem(
                f"{script} was stopped after {pair.timeout:g} s; give it less to do or --timeout more."
            ) from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if status != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            last = f": {said[-1]}" if said else ""
            raise MeasureProblem(f"{script} ended with status {status}{last}")
        output.seek(0)
        return output.read()


def _require_equal(pair: ProgramPair, before: bytes, control: bytes, after: bytes) -> None:
    if before != control:
        raise DifferentOutputs(
            f"{pair.before} prints something else each time it runs, so its output cannot be compared; "
            "set its seeds and leave times out of what it prints.",
            _excerpt(before, control, f"{pair.before} (one run)", f"{pair.before} (another run)"),
        )
    if before != after:
        raise DifferentOutputs(
            f"{pair.before} and {pair.after} print different things, so their energy is not compared.",
            _excerpt(before, after, str(pair.before), str(pair.after)),
        )


def _excerpt(first: bytes, second: bytes, first_name: str, second_name: str) -> str:
    lines: Sequence[str] = list(
        difflib.unified_diff(
            first.decode(errors="replace").splitlines(),
            second.decode(errors="replace").splitlines(),
            first_name,
            second_name,
            lineterm="",
            n=1,
        )
    )
    if not lines:  # line ends or bytes that are no text
        return f"{len(first)} bytes and {len(second)} bytes that differ in line ends or in what is not text"
    more = len(lines) - SHOWN_LINES
    return "\n".join([*lines[:SHOWN_LINES], *([f"… {more} more lines"] if more > 0 else [])])
