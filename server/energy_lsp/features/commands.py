"""Commands for clients: measure, tune, calibrate, refresh, summary, meters. Each takes one object."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from energy_data.untrusted.printable import one_line
from energy_lsp.features.browsing import open_reports, reports_of
from energy_lsp.features.code_actions import MEASURE, SHOW_TUNED, TUNE
from energy_lsp.features.code_lens import SUMMARY
from energy_lsp.features.programs.measuring import command_line, run_under_progress, said_of
from energy_lsp.features.programs.measuring import measure as run_measure
from energy_lsp.features.programs.part import measure_part
from energy_lsp.features.programs.tuning import show_tuned
from energy_lsp.features.programs.tuning import tune as run_tune
from energy_lsp.features.refusal import refused
from energy_lsp.features.summary import encoded_summary, file_summary, summary_of, summary_text
from energy_lsp.features.unopened.reports import unopened_summaries
from energy_lsp.presentation.figures.account import NOTHING, Account
from energy_lsp.session.open_file import path_of
from energy_lsp.wire.encoding import Encoded
from energy_measure.problems import MeasureProblem

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer
    from energy_lsp.workspace.folders import Folder

Argument = dict[str, Any]
Token = types.ProgressToken | None


def register(server: EnergyServer) -> None:
    """Offer the commands."""

    @server.command(MEASURE)
    async def measure(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, Any]:
        target = measured_path(ls, argument)
        try:
            measured = await run_measure(ls, target, argument, token)
        except MeasureProblem as problem:
            raise refused(str(problem)) from problem
        await ls.reload()
        in_calls, uri = "", argument.get("uri")
        if isinstance(uri, str):
            known = sum((report.account() for report in await reports_of(ls, uri)), NOTHING)
            in_calls = known.short if known.joules > 0.0 else ""
        kind = "notebook" if target.suffix == ".ipynb" else "file"
        return measured | {"said": said_of(measured, in_calls, kind)}

    @server.command(TUNE)
    async def tune(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, Any]:
        target = measured_path(ls, argument)
        try:
            return await run_tune(ls, target, argument, token)
        except MeasureProblem as problem:
            raise refused(str(problem)) from problem

    @server.command(SHOW_TUNED)
    async def tune_and_show(ls: EnergyServer, argument: Argument, token: Token) -> None:
        await show_tuned(ls, await tune(ls, argument, token))

    @server.command("energyLsp.server.refresh")
    async def refresh(ls: EnergyServer, argument: Argument, token: Token) -> None:
        await ls.reload()

    @server.command("energyLsp.server.summary")
    async def summary(ls: EnergyServer, argument: Argument, token: Token) -> Encoded:
        found = await summary_for(ls, argument.get("uri"))
        answer: Encoded = await ls.worker.run(partial(encoded_summary, found))
        return answer

    @server.command(SUMMARY)
    async def show_summary(ls: EnergyServer, argument: Argument, token: Token) -> None:
        text = one_line(summary_text(await summary_for(ls, argument.get("uri"))))
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))

    @server.command("energyLsp.server.measurePart")
    async def part(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, Any]:
        try:
            return await measure_part(ls, measured_path(ls, argument), argument, token)
        except MeasureProblem as problem:
            raise refused(str(problem)) from problem

    @server.command("energyLsp.server.programs")
    async def programs(ls: EnergyServer, argument: Argument, token: Token) -> Any:
        return await programs_of(ls, measured_path(ls, argument), str(argument.get("python") or ""))

    @server.command("energyLsp.server.calibrate")
    async def calibrate(ls: EnergyServer, argument: Argument, token: Token) -> None:
        quick = bool(argument.get("quick"))

        def command(folder: Folder, target: Path) -> list[str]:
            words = ["calibrate", "--project", str(folder.root), "--progress", "json", *(["--quick"] * quick)]
            words += ["--db", str(folder.database)] if folder.database is not None else []
            python = folder.settings.measure_python
            return [*words, *(["--python", python] if python else [])]

        try:
            await run_under_progress(ls, measured_path(ls, {}), command, "Calibrating", token)
        except MeasureProblem as problem:
            raise refused(str(problem)) from problem
        await ls.reload()

    @server.command("energyLsp.server.meters")
    async def meters(ls: EnergyServer, argument: Argument, token: Token) -> Any:
        return json.loads(await command_line("doctor", "--format", "json"))


async def summary_for(ls: EnergyServer, uri: str | None) -> dict[str, Any]:
    """The summary of a file or workspace, made in the worker: it looks at every call."""
    reports = await (reports_of(ls, uri) if uri else open_reports(ls))
    unopened = [] if uri else [one async for one in unopened_summaries(ls)]

    def put_together() -> dict[str, Any]:
        parts = [(report.account(), file_summary(report, opened=True)) for report in reports]
        parts += [(Account.from_json(account), file) for account, file in unopened]
        return summary_of(uri, parts)

    answer: dict[str, Any] = await ls.worker.run(put_together)
    return answer


async def programs_of(ls: EnergyServer, target: Path, asked_for: str = "") -> Any:
    """What could be measured, and with what: `energy-lsp measure --list`. Nothing runs."""
    if not ls.folders.trusted:
        raise refused("This workspace is restricted: trust it before measuring, as measuring runs its code.")
    folder = ls.folders.of(target)
    words = ["measure", str(target), "--project", str(folder.root), "--list", "--format", "json"]
    words += ["--db", str(folder.database)] if folder.database is not None else []
    python = asked_for or folder.settings.measure_python
    words += ["--python", python] if python else []
    return json.loads(await command_line(*words))


def measured_path(ls: EnergyServer, argument: Argument) -> Path:
    """The file or folder that a client wants measured."""
    uri = argument.get("uri") or argument.get("workspace")
    path = path_of(uri) if isinstance(uri, str) else None
    if uri and path is None:
        raise refused("Only files on disk can be measured: save it first.")
    if path is None:
        roots = ls.folders.roots
        if not roots:
            raise refused("There is no folder to measure: open one, or name a file.")
        path = roots[0].root
    if not path.exists():
        raise refused(f"{path.name} is not on disk: save it first.")
    return path
