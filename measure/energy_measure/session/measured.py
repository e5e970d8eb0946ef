"""What a measurement gave, as it is printed and as JSON; and how far it is while it lasts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from energy_data.model import PHASES, Environment, Machine
from energy_measure.inside.recorded import place_json
from energy_measure.results import MeasuredCall, MeasuredProgram


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a measurement is."""

    message: str
    fraction: float
    """Of the whole measurement, 0 to 1."""
    seconds_left: float | None
    """None until the first run has shown how long one takes."""


Tell = Callable[[Progress], None]


@dataclass(slots=True)
class Measured:
    """One entry point: what ran, and what is known of it."""

    run_id: str
    command: str
    program: MeasuredProgram | None = None
    """None if no run came to an end that tells anything."""
    inside_note: str = ""
    """How its calls were looked into, or why not."""
    failure: str = ""
    """How the program came to no good end; empty if it did."""
    kept: str = ""
    """What of it is kept all the same, in a sentence."""
    killed: bool = False
    """A signal ended it."""
    status: Literal["finished", "failed", "partial"] = "finished"
    error: str = ""
    """The program's last error, in one line, or why it was stopped."""
    environment: Environment | None = None

    @property
    def why(self) -> str:
        """How it came to no good end and by which error: for who does not see what the program printed."""
        if not self.failure or not self.error or self.error in self.failure:
            return self.failure
        return f"{self.failure.removesuffix('.')}: {' '.join(self.error.split())}"


@dataclass(slots=True)
class MeasuredRun:
    """Everything a measurement gave."""

    meter: str
    estimated: bool
    machine: Machine
    database: Path
    programs: list[Measured] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What a reader of the figures should know, one sentence each."""

    @property
    def failures(self) -> list[str]:
        """How programs came to no good end, and what is kept of them."""
        return [f"{measured.failure} {measured.kept}" for measured in self.programs if measured.failure]

    @property
    def reasons(self) -> list[str]:
        """Why programs came to no good end, where nothing of them is kept."""
        return [measured.why for measured in self.programs if measured.failure]

    @property
    def known(self) -> list[MeasuredProgram]:
        """The programs that figures are known of."""
        return [measured.program for measured in self.programs if measured.program is not None]

    def as_json(self) -> dict[str, Any]:
        """As `energy-lsp measure --format json` prints it."""
        known = self.known
        calls = [call for program in known for call in program.calls]
        calls.sort(key=lambda call: -call.run_joules if call.resolved else 0.0)
        stored = [measured.run_id for measured in self.programs if measured.program is not None]
        return _finite_values(
            {
                "run": stored[-1] if stored else None,
                **self._ending(),
                "meter": self.meter,
                "estimated": self.estimated,
                "environment": self._environment(),
                "program": {
                    "seconds": sum(program.seconds for program in known) if known else None,
                    "joules": sum(program.total for program in known) if known else None,
                    "unaccounted": sum(program.unaccounted for program in known) if known else None,
                    "phases": _phases(known),
                },
                "calls": [call.as_json() for call in calls],
                "inside": [part for call in calls for part in _parts_json(call)],
                "inside_note": " ".join(
                    dict.fromkeys(one.inside_note for one in self.programs if one.inside_note)
                ),
            }
        )

    def _ending(self) -> dict[str, Any]:
        """How the programs ended: the worst of them, and its error."""
        for status in ("partial", "failed"):
            for measured in self.programs:
                if measured.status == status:
                    return {"status": status, "error": measured.error}
        return {"status": "finished", "error": ""}

    def _environment(self) -> dict[str, str]:
        known = [measured.environment for measured in self.programs if measured.environment is not None]
        return asdict(known[-1] if known else Environment("", "", ""))


def _phases(known: Sequence[MeasuredProgram]) -> list[dict[str, Any]]:
    """The phases of all programs together."""
    found = []
    for name in PHASES:
        shares = [program.phases[name] for program in known]
        detail: dict[str, float] = {}
        for share in shares:
            for part, value in share.detail.items():
                detail[part] = detail.get(part, 0.0) + value
        found.append(
            {
                "name": name,
                "joules": sum(share.joules for share in shares),
                "seconds": sum(share.seconds for share in shares),
                "detail": detail,
            }
        )
    return found if known else []


def _parts_json(call: MeasuredCall) -> list[dict[str, Any]]:
    site = call.site
    cell = (site.cell, site.cell_line) if site.cell is not None else (0, 0)
    # `layers.Dense(4)(x)` are two calls that begin in one place.
    place = {**place_json(site.file, site.line, cell), "column": site.column, "api": site.api}
    return [{"call": place, **part.as_json()} for part in call.inside]


class Interrupted(Exception):  # noqa: N818
    """The measurement was broken off; `finished` runs are in the database."""

    def __init__(self, measured: MeasuredRun, finished: int) -> None:
        kept = "1 finished run is kept" if finished == 1 else f"{finished} finished runs are kept"
        if finished == 0 and measured.known:
            kept = "what it had done until then is kept"
        super().__init__(kept)
        self.measured = measured
        self.finished = finished


def _finite_values(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: an open end of an interval is null."""
    return {key: _finite(value) for key, value in values.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return _finite_values(value)
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
