"""Two programs against each other: run in interleaved pairs under the meters, their outputs compared."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from energy_measure.comparison.effects import Effects, Values, effects
from energy_measure.comparison.hot_functions import HotFunction, read_profile
from energy_measure.comparison.marks import Marked, phases_of_run, printed_metrics
from energy_measure.comparison.output_diff import Likeness, excerpt, likeness
from energy_measure.comparison.pairs import PAIRS, SIDES, Comparison, Side, compare, orders
from energy_measure.comparison.windows import MeteredProcess, MeteredWindow
from energy_measure.problems import MeasureProblem
from energy_measure.program.guarded import Guarded
from energy_measure.program.interpreters import python_of

ROUNDING = 1e-2
"""Numbers that differ by more than this part of their size are no rounding."""
REST_SECONDS = 0.3
LAUNCHERS = Path(__file__).parents[1] / "injected"
Outputs = Literal["same", "tolerance", "differ"]


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
    effects: Effects
    """Per device, for time and for marked phases."""
    metrics: tuple[dict[str, float], dict[str, float]]
    """Numbers with names that each side printed last: what to compare by where outputs differ."""
    hot_functions: tuple[list[HotFunction], list[HotFunction]] | None = None
    """Of either side, where a profile was asked for."""


@dataclass(frozen=True, slots=True)
class ProgramPair:
    """Two scripts, the interpreter that runs them, and what they are given."""

    before: Path
    after: Path
    python: Path
    arguments: tuple[str, ...] = ()
    timeout: float | None = None
    tolerance: float = 0.0
    """Greatest difference of printed floating-point numbers: relative, absolute below 1."""
    integers: bool = False
    """Whole numbers may differ as much."""
    outputs: Outputs = "same"
    """`differ`: nothing is said of what they print but each side's own numbers."""
    after_python: Path | None = None
    """Interpreter of the side after; None: the same."""
    before_env: Mapping[str, str] = field(default_factory=dict)
    after_env: Mapping[str, str] = field(default_factory=dict)
    rest_seconds: float = REST_SECONDS
    """Idle time between runs."""
    profile: bool = False
    """Run either side once more under `cProfile`, after the pairs."""

    def command(self, side: Side, *under: str) -> list[str]:
        """What runs for a side, `under` a launcher of ours with its argument if one is given."""
        python = self.after_python if side == "after" and self.after_python else self.python
        return [str(python), *under, str(self.script(side)), *self.arguments]

    def env(self, side: Side) -> Mapping[str, str]:
        """Environment variables of a side, beside those of this process."""
        return self.after_env if side == "after" else self.before_env

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
    wait: bool = True,
    on_wait: Callable[[str], None] = lambda sentence: None,
) -> ComparedPrograms:
    """Run both programs in interleaved pairs; raises `DifferentOutputs` as soon as they print unlike
    things."""
    metered = MeteredProcess(meter, wait=wait, on_wait=on_wait)  # says at once if the meter cannot be used
    with metered:
        alike = [
            _require_equal(pair, {side: _marked_run(pair, side)[0] for side in SIDES})
        ]  # also warms the disk's cache
        found: dict[Side, list[MeteredWindow]] = {side: [] for side in SIDES}
        marked: dict[Side, list[list[Marked]]] = {side: [] for side in SIDES}
        last: dict[Side, bytes] = {}
        for number, order in enumerate(orders(pairs, seed=0)):
            progress(number, pairs)
            printed: dict[Side, bytes] = {}
            for side in order:
                metered.rest(pair.rest_seconds)
                printed[side], window, marks = _marked_run(pair, side)
                found[side].append(window)
                marked[side].append(marks)
            last = printed
            alike.append(_require_equal(pair, printed))
        metered.rest(pair.rest_seconds)
        progress(pairs, pairs)
        windows = [window for side in SIDES for window in found[side]]
        energy = np.reshape(metered.joules(windows), (len(SIDES), pairs)).tolist()
        lasted = [
            float(np.median([window.end_ns - window.start_ns for window in found[side]])) * 1e-9
            for side in SIDES
        ]
        result = compare(energy[0], energy[1], energy[2], (lasted[0], lasted[1]))
        least = Likeness(any(one.times for one in alike), max(one.difference for one in alike))
        return ComparedPrograms(
            result,
            metered.meter,
            metered.estimated,
            metered.machine().label,
            least,
            effects(_values(metered, found, marked)),
            (printed_metrics(last["before"]), printed_metrics(last["after"])),
            (_profiled(pair, "before"), _profiled(pair, "after")) if pair.profile else None,
        )


def _profiled(pair: ProgramPair, side: Side) -> list[HotFunction]:
    """The hot functions of a side, from a run that is not metered: a profiler costs energy itself."""
    with tempfile.TemporaryDirectory(prefix="energy-lsp-") as folder:
        profile = Path(folder) / "profile.json"
        _run(pair, side, (str(LAUNCHERS / "profiled_run.py"), str(profile)))
        return read_profile(profile, pair.script(side).resolve().parent)


def _values(
    metered: MeteredProcess,
    found: Mapping[Side, list[MeteredWindow]],
    marked: Mapping[Side, list[list[Marked]]],
) -> Values:
    """What each pair took: by device, all together, time; and of phases that every run of both sides has."""
    windows = [*found["before"], *found["after"]]
    half = len(found["before"])
    by_device = metered.joules_by_device(windows)
    values: dict[tuple[str, Literal["J", "s"]], tuple[list[float], list[float]]] = {}
    everything = np.zeros(len(windows))
    for device, joules in by_device.items():
        values[device, "J"] = (joules[:half].tolist(), joules[half:].tolist())
        everything += joules
    values["all devices", "J"] = (everything[:half].tolist(), everything[half:].tolist())
    seconds = [(window.end_ns - window.start_ns) * 1e-9 for window in windows]
    values["time", "s"] = (seconds[:half], seconds[half:])
    runs = [*marked["before"], *marked["after"]]
    for name in sorted(set.intersection(*({mark.name for mark in marks} for marks in runs)) if runs else ()):
        spent, lasted = _of_phase(metered, [[m for m in marks if m.name == name] for marks in runs])
        values[f"{name}: all devices", "J"] = (spent[:half], spent[half:])
        values[f"{name}: time", "s"] = (lasted[:half], lasted[half:])
    return values


def _of_phase(metered: MeteredProcess, runs: Sequence[Sequence[Marked]]) -> tuple[list[float], list[float]]:
    """Joules and seconds of one phase in each run, all its spans together."""
    windows = [MeteredWindow(mark.start_ns, mark.end_ns) for marks in runs for mark in marks]
    energy = iter(metered.joules(windows).tolist())
    joules = [sum(next(energy) for _ in marks) for marks in runs]
    return joules, [sum(mark.end_ns - mark.start_ns for mark in marks) * 1e-9 for marks in runs]


def _marked_run(pair: ProgramPair, side: Side) -> tuple[bytes, MeteredWindow, list[Marked]]:
    """One run of a side: what it printed, when it ran, and its phases."""
    with tempfile.TemporaryDirectory(prefix="energy-lsp-") as folder:
        spans, calls = Path(folder) / "spans", Path(folder) / "calls"
        printed, window = _run(pair, side, (str(LAUNCHERS / "marked_run.py"), str(calls)), spans)
        return printed, window, phases_of_run(spans, calls)


def _run(
    pair: ProgramPair, side: Side, under: tuple[str, ...], spans: Path | None = None
) -> tuple[bytes, MeteredWindow]:
    """One run of a side: what it printed, and when it ran.

    `under`: a launcher of ours. `spans`: the file for phases that it marks.
    """
    script = pair.script(side)
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        guarded = Guarded(
            pair.command(side, *under),
            env={**os.environ, **pair.env(side), "ENERGY_LSP_SPANS": str(spans or "")},
            stdout=output,
            stderr=errors,
            folders=[spans.parent] if spans else (),
        )
        with guarded as process:
            try:
                status = process.wait(pair.timeout)
            except subprocess.TimeoutExpired:
                raise MeasureProblem(
                    f"{script} was stopped after {pair.timeout:g} s; give it less to do or --timeout more."
                ) from None
        if status != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
            last = f": {said[-1]}" if said else ""
            raise MeasureProblem(f"{script} ended with status {status}{last}")
        output.seek(0)
        return output.read(), MeteredWindow(guarded.started, guarded.ended)


def _require_equal(pair: ProgramPair, printed: Mapping[Side, bytes]) -> Likeness:
    """How alike a round's outputs are; raises `DifferentOutputs` when they are not."""
    before, control, after = printed["before"], printed["control"], printed["after"]
    if pair.outputs == "differ":
        return likeness(before, after, integers=pair.integers)
    found = likeness(before, control, integers=pair.integers)
    if found.difference > pair.tolerance:
        raise DifferentOutputs(
            f"{pair.before} prints something else each time it runs, so its output cannot be compared; "
            f"set its seeds, as with keras.utils.set_random_seed.{_accepting(found)}",
            excerpt(before, control, f"{pair.before} (one run)", f"{pair.before} (another run)"),
        )
    found = likeness(before, after, integers=pair.integers)
    if found.difference > pair.tolerance:
        raise DifferentOutputs(
            f"{pair.before} and {pair.after} print different things, so their energy is not compared."
            f"{_accepting(found)}",
            excerpt(before, after, str(pair.before), str(pair.after)),
        )
    return found


def _accepting(found: Likeness) -> str:
    """What to say where numbers differ a little."""
    most = f" Most in {found.most}." if found.most else ""
    if found.difference > ROUNDING:
        return most
    power = math.ceil(math.log10(found.difference))
    by = f"by at most {found.difference:.1g} of their size"
    return f"{most} Only numbers differ, {by}: --tolerance 1e{power} accepts that."
