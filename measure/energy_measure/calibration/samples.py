"""What the calibration's program wrote, as samples to fit: medians, without what an empty graph costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from energy_data.prediction.api_families import FAMILY_OF
from energy_data.prediction.families import features
from energy_data.prediction.layers import layer_cost
from energy_measure.calibration.fitting import SMALLEST, UPDATE, FitSample, solve
from energy_measure.calibration.points import CalibrationPoint

UNSURE = 0.3
"""Part of what an empty graph costs that is not the same from one graph to the next."""
SETTLING = 2
"""Runs of the reference at the start of a process that are left out."""


@dataclass(slots=True)
class CalibrationRuns:
    """What one or more processes of the program gave."""

    rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    references: list[list[int]] = field(default_factory=list)
    """CPU nanoseconds of the reference, for each process."""
    failed: list[str] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)
    watts: float = 1.0
    """Joules of a CPU second, over all points."""
    own_watts: dict[int, float] = field(default_factory=dict)
    """The same for points that ran long enough for the meter to see them by themselves."""
    started: list[int] = field(default_factory=list)
    """CPU nanoseconds that TensorFlow took to start in each process: its first operation of all."""
    _metered_cpu: float = 0.0

    def read(self, path: Path) -> None:
        """Add what a process wrote."""
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if "failed" in row:
                self.failed.append(f"{row['id']}: {row['failed']}")
            elif isinstance(row["id"], str):
                self.models[row["id"]] = row
            elif row["id"] == -1:
                self.references.append(row["cpu"])
            elif row["id"] == -2:
                self.about = row
                self.started += [row["started"]] if "started" in row else []
            elif row["id"] == -3:
                self._add_energy(row)
            else:
                row["process"] = len(self.references)
                self.rows[row["id"]] = row

    def _add_energy(self, row: Mapping[str, Any]) -> None:
        """What sensors saw of a process: the longest processes say most about what a CPU second costs."""
        before, cpu = self._metered_cpu, float(row["cpu"])
        if cpu > 0:
            self.watts = (self.watts * before + float(row["joules"])) / (before + cpu)
            self._metered_cpu = before + cpu
        self.own_watts.update(
            {int(number): float(watts) for number, watts in row["own"].items() if watts > 0}
        )

    @property
    def repeatability(self) -> float:
        """Relative scatter of the reference within and between processes, as a standard deviation.

        From the middle half of the runs: one that was interrupted says nothing about the others.
        """
        runs = [cpu for part in self.references for cpu in part[SETTLING:]]
        if len(runs) < 4:
            return 1.0
        low, half, high = np.percentile(runs, [25, 50, 75])
        return float((high - low) / 1.349 / half)


def samples_of(points: Sequence[CalibrationPoint], ran: CalibrationRuns) -> list[FitSample]:
    """The samples of calls, layers and optimizers."""
    empty = _empty(points, ran)
    found = []
    for point in points:
        row = ran.rows.get(point.id)
        if row is None or not row["cpu"] or point.kind == "empty":
            continue
        described = _described(point)
        if described is None:
            continue
        name, mode, family, given = described
        seconds = float(np.median(row["cpu"])) * 1e-9
        clock = float(np.median([end - start for start, end in row["spans"]])) * 1e-9
        watts = ran.own_watts.get(point.id, ran.watts)
        power = watts * seconds / max(clock, 1e-9)
        noise = SMALLEST
        if point.mode == "graph":
            nothing = empty(1 if point.kind == "optimizer" else point.copies)
            seconds = (seconds - nothing) / point.copies
            noise = UNSURE * nothing / point.copies
        trace = _traced(point, row) * ran.watts
        found.append(
            FitSample(name, mode, family, given, max(seconds, 1e-7) * watts, noise * watts, trace, power)
        )
    return found


def _traced(point: CalibrationPoint, row: Mapping[str, Any]) -> float:
    """CPU seconds that the first run of a layer's or an optimizer's graph takes more than later ones: tracing it."""
    if point.kind not in ("layer", "optimizer"):
        return 0.0
    more = float(row["first"]) - float(np.median(row["cpu"]))
    return max(0.0, more * 1e-9 / point.copies)


LEAST_FIRST = 5e-5
"""CPU seconds that a first call costs more at least."""


def first_calls(points: Sequence[CalibrationPoint], ran: CalibrationRuns) -> dict[str, list[float]]:
    """Joules that the first eager call of each API cost more than later ones, in each process that ran it."""
    first: dict[tuple[str, int], float] = {}
    for point in points:  # in the order in which each process made them
        row = ran.rows.get(point.id)
        if row is None or not row["cpu"] or point.kind != "call" or point.mode != "eager":
            continue
        key = point.name, row.get("process", 0)
        if key not in first:
            first[key] = (row["first"] - float(np.median(row["cpu"]))) * 1e-9
    found: dict[str, list[float]] = {}
    for (name, _), seconds in first.items():
        found.setdefault(name, []).append(max(seconds, LEAST_FIRST) * ran.watts)
    return found


def _described(point: CalibrationPoint) -> tuple[str, str, str, tuple[float, ...]] | None:
    """Name, mode, family and features of what a point runs."""
    if point.kind == "optimizer":
        given = (float(len(point.tensors)), float(sum(tensor.bytes for tensor in point.inputs)))
        return f"optimizer:{point.name}", "graph", UPDATE, given
    if point.kind == "layer":
        part = layer_cost(point.layer).parts[0]
        return f"layer:{part.kind}", point.run, "layer", part.features
    known = features(point.call)
    return None if known is None else (point.name, point.mode, FAMILY_OF[point.name], known)


def _empty(points: Sequence[CalibrationPoint], ran: CalibrationRuns) -> Callable[[int], float]:
    """CPU seconds of a graph that does nothing with so many tensors."""
    known = [
        (float(len(point.tensors)), float(np.median(ran.rows[point.id]["cpu"])) * 1e-9)
        for point in points
        if point.kind == "empty" and point.id in ran.rows
    ]
    if not known:
        return lambda count: 0.0
    if len(known) == 1:
        return lambda count: known[0][1]
    constant, each = solve([(count,) for count, _ in known], [cpu for _, cpu in known], [1e-6] * len(known))
    return lambda count: constant + each * count


def families(
    groups: Mapping[tuple[str, str], Sequence[FitSample]],
) -> dict[tuple[str, str], dict[str, list[FitSample]]]:
    """Samples of calls by family and mode, and in it by API."""
    found: dict[tuple[str, str], dict[str, list[FitSample]]] = {}
    for (name, mode), group in groups.items():
        if name in FAMILY_OF:
            found.setdefault((f"family:{FAMILY_OF[name]}", mode), {})[name] = list(group)
    return found
