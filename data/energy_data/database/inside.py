"""What is inside of the calls of one file, for an editor: the layers that it creates and the calls that use them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from energy_data.database.connections import read_connection
from energy_data.database.guard import LOOKUP_SECONDS, Deadline
from energy_data.database.migrations import LATEST, user_version
from energy_data.model import Part
from energy_data.problems import explained
from energy_data.rows import part_from
from energy_data.untrusted.parsing import parse_json
from energy_data.untrusted.soundness import sound

_RUN = """SELECT runs.id AS id, runs.started AS started, runs.estimated AS estimated, runs.meter AS meter,
    insides.lines AS lines, insides.note AS note
FROM insides JOIN runs ON runs.id = insides.run_id
WHERE (runs.project_id IN ({ids}) OR runs.project = ?) AND EXISTS (
    SELECT 1 FROM parts WHERE parts.run_id = runs.id AND (parts.file = ? OR parts.measurement_id IN (
        SELECT id FROM measurements WHERE run_id = runs.id AND file = ?)))
ORDER BY runs.started DESC LIMIT 1"""
_PARTS = """SELECT parts.*, measurements.file AS call_file, measurements.line AS at_line, measurements."column" AS at_column,
    measurements.api AS api
FROM parts JOIN measurements ON measurements.id = parts.measurement_id
WHERE parts.run_id = ? ORDER BY parts.number"""


@dataclass(frozen=True, slots=True)
class CallParts:
    """A measured call and what it went into; `joules` of all its executions in one run."""

    api: str
    file: str
    line: int
    column: int
    joules: float
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class FileInside:
    """The last run that says something of the inside of a file's calls, or of layers that it creates."""

    started: str
    estimated: bool
    meter: str
    note: str
    calls: Sequence[CallParts]
    lines: Mapping[int, str]
    """Text of the file's lines that are named here, without white space around it."""


def inside_of_file(database: Path, file: str, root: Path, project_ids: Sequence[str]) -> FileInside | None:
    """What is known, in one project; None where nothing is, or the database is of another version."""
    if not os.path.exists(database):
        return None
    with explained(database), closing(read_connection(database, shared=True)) as connection:
        Deadline(connection, LOOKUP_SECONDS)
        if user_version(connection) != LATEST:
            return None
        ids = ", ".join("?" for _ in project_ids) or "''"
        run = connection.execute(_RUN.format(ids=ids), (*project_ids, str(root), file, file)).fetchone()
        if run is None:
            return None
        calls: dict[str, CallParts] = {}
        found: dict[str, list[Part]] = {}
        for row in connection.execute(_PARTS, (run["id"],)):
            part = sound(part_from(row))
            place = row["api"], row["call_file"], row["at_line"], row["at_column"]
            parts = found.setdefault(part.measurement_id, [])
            parts.append(part)
            calls[part.measurement_id] = CallParts(*place, 0.0, parts)
        lines = {int(line): str(text) for line, text in parse_json(run["lines"]).get(file, {}).items()}
        whole = [
            CallParts(
                one.api, one.file, one.line, one.column, sum(part.joules for part in one.parts), one.parts
            )
            for one in calls.values()
        ]
        return FileInside(run["started"], bool(run["estimated"]), run["meter"], run["note"], whole, lines)
