"""Parts of calls added up by layer, operation, kind, pass or line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from energy_data.model import Measurement, Part

By = Literal["layer", "operation", "kind", "pass", "line"]
BY: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Parts that go by one name."""

    name: str
    joules: float
    low: float
    high: float
    share: float
    """Of all parts that were asked for."""
    seconds: float
    count: int
    passes: dict[str, float]
    """Joules by pass."""
    file: str
    line: int
    kind: str

    @property
    def watts(self) -> float | None:
        """Mean power while it ran; None where its time is not known."""
        return self.joules / self.seconds if self.seconds > 0.0 else None


def below(parts: Iterable[Part], path: str) -> list[Part]:
    """The parts of a layer and of everything inside of it."""
    return [part for part in parts if part.path == path or part.path.startswith(path.rstrip("/") + "/")]


def calls_of(parts: Sequence[Part], measurements: Sequence[Measurement]) -> dict[str, Measurement]:
    """The measured calls that parts belong to, by their id."""
    used = {part.measurement_id for part in parts}
    return {one.id: one for one in measurements if one.id in used}


def grouped(parts: Sequence[Part], by: By) -> list[LayerGroup]:
    """Groups of parts, the costliest first."""
    if by == "operation":
        parts = [one for part in parts for one in _by_operation(part)]
    total = math.fsum(part.joules for part in parts)
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(_NAMES[by](part), []).append(part)
    found = [_group(name, members, total) for name, members in groups.items()]
    return sorted(found, key=lambda group: -group.joules)


def fusions(parts: Sequence[Part]) -> dict[str, list[str]]:
    """By path: layers that TensorFlow runs as part of a layer, the costliest first."""
    found: dict[str, list[str]] = {}
    for part in sorted(parts, key=lambda part: -part.joules):
        for path, _, _ in part.fused:
            taken = found.setdefault(part.path, [])
            if path not in taken:
                taken.append(path)
    return found


def _by_operation(part: Part) -> list[Part]:
    """A part for each type of operation in a part; what they do not explain stays under the part's own name."""
    explained = math.fsum(part.operations.values())
    rest = max(0.0, part.joules - explained)
    split = [*part.operations.items(), *([("", rest)] if rest > 1e-9 * part.joules else [])]
    found = []
    for name, joules in split:
        share = joules / part.joules if part.joules > 0.0 else 0.0
        found.append(
            replace(
                part,
                path=f"{part.path}/{name}" if name else part.path,
                joules=joules,
                seconds=part.seconds * share,
                low=None if part.low is None else part.low * share,
                high=None if part.high is None else part.high * share,
            )
        )
    return found


def _line(part: Part) -> str:
    return f"{part.file}:{part.line}" if part.line else "(no line of the program)"


_NAMES: dict[By, Callable[[Part], str]] = {
    "layer": lambda part: part.path,
    "operation": lambda part: part.path,
    "kind": lambda part: part.kind,
    "pass": lambda part: part.direction,
    "line": _line,
}


def _group(name: str, parts: Sequence[Part], total: float) -> LayerGroup:
    joules = math.fsum(part.joules for part in parts)
    # Errors of different parts are taken as independent.
    below_ = math.hypot(*(part.joules - part.low for part in parts if part.low is not None))
    above = math.hypot(*(part.high - part.joules for part in parts if part.high is not None))
    passes: dict[str, float] = {}
    for part in parts:
        passes[part.direction] = passes.get(part.direction, 0.0) + part.joules
    placed = next((part for part in parts if part.line), parts[0])
    return LayerGroup(
        name,
        joules,
        max(0.0, joules - below_),
        joules + above,
        joules / total if total > 0.0 else 0.0,
        sum(part.seconds for part in parts),
        max(part.count for part in parts),
        passes,
        placed.file,
        placed.line,
        placed.kind,
    )
