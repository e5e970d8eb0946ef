"""What is known of an API: this machine's own database first, then the team's, then the published figures."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from energy_data.connections import read_connection, write_ahead_log
from energy_data.figures import published, shipped_evidence
from energy_data.migrations import LATEST, user_version
from energy_data.model import Device, Figure, Layer, RuleEvidence
from energy_data.naming import canonical
from energy_data.paths import team_database, user_database
from energy_data.problems import DatabaseProblem as DatabaseProblem
from energy_data.problems import explain
from energy_data.rows import evidence_from
from energy_data.summaries import API_LINE, LAYERS

_COLUMNS = """api, layer, estimated, machine, meter, started, runs, measurements, sites, resolved, seconds,
total, low, high, cpu, ram, gpu, below, spread, version"""
_SITE = f"""SELECT {_COLUMNS} FROM summaries WHERE api = ? AND file = ? AND line = ?
ORDER BY project = ? DESC, substr('/' || project, -length(?)) = ? DESC, started DESC LIMIT 1"""
_API = f"SELECT {_COLUMNS} FROM summaries WHERE api = ? AND file = '' AND line = {API_LINE} AND project = ''"
_LINES = "SELECT DISTINCT line FROM summaries WHERE api = ? AND file = ?"
_EVIDENCE = "SELECT * FROM evidence WHERE rule = ? ORDER BY measured DESC, size, mode, id"

_NOT_ASKED = object()

MOST_REMEMBERED = 10_000
"""Answers kept in memory. Lines move with every edit, so that a day of work asks for many places once."""


class DatabaseLayer:
    """One database file as a layer of answers; read with plain sqlite3, one row per answer."""

    def __init__(self, name: Layer, path: Path, project: Path | None) -> None:
        self.name: Layer = name
        self.path = path
        root = project.resolve() if project else Path("/")
        # A team's members have the project in different folders, most often of the same name.
        self._project = (str(root), f"/{root.name}", f"/{root.name}")
        self._connection = read_connection(path, shared=name == "here")
        if user_version(self._connection) != LATEST:
            from energy_data.database import upgraded_copy

            self._connection = upgraded_copy(path, self._connection)
        self._connection.row_factory = (
            None  # plain tuples: looking columns up by name costs more than the query
        )
        self._general: dict[str, Figure | None] = {}

    def lookup(self, api: str, file: str | None, line: int | None) -> Figure | None:
        """The answer for a call site if it was measured, else for the API in general."""
        general = self._in_general(api)
        if general is None or file is None or line is None:
            return general
        row = self._connection.execute(_SITE, (api, file, line, *self._project)).fetchone()
        return general if row is None else _figure(row, self.name, exact=True)

    def lines(self, api: str, file: str) -> set[int]:
        """The lines of a file at which an API was measured."""
        return {int(line) for (line,) in self._connection.execute(_LINES, (api, file))}

    def _in_general(self, api: str) -> Figure | None:
        if api not in self._general:
            row = self._connection.execute(_API, (api,)).fetchone()
            self._general[api] = None if row is None else _figure(row, self.name, exact=False)
        return self._general[api]

    def evidence(self, rule: str) -> list[RuleEvidence]:
        """The comparisons measured for a rule."""
        found = self._connection.execute(_EVIDENCE, (rule,))
        columns = [column[0] for column in found.description]
        return [evidence_from(dict(zip(columns, row, strict=True)), self.name) for row in found]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


class EnergyStore:
    """The three layers, asked in their order. Answers are remembered until `reopen`."""

    def __init__(self, db: Path, project: Path | None, *, strict: bool) -> None:
        self.db = db
        self.project = project
        self.strict = strict
        self.problems: list[str] = []
        self._layers: list[DatabaseLayer] = []
        self._answers: dict[tuple[str, str | None, int | None], Figure | None] = {}
        self.reopen()

    @classmethod
    def open(cls, db: Path | None = None, project: Path | None = None, *, strict: bool = True) -> EnergyStore:
        """Open the layers. Strict: raise `DatabaseProblem`; else leave a bad layer out, see `problems`."""
        return cls(db or user_database(), project, strict=strict)

    def reopen(self) -> None:
        """Forget remembered answers and open the files anew."""
        self.close()
        for name, path in self._files():
            if not path.exists():
                continue
            try:
                self._layers.append(DatabaseLayer(name, path, self.project))
            except DatabaseProblem as problem:
                self._leave_out(problem)
            except (sqlite3.Error, OSError) as error:
                self._leave_out(explain(path, error))

    def _files(self) -> list[tuple[Layer, Path]]:
        files: list[tuple[Layer, Path]] = [("here", self.db)]
        if self.project is not None:
            files.append(("team", team_database(self.project)))
        return files

    def _leave_out(self, problem: DatabaseProblem) -> None:
        if self.strict:
            self.close()
            raise problem
        if str(problem) not in self.problems:
            self.problems.append(str(problem))

    def lookup(self, api: str, *, file: str | None = None, line: int | None = None) -> Figure | None:
        """What is known of an API, at this very call site if it was measured there."""
        key = (api, file, line)
        answer = self._answers.get(key, _NOT_ASKED)
        if answer is _NOT_ASKED:
            if len(self._answers) >= MOST_REMEMBERED:
                self._answers.clear()
            answer = self._answers[key] = self._ask(api, file, line)
        return answer  # type: ignore[return-value]  # the sentinel was replaced

    def _ask(self, api: str, file: str | None, line: int | None) -> Figure | None:
        name = canonical(api)
        found: list[Figure] = []
        for layer in list(self._layers):
            try:
                figure = layer.lookup(name, file, line)
            except (sqlite3.Error, ValueError, TypeError) as error:
                self._drop(layer, error)
                continue
            if figure is not None:
                found.append(figure)
                if figure.layer == layer.name:
                    break  # what follows cannot be nearer
        # Own databases may also hold records of others, which do not go before the team's own.
        return min(found, key=lambda figure: LAYERS.index(figure.layer)) if found else published(api)

    def lines(self, api: str, file: str) -> set[int]:
        """The lines of a file at which an API was measured: elsewhere in it the API's own figure is the answer."""
        name, found = canonical(api), set[int]()
        for layer in list(self._layers):
            try:
                found |= layer.lines(name, file)
            except (sqlite3.Error, ValueError, TypeError) as error:
                self._drop(layer, error)
        return found

    def evidence(self, rule: str) -> Sequence[RuleEvidence]:
        """Measured comparisons for a rule: here, then the team's, then those shipped."""
        found: list[RuleEvidence] = []
        for layer in list(self._layers):
            try:
                found += layer.evidence(rule)
            except (sqlite3.Error, ValueError, TypeError) as error:
                self._drop(layer, error)
        return [*found, *shipped_evidence(rule)]

    def _drop(self, layer: DatabaseLayer, error: Exception) -> None:
        """A file that went bad while open is one problem, told once; the other layers still answer."""
        self._layers.remove(layer)
        layer.close()
        self._leave_out(explain(layer.path, error))

    def stamp(self) -> object:
        """Changes when the file of any layer changed on disk: compare, then `reopen`."""
        return tuple(_state(file) for _, path in self._files() for file in (path, write_ahead_log(path)))

    def close(self) -> None:
        """Close the files."""
        for layer in self._layers:
            layer.close()
        self._layers.clear()
        self._answers.clear()


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    # An empty log is as good as none: readers make one, and that is no change.
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None


def _figure(row: tuple[Any, ...], found_in: Layer, exact: bool) -> Figure:
    """A row of `_COLUMNS` as an answer; ValueError or TypeError where it holds what it should not."""
    api, layer, estimated, machine, meter, started, runs, measurements, sites, resolved, seconds = row[:11]
    total, low, high, cpu, ram, gpu, below, spread, version = row[11:]
    layer = LAYERS[LAYERS.index(layer)]
    imported = layer == "published"
    joules: dict[Device, float | None] = {"cpu": cpu, "ram": ram, "gpu": gpu}
    return Figure(
        api=str(api),
        layer="team" if found_in == "team" and not imported else layer,
        estimated=bool(estimated),
        machine=str(machine),
        meter=str(meter),
        date=str(started),
        runs=int(runs),
        measurements=int(measurements),
        sites=int(sites),
        resolved=int(resolved),
        seconds=float(seconds),
        total=_number(total),
        low=_number(low),
        high=_number(high),
        devices={device: float(value) for device, value in joules.items() if value is not None},
        below=_number(below),
        spread="range" if spread == "range" else "interval",
        exact_site=exact,
        source="records imported into the database" if imported else "",
        version=str(version),
    )


def _number(value: float | str | bytes | None) -> float | None:
    return None if value is None else float(value)
