"""What is known of an API: this machine's own database first, then the team's, then the published figures."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from energy_data.catalogue.naming import canonical
from energy_data.database.connections import write_ahead_log
from energy_data.database.source_database import USUAL_SETTING, Setting, SiteRow, SourceDatabase
from energy_data.database.summaries import SOURCES
from energy_data.model import Figure, MeasuredSite, RuleEvidence, Source
from energy_data.paths import team_database, user_database
from energy_data.problems import DatabaseProblem as DatabaseProblem
from energy_data.problems import explain
from energy_data.published.figures import published, shipped_evidence

T = TypeVar("T")


class EnergyStore:
    """The three sources, asked in their order. Answers of `lookup` are remembered until `reopen`."""

    def __init__(self, db: Path, project: Path | None, *, strict: bool) -> None:
        self.db = db
        self.project = project
        self.strict = strict
        self.problems: list[str] = []
        self._databases: list[SourceDatabase] = []
        self._general: dict[str, Figure | None] = {}
        self._at_places: dict[str, dict[tuple[str, int], Figure]] = {}
        self._setting: list[Setting | None] = []
        self._last_runs: set[str] | None = None
        self.reopen()

    @classmethod
    def open(cls, db: Path | None = None, project: Path | None = None, *, strict: bool = True) -> EnergyStore:
        """Open the sources. Strict: raise `DatabaseProblem`; else leave a bad source out, see `problems`."""
        return cls(db or user_database(), project, strict=strict)

    def reopen(self) -> None:
        """Forget remembered answers and open the files anew."""
        self.close()
        for name, path in self._files():
            if not os.path.exists(path):  # also False for names that no file can have
                continue
            try:
                self._databases.append(SourceDatabase(name, path, self.project))
            except DatabaseProblem as problem:
                self._leave_out(problem)
            except (sqlite3.Error, OSError, ValueError, TypeError, KeyError) as error:
                self._leave_out(explain(path, error))

    def _files(self) -> list[tuple[Source, Path]]:
        files: list[tuple[Source, Path]] = [("here", self.db)]
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
        if file is not None and line is not None:
            if file not in self._at_places:
                from_behind = reversed(self.sites(file))  # of two calls on a line the first counts
                self._at_places[file] = {(site.api, site.line): site.figure for site in from_behind}
            figure = self._at_places[file].get((canonical(api), line))
            if figure is not None:
                return figure
        if api not in self._general:
            self._general[api] = self._in_general(api)
        return self._general[api]

    def sites(self, file: str) -> Sequence[MeasuredSite]:
        """The measured calls of a file of the project, each with the figure that is nearest.

        Nearest: measured here, else by the team; with the machine and meter of the project's last run, else others;
        then the newest. What ran with another back end, device or precision than that run is no figure of this program.
        """
        current = self.setting()
        nearest: dict[tuple[str, str, str, int], tuple[tuple[int, bool], MeasuredSite]] = {}
        for rows in self._ask_all(lambda database: list(database.sites(file))):
            for row in rows:
                if current is not None and not row.setting.fits(current):
                    continue
                rank = _rank(row, current)
                if row.key not in nearest or rank < nearest[row.key][0]:
                    nearest[row.key] = rank, row.site
        found = sorted((site for _, site in nearest.values()), key=lambda site: (site.line, site.column))
        last = self.last_runs() if self.project is not None else {site.run_id for site in found}
        return [
            site if site.run_id in last else replace(site, figure=replace(site.figure, of_last_run=False))
            for site in found
        ]

    def last_runs(self) -> set[str]:
        """The last run of each of the project's programs: a sum over older ones too would be of no run at all."""
        if self._last_runs is None:
            self._last_runs = set().union(*self._ask_all(lambda database: database.last_runs()))
        return self._last_runs

    def setting(self) -> Setting | None:
        """What the project was measured with last, here or else by the team."""
        if not self._setting:
            found = self._ask_all(lambda database: database.setting())
            self._setting.append(next((setting for setting in found if setting is not None), None))
        return self._setting[0]

    def with_shapes(self, api: str, shapes: tuple[str, ...], *, often: bool = False) -> Figure | None:
        """What a call of an API with the same shapes took at another place; None where no shape is known.

        `often`: the call runs again and again.

        Only what ran as this project runs: with its back end, device and precision.
        """
        if not shapes:
            return None
        name, current = canonical(api), self.setting() or USUAL_SETTING
        found = self._ask_all(lambda database: database.with_shapes(name, shapes, current, often))
        return next((figure for figure in found if figure is not None), None)

    def apis_with_shapes(self) -> set[str]:
        """The APIs of which calls with known shapes were measured: for the others nobody need work shapes out."""
        return set().union(*self._ask_all(lambda database: database.apis_with_shapes()))

    def measured_in_folders(self) -> dict[tuple[str, str], str]:
        """When each file of a project without a commit was measured last, by project and name."""
        found: dict[tuple[str, str], str] = {}
        for files in self._ask_all(lambda database: database.measured_in_folders()):
            found |= files
        return found

    def _in_general(self, api: str) -> Figure | None:
        name = canonical(api)
        found: list[Figure] = []
        for figure in self._ask_all(lambda database: database.in_general(name)):
            if figure is not None and self._is_of_here(figure):
                found.append(figure)
        # Own databases may also hold records of others, which do not go before the team's own.
        return min(found, key=lambda figure: SOURCES.index(figure.source)) if found else published(api)

    def _is_of_here(self, figure: Figure) -> bool:
        """False for figures of another back end than the project's."""
        current = self.setting()
        return current is None or figure.source == "published" or figure.backend == current.backend

    def run_joules(self, run_id: str) -> float | None:
        """Net joules of a whole run."""
        found = self._ask_all(lambda database: database.run_joules(run_id))
        return next((joules for joules in found if joules is not None), None)

    def run_calls(self, run_id: str) -> Mapping[str, float]:
        """Net joules of a run's calls by API, without tracing, callbacks and reading data; empty where nobody noted it."""
        return next(filter(None, self._ask_all(lambda database: database.run_calls(run_id))), {})

    def evidence(self, rule: str) -> Sequence[RuleEvidence]:
        """Measured comparisons for a rule: here, then the team's, then those shipped."""
        found = [one for some in self._ask_all(lambda database: database.evidence(rule)) for one in some]
        return [*found, *shipped_evidence(rule)]

    def _ask_all(self, question: Callable[[SourceDatabase], T]) -> Iterator[T]:
        for database in list(self._databases):
            try:
                answer = question(database)
            except (sqlite3.Error, ValueError, TypeError, ArithmeticError, RecursionError) as error:
                self._drop(database, error)
                continue
            yield answer

    def _drop(self, database: SourceDatabase, error: Exception) -> None:
        """A file that went bad while open is one problem, told once; the other sources still answer."""
        self._databases.remove(database)
        database.close()
        self._leave_out(explain(database.path, error))

    def stamp(self) -> object:
        """Changes when the file of any source changed on disk: compare, then `reopen`."""
        return tuple(_state(file) for _, path in self._files() for file in (path, write_ahead_log(path)))

    def close(self) -> None:
        """Close the files."""
        for database in self._databases:
            database.close()
        self._databases.clear()
        self._general.clear()
        self._at_places.clear()
        self._setting.clear()
        self._last_runs = None


def _rank(row: SiteRow, current: Setting | None) -> tuple[int, bool]:
    """Less is nearer."""
    usual = current is None or (row.setting.machine, row.setting.meter) == (current.machine, current.meter)
    return SOURCES.index(row.site.figure.source), not usual


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    # An empty log is as good as none: readers make one, and that is no change.
    return (found.st_ino, found.st_mtime_ns, found.st_size) if found.st_size else None
