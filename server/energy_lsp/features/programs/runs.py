"""The measured runs of a workspace: list, compare two, a program's history, delete."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy_data.database.database import Database
from energy_data.database.pruning import delete_runs
from energy_data.paths import user_database
from energy_data.problems import Problem
from energy_data.project_identity import project_ids
from energy_data.project_places import place_of
from energy_lsp.features.refusal import refused
from energy_lsp.presentation.words.runs import comparison_page, history_page, run_summary
from energy_lsp.runs.history import call_history, program_history

if TYPE_CHECKING:
    from lsprotocol import types

    from energy_data.model import Run
    from energy_lsp.session.server import EnergyServer

MOST = 200
Argument = dict[str, Any]


def register(server: EnergyServer) -> None:
    """Offer the commands."""

    @server.command("energyLsp.server.runs")
    async def runs(
        ls: EnergyServer, argument: Argument, token: types.ProgressToken | None
    ) -> list[dict[str, Any]]:
        roots = [one.root for one in ls.folders.roots]
        found: list[dict[str, Any]] = await ls.worker.run(lambda: listed(database_of(ls), roots))
        return found

    @server.command("energyLsp.server.compareRuns")
    async def compare(
        ls: EnergyServer, argument: Argument, token: types.ProgressToken | None
    ) -> dict[str, str]:
        page: dict[str, str] = await ls.worker.run(lambda: compared(database_of(ls), argument))
        return page

    @server.command("energyLsp.server.history")
    async def history(
        ls: EnergyServer, argument: Argument, token: types.ProgressToken | None
    ) -> dict[str, str]:
        wanted = str(argument.get("run", ""))
        page: dict[str, str] = await ls.worker.run(lambda: history_of(database_of(ls), wanted))
        return page

    @server.command("energyLsp.server.deleteRun")
    async def delete(ls: EnergyServer, argument: Argument, token: types.ProgressToken | None) -> None:
        if not ls.folders.trusted:
            raise refused("This workspace is restricted: trust it before deleting runs.")
        await ls.worker.run(lambda: deleted(database_of(ls), str(argument.get("run", ""))))
        await ls.reload()


def database_of(ls: EnergyServer) -> Path:
    """Where the runs are."""
    return ls.folders.of(None).database or user_database()


def listed(database: Path, roots: Sequence[Path]) -> list[dict[str, Any]]:
    """The newest runs of the projects that are open; of all projects where none is."""
    if not database.exists():
        return []
    with _reading(database) as opened:
        runs = sorted(opened.runs(), key=lambda run: run.started, reverse=True)
        if roots:
            runs = [run for run in runs if any(_belongs(run, root) for root in roots)]
        return [run_summary(run, opened.phases(run.id)) for run in runs[:MOST]]


def compared(database: Path, argument: Mapping[str, Any]) -> dict[str, str]:
    """Two runs, the older first, as a page."""
    with _reading(database) as opened:
        both = [_named(opened, str(argument.get(name, ""))) for name in ("before", "after")]
        before, after = sorted(both, key=lambda run: run.started)
        phases = {run.id: opened.phases(run.id) for run in both}
        calls = {run.id: opened.measurements(run.id) for run in both}
        return {"markdown": comparison_page(before, after, phases, calls)}


def history_of(database: Path, run_id: str) -> dict[str, str]:
    """All runs of the program that a run is of, as a page."""
    with _reading(database) as opened:
        run = _named(opened, run_id)
        runs = sorted(opened.runs(), key=lambda one: one.started)
        return {"markdown": history_page(run, program_history(run, runs))}


def history_of_call(database: Path, api: str, file: str, line: int) -> str:
    """A call in all runs of the program that measured it last: that of the line, else the nearest."""
    if database.exists():
        with _reading(database) as opened:
            runs = sorted(opened.runs(), key=lambda one: one.started)
            for run in reversed(runs):
                calls = [one for one in opened.measurements(run.id) if (one.api, one.file) == (api, file)]
                if calls:
                    call = min(calls, key=lambda one: abs(one.line - line))
                    moments = call_history(call, program_history(run, runs), opened)
                    return history_page(run, moments, api)
    raise refused("This call was never measured here: measure the file first.")


def deleted(database: Path, run_id: str) -> None:
    """Take one run out of the database."""
    with _reading(database) as opened:
        _named(opened, run_id)
    with Database.open(database, create=False) as opened:
        delete_runs(opened, [run_id])


def _reading(database: Path) -> Database:
    try:
        return Database.read(database)
    except (Problem, sqlite3.Error, OSError) as problem:
        raise refused(str(problem)) from problem


def _named(opened: Database, run_id: str) -> Run:
    found = next((run for run in opened.runs() if run.id == run_id), None)
    if found is None:
        raise refused(f"There is no run {run_id!r} in the database any more.")
    return found


def _belongs(run: Run, root: Path) -> bool:
    if run.project_id and run.project_id in project_ids(root):
        return True
    project = place_of(run)
    if project is None:  # merged from another machine, where it lay elsewhere
        return bool(run.project) and run.project == root.name
    return project.is_relative_to(root) or root.is_relative_to(project)
