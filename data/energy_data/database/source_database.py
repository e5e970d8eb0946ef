"""One database file as a source of answers; read with plain sqlite3."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from energy_data.database.connections import read_connection
from energy_data.database.guard import LOOKUP_SECONDS, Deadline
from energy_data.database.migrations import LATEST, user_version
from energy_data.database.summaries import API_NUMBER, SOURCES
from energy_data.model import (
    CALL_KINDS,
    COVERS,
    RUN_STATUSES,
    Device,
    Figure,
    MeasuredSite,
    Origin,
    RuleEvidence,
    Source,
)
from energy_data.project_identity import project_ids
from energy_data.rows import evidence_from
from energy_data.untrusted.parsing import parse_json
from energy_data.untrusted.printable import visible

_COLUMNS = """api, source, estimated, machine, meter, started, runs, measurements, sites, resolved, seconds,
total, low, high, cpu, ram, gpu, below, spread, version, times, first, exclusive, kind, arguments, backend, covers,
method, coalesce((SELECT status FROM runs WHERE runs.id = run_id), 'finished')"""
_PLACE = 'file, line, "column", function, text, number, run_id, device, "precision"'
_SITES = f"SELECT {_COLUMNS}, {_PLACE} FROM summaries WHERE file = ? AND number <> {API_NUMBER}"
_API = (
    f"SELECT {_COLUMNS} FROM summaries WHERE api = ? AND file = '' AND number = {API_NUMBER} AND project = ''"
)
_RESOLVED_WITH_SHAPES = """kind = 'api' AND file <> '' AND arguments <> '[]' AND source <> 'published'
AND total IS NOT NULL"""
_SIGNATURE = f"""SELECT {_COLUMNS}, device, "precision" FROM summaries WHERE api = ? AND arguments = ?
AND {_RESOLVED_WITH_SHAPES} ORDER BY source = 'here' DESC, method = ? DESC, started DESC, run_id DESC LIMIT 100"""
_APIS_WITH_SHAPES = f"SELECT DISTINCT api FROM summaries WHERE {_RESOLVED_WITH_SHAPES}"
# Of the same project by its identity; what was noted before there were identities, or by somebody whose copy of the
# project has none, by its folder.
_OF_PROJECT = """(project_id IN (:id, :folder_id) OR (project_id = '' AND project IN (:path, :name))
OR (:shared OR source = 'team') AND (project_id = '' OR project_id LIKE 'folder-%' OR :id LIKE 'folder-%')
AND substr('/' || project, -length(:ending)) = :ending)"""
_SITES_OF_PROJECT = f"""SELECT {_COLUMNS}, {_PLACE} FROM summaries WHERE file = :file AND number <> {API_NUMBER}
AND {_OF_PROJECT} ORDER BY started DESC, run_id DESC"""
_SETTING = f"""SELECT machine, meter, backend, device, "precision" FROM summaries
WHERE {_OF_PROJECT} AND file <> '' AND source <> 'published'
ORDER BY source = 'here' DESC, started DESC, run_id DESC LIMIT 1"""
_RUNS = f"""SELECT DISTINCT program, source, machine, meter, started, run_id FROM summaries
WHERE {_OF_PROJECT} AND file <> '' AND source <> 'published'"""
_MEASURED_IN_FOLDERS = """SELECT project_id, file, max(started) FROM summaries
WHERE project_id LIKE 'folder-%' AND file <> '' AND source <> 'published' GROUP BY project_id, file"""
_EVIDENCE = "SELECT * FROM evidence WHERE rule = ? ORDER BY measured DESC, size, mode, id"

MOST_ROWS = 100_000
"""Of one answer: more than a file has calls, and less than fills the memory."""


class Setting(NamedTuple):
    """What figures have to agree in to stand beside each other."""

    machine: str
    meter: str
    backend: str
    device: str
    precision: str

    def fits(self, other: Setting) -> bool:
        """True for the same back end, device and precision, as far as they were noted: else it is another program."""
        if self.backend != other.backend:
            return False
        pairs = ((self.device, other.device), (self.precision, other.precision))
        return all(one == two or not one or not two for one, two in pairs)


USUAL_SETTING = Setting("", "", "tensorflow", "", "")
"""Of a project that was never measured: Keras runs on TensorFlow unless somebody chose otherwise."""


class SiteRow(NamedTuple):
    """A measured call site, with what tells it from others and what it was measured with."""

    site: MeasuredSite
    number: int
    """Which of several calls that look alike."""
    setting: Setting

    @property
    def key(self) -> tuple[str, str, str, int]:
        """The call site within its file."""
        return self.site.api, self.site.function, self.site.text, self.number


class SourceDatabase:
    """The measurements of this machine, or of the team."""

    def __init__(self, name: Source, path: Path, project: Path | None) -> None:
        self.name: Source = name
        self.path = path
        self._project = project
        self._connection = read_connection(path, shared=name == "here")
        if user_version(self._connection) != LATEST:
            from energy_data.database.database import upgraded_copy  # writes, and loads what writing needs

            self._connection = upgraded_copy(path, self._connection)
        self._connection.row_factory = (
            None  # plain tuples: looking columns up by name costs more than the query
        )
        self._deadline = Deadline(self._connection, LOOKUP_SECONDS)

    def _ask(self, sql: str, parameters: Sequence[object] | dict[str, object]) -> sqlite3.Cursor:
        """A question that ends before whoever waits for it gives up."""
        self._deadline.restart()
        return self._connection.execute(f"{sql} LIMIT {MOST_ROWS}" if "LIMIT" not in sql else sql, parameters)

    def sites(self, file: str) -> Iterator[SiteRow]:
        """The measured calls of a file of the project, newest first; of all projects where none was named."""
        if self._project is None:
            rows = self._ask(_SITES, (file,))
        else:
            rows = self._ask(_SITES_OF_PROJECT, {"file": file, **self._identity(self._project)})
        for row in rows.fetchall():
            yield self._site(row)

    def setting(self) -> Setting | None:
        """What the project was measured with last; None where it never was."""
        if self._project is None:
            return None
        row = self._ask(_SETTING, self._identity(self._project)).fetchone()
        return None if row is None else Setting(*map(visible, row))

    def last_runs(self) -> set[str]:
        """The last run of each of the project's programs, on each machine and with each meter."""
        if self._project is None:
            return set()
        newest: dict[tuple[str, ...], tuple[str, str]] = {}
        for *key, started, run_id in self._ask(_RUNS, self._identity(self._project)):
            program = tuple(map(str, key))
            newest[program] = max(newest.get(program, ("", "")), (str(started), str(run_id)))
        return {run_id for _, run_id in newest.values()}

    def measured_in_folders(self) -> dict[tuple[str, str], str]:
        """When each file of a project without a commit was measured last, by project and name."""
        rows = self._ask(_MEASURED_IN_FOLDERS, ())
        return {(str(project), str(file)): str(started) for project, file, started in rows}

    def in_general(self, api: str) -> Figure | None:
        """What is known of an API wherever it is called."""
        row = self._ask(_API, (api,)).fetchone()
        return None if row is None else _figure(row, self.name, "api")

    def with_shapes(self, api: str, shapes: tuple[str, ...], current: Setting, often: bool) -> Figure | None:
        """What another call of an API with the same shapes took with the same back end, device and precision.

        `often`: of a call that runs again and again what was repeated alone tells more, of another what ran in place.
        Neither its count nor what only its first call cost say anything about another call.
        """
        for row in self._ask(_SIGNATURE, (api, json.dumps(shapes), "replayed" if often else "in place")):
            figure = _figure(row[:-2], self.name, "signature")
            device, precision = map(visible, row[-2:])
            if Setting(figure.machine, figure.meter, figure.backend, device, precision).fits(current):
                return replace(figure, first=None, exclusive=None)
        return None

    def apis_with_shapes(self) -> set[str]:
        """The APIs that `with_shapes` has an answer for."""
        return {str(api) for (api,) in self._ask(_APIS_WITH_SHAPES, ())}

    def run_joules(self, run_id: str) -> float | None:
        """Net joules of a whole run, all devices together; None for a run that is not here."""
        row = self._ask("SELECT joules FROM runs WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            return None
        return sum(_finite(value[0]) for value in parse_json(row[0]).values()) or None

    def run_calls(self, run_id: str) -> dict[str, float]:
        """Net joules of a run's calls by API, without what they spent on tracing, callbacks and reading data."""
        try:
            row = self._ask(
                "SELECT detail FROM phases WHERE run_id = ? AND name = 'calls'", (run_id,)
            ).fetchone()
        except sqlite3.OperationalError:  # written before phases were noted
            return {}
        detail = parse_json(row[0] or "{}") if row is not None else {}
        return {api: _finite(value) for api, value in detail.items()} if isinstance(detail, dict) else {}

    def evidence(self, rule: str) -> list[RuleEvidence]:
        """The comparisons measured for a rule."""
        found = self._ask(_EVIDENCE, (rule,))
        columns = [column[0] for column in found.description]
        return [evidence_from(dict(zip(columns, row, strict=True)), self.name) for row in found]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _identity(self, project: Path) -> dict[str, object]:
        root = project.resolve()
        identities = project_ids(root)
        return {
            "id": identities[0],
            "folder_id": identities[-1],
            "path": str(root),
            "name": root.name,
            # A team's members have the project in different folders, most often of the same name.
            "ending": f"/{root.name}",
            "shared": self.name == "team",
        }

    def _site(self, row: tuple[Any, ...]) -> SiteRow:
        figure = _figure(row, self.name, "site")
        file, line, column, function, text, number, run_id, device, precision = row[29:]
        site = MeasuredSite(
            figure.api,
            str(file),
            int(line),
            int(column),
            str(function),
            str(text),
            str(run_id),
            figure.date,
            figure,
        )
        setting = Setting(figure.machine, figure.meter, figure.backend, visible(device), visible(precision))
        return SiteRow(site, int(number), setting)


def _figure(row: tuple[Any, ...], found_in: Source, origin: Origin) -> Figure:
    """A row of `_COLUMNS` as an answer; ValueError or TypeError where it holds what it should not."""
    api, source, estimated, machine, meter, started, runs, measurements, sites, resolved, seconds = row[:11]
    total, low, high, cpu, ram, gpu, below, spread, version = row[11:20]
    times, first, exclusive, kind, arguments, backend, covers, method, status = row[20:29]
    source = SOURCES[SOURCES.index(source)]
    imported = source == "published"
    joules: dict[Device, float | None] = {"cpu": cpu, "ram": ram, "gpu": gpu}
    return Figure(
        api=str(api),
        source="team" if found_in == "team" and not imported else source,
        estimated=bool(estimated),
        machine=visible(machine),
        meter=visible(meter),
        date=visible(started),
        runs=int(runs),
        measurements=int(measurements),
        sites=int(sites),
        resolved=int(resolved),
        seconds=_finite(seconds),
        total=_number(total),
        low=_number(low),
        high=_number(high),
        devices={device: _finite(value) for device, value in joules.items() if value is not None},
        below=_number(below),
        spread="range" if spread == "range" else "interval",
        covers=COVERS[COVERS.index(covers)],
        run_status="finished" if origin == "api" else RUN_STATUSES[RUN_STATUSES.index(status)],
        origin=origin,
        times=int(times) if origin == "site" else None,
        first=_number(first),
        exclusive=_number(exclusive),
        kind=CALL_KINDS[CALL_KINDS.index(kind)],
        shapes=tuple(str(shape) for shape in parse_json(arguments)),
        method="replayed" if method == "replayed" else "imported" if imported else "in place",
        backend=visible(backend),
        citation="records imported into the database" if imported else "",
        version=visible(version),
    )


def _number(value: float | str | bytes | None) -> float | None:
    return None if value is None else _finite(value)


def _finite(value: float | str | bytes) -> float:
    """A number that was measured: SQLite keeps infinity, and texts where numbers belong."""
    number = float(value)
    if isinstance(value, (str, bytes)) or not math.isfinite(number):
        raise ValueError(f"{value!r:.40} is not a finite number")
    return number
