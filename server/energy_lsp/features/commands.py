"""Commands for clients: measure, tune, refresh, summary, meters, evidence, report. Each takes one object."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from energy_data.untrusted.reading import MEGABYTE, read_text
from energy_data.untrusted.writing import write_file
from energy_lsp.features.code_actions import MEASURE, SHOW_TUNED, TUNE, WHY
from energy_lsp.features.code_lens import SUMMARY
from energy_lsp.features.measuring import RUN_COMMAND_LINE
from energy_lsp.features.measuring import measure as run_measure
from energy_lsp.features.summary import encoded_summary, file_summary, summary_of, summary_text
from energy_lsp.features.tuning import show_tuned
from energy_lsp.features.tuning import tune as run_tune
from energy_lsp.presentation.account import Account
from energy_lsp.presentation.evidence import evidence_page
from energy_lsp.session.browsing import open_pages, pages_of
from energy_lsp.session.open_files import path_of
from energy_lsp.session.unopened_files import unopened_summaries
from energy_lsp.wire.encoding import Encoded
from energy_measure.problems import MeasureProblem

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer

logger = logging.getLogger(__name__)

LARGEST_PAGE = 256 * MEGABYTE
Argument = dict[str, Any]
Token = types.ProgressToken | None


def refused(message: str) -> JsonRpcException:
    """An answer that says in one sentence why a command was not carried out."""
    return JsonRpcException(message=message, code=int(types.LSPErrorCodes.RequestFailed))


def register(server: EnergyServer) -> None:
    """Offer the commands."""

    @server.command(MEASURE)
    async def measure(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, Any]:
        target = measured_path(ls, argument)
        try:
            return await run_measure(ls, target, token)
        except MeasureProblem as problem:
            raise refused(str(problem)) from problem

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
        text = summary_text(await summary_for(ls, argument.get("uri")))
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))

    @server.command("energyLsp.server.meters")
    async def meters(ls: EnergyServer, argument: Argument, token: Token) -> Any:
        return json.loads(await command_line("doctor", "--format", "json"))

    @server.command("energyLsp.server.evidence")
    async def evidence(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, str]:
        return await evidence_for(ls, argument)

    @server.command(WHY)
    async def why(ls: EnergyServer, argument: Argument, token: Token) -> None:
        await show_evidence(ls, await evidence_for(ls, argument))

    @server.command("energyLsp.server.report")
    async def report(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            chosen = ls.folders.of(None).database
            database = ["--db", str(chosen)] if chosen else []
            await command_line("report", str(argument.get("run") or "latest"), "--html", str(page), *database)
            return {"html": read_text(page, LARGEST_PAGE)}


async def summary_for(ls: EnergyServer, uri: str | None) -> dict[str, Any]:
    """The summary of a file or workspace, made in the worker: it looks at every call."""
    pages = await (pages_of(ls, uri) if uri else open_pages(ls))
    unopened = [] if uri else [told async for told in unopened_summaries(ls)]

    def put_together() -> dict[str, Any]:
        parts = [(page.account, file_summary(page)) for page in pages]
        parts += [(Account.from_json(account), file) for account, file in unopened]
        return summary_of(uri, parts)

    answer: dict[str, Any] = await ls.worker.run(put_together)
    return answer


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


async def command_line(*arguments: str) -> bytes:
    """What one of our own commands prints; its complaint becomes the answer."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        RUN_COMMAND_LINE,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, complaint = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode != 0:
        raise refused(complaint.decode("utf-8", "replace").strip() or f"energy-lsp {arguments[0]} failed.")
    return output


async def evidence_for(ls: EnergyServer, argument: Argument) -> dict[str, str]:
    """A rule's page with what was measured, and where it is documented."""
    from energy_code import rules

    rule = rules.ALL.get(str(argument.get("rule", "")))
    if rule is None:
        raise refused(f"There is no rule {argument['rule']!r}." if "rule" in argument else "Name a rule.")
    uri = argument.get("uri")
    folder = ls.folders.of(path_of(uri) if isinstance(uri, str) else None)
    known = await ls.worker.run(lambda: folder.evidence(rule.name))
    return {"markdown": evidence_page(rule, known), "uri": rule.url}


async def show_evidence(ls: EnergyServer, page: dict[str, str]) -> None:
    """Open the evidence in the client; one that opens no documents gets it as a message."""
    if not (ls.client.show_document and await _opened(ls, page)):
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, page["markdown"]))


async def _opened(ls: EnergyServer, page: dict[str, str]) -> bool:
    path = ls.scratch / page["uri"].rpartition("/")[2]
    write_file(path, page["markdown"], private=True)
    try:
        shown = await ls.window_show_document_async(types.ShowDocumentParams(path.as_uri(), take_focus=True))
    except JsonRpcException as problem:
        logger.warning("The client did not open %s: %s", path, problem)
        return False
    return shown.success
