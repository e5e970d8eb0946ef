"""Two programs against each other: run in interleaved pairs under the meters, their outputs compared."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from energy_measure.comparison import PAIRS, SIDES, Comparison, Side, compare, orders
from energy_measure.environments import python_of
from energy_measure.metered import Metered, Stretch
from energy_measure.printed import Likeness, excerpt, likeness
from energy_measure.problems import MeasureProblem

ROUNDING = 1e-2
"""Numbers that differ by more than this part of their size are no rounding."""
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
    printed: Likeness


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """Two scripts, the interpreter that runs them, and what they are given."""

    before: Path
    after: Path
    python: Path
    arguments: tuple[str, ...] = ()
    timeout: float | None = None
    tolerance: float = 0.0
    """Greatest relative difference of printed numbers."""

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
    alike = [_require_equal(pair, {side: _run(pair, side) for side in SIDES})]  # also warms the disk's cache
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
            alike.append(_require_equal(pair, printed))
        metered.rest(REST_SECONDS)
        progress(pairs, pairs)
        stretches = [stretch for side in SIDES for stretch in found[side]]
        energy = np.reshape(metered.joules(stretches), (len(SIDES), pairs)).tolist()
        lasted = [
            float(np.median([stretch.end_ns - stretch.start_ns for stretch in found[side]])) * 1e-9
            for side in SIDES
        ]
        result = compare(energy[0], energy[1], energy[2], (lasted[0], lasted[1]))
        least = Likeness(any(one.times for one in alike), max(one.difference for one in alike))
        return ComparedPrograms(result, metered.meter, metered.estimated, metered.machine.label, least)


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


def _require_equal(pair: ProgramPair, printed: Mapping[Side, bytes]) -> Likeness:
    """How alike a round's outputs are; raises `DifferentOutputs` when they are not."""
    before, control, after = printed["before"], printed["control"], printed["after"]
    found = likeness(before, control)
    if found.difference > pair.tolerance:
        raise DifferentOutputs(
            f"{pair.before} prints something else each time it runs, so its output cannot be compared; "
            f"set its seeds, as with keras.utils.set_random_seed.{_accepting(found)}",
            excerpt(before, control, f"{pair.before} (one run)", f"{pair.before} (another run)"),
        )
    found = likeness(before, after)
    if found.difference > pair.tolerance:
        raise DifferentOutputs(
            f"{pair.before} and {pair.after} print different things, so their energy is not compared."
            f"{_accepting(found)}",
            excerpt(before, after, str(pair.before), str(pair.after)),
        )
    return found


def _accepting(found: Likeness) -> str:
    """What to say where numbers differ a little."""
    if found.difference > ROUNDING:
        return ""
    power = math.ceil(math.log10(found.difference))
    return f" Only numbers differ, by at most {found.difference:.1g} of their size: --tolerance 1e{power} accepts that."
