"""Pages that say more than a hover: the evidence for a rule, the inside of a call, what could cost less, the report.

Each is a command that answers with the page, for clients that render Markdown, and one that has the client open it.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from energy_data.untrusted.reading import MEGABYTE, read_text
from energy_data.untrusted.writing import write_file
from energy_lsp.features.code_actions import CALL_HISTORY, CHEAPER, INSIDE, SHOW_REPORT, WHY
from energy_lsp.features.code_actions import saved as joules_saved
from energy_lsp.features.hover import inside_of
from energy_lsp.features.programs.measuring import command_line
from energy_lsp.features.programs.runs import database_of, history_of_call, listed
from energy_lsp.features.refusal import refused
from energy_lsp.presentation.notation.markup import Markdown
from energy_lsp.presentation.words.evidence import evidence_page
from energy_lsp.session.open_file import path_of

if TYPE_CHECKING:
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.session.server import EnergyServer

logger = logging.getLogger(__name__)

LARGEST_PAGE = 256 * MEGABYTE
PAGE = "energyLsp.server.page"
Argument = dict[str, Any]
Token = types.ProgressToken | None


def register(server: EnergyServer) -> None:
    """Offer the commands."""

    @server.command("energyLsp.server.evidence")
    async def evidence(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, str]:
        return await evidence_for(ls, argument)

    @server.command(WHY)
    async def why(ls: EnergyServer, argument: Argument, token: Token) -> None:
        page = await evidence_for(ls, argument, picture=False)
        await show(ls, page["uri"].rpartition("/")[2], page["markdown"])

    @server.command(PAGE)
    async def page(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, str]:
        maker = {"inside": inside_page, "cheaper": cheaper_page, "history": history_page}.get(
            str(argument.get("about"))
        )
        if maker is None:
            raise refused("`about` is inside, cheaper or history.")
        return {"markdown": await maker(ls, argument)}

    @server.command(INSIDE)
    async def inside(ls: EnergyServer, argument: Argument, token: Token) -> None:
        await show(ls, "inside.md", await inside_page(ls, argument))

    @server.command(CALL_HISTORY)
    async def call_history(ls: EnergyServer, argument: Argument, token: Token) -> None:
        await show(ls, "history.md", await history_page(ls, argument))

    @server.command(CHEAPER)
    async def cheaper(ls: EnergyServer, argument: Argument, token: Token) -> None:
        await show(ls, "cheaper.md", await cheaper_page(ls, argument))

    @server.command("energyLsp.server.report")
    async def report(ls: EnergyServer, argument: Argument, token: Token) -> dict[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "report.html"
            await write_report(ls, await wanted_run(ls, argument), written)
            return {"html": read_text(written, LARGEST_PAGE)}

    @server.command(SHOW_REPORT)
    async def show_report(ls: EnergyServer, argument: Argument, token: Token) -> None:
        written = ls.scratch() / "report.html"
        await write_report(ls, await wanted_run(ls, argument), written)
        if not (ls.client.show_document and await opened(ls, written, external=True)):
            text = f"The report is {written}: open it in a browser."
            ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))


async def wanted_run(ls: EnergyServer, argument: Argument) -> str:
    """The run that is named; else the last one of the program in front, of this workspace, of all."""
    if run := argument.get("run"):
        return str(run)
    uri = argument.get("uri")
    path = path_of(uri) if isinstance(uri, str) else None
    roots = [one.root for one in ls.folders.roots]
    runs: list[dict[str, Any]] = await ls.worker.run(lambda: listed(database_of(ls), roots))
    of_file = [run["id"] for run in runs if Path(run["project"]) / run["entry"] == path]
    return str(next(iter(of_file or [run["id"] for run in runs]), "latest"))


async def write_report(ls: EnergyServer, run: str, page: Path) -> None:
    """The report of a run, as `energy-lsp report` writes it."""
    chosen = ls.folders.of(None).database
    await command_line(
        "report", run, "--html", str(page), "--links", *(["--db", str(chosen)] if chosen else [])
    )


async def evidence_for(ls: EnergyServer, argument: Argument, *, picture: bool = True) -> dict[str, str]:
    """A rule's page with what was measured, and where it is documented."""
    from energy_code import rules

    rule = rules.ALL.get(str(argument.get("rule", "")))
    if rule is None:
        raise refused(f"There is no rule {argument['rule']!r}." if "rule" in argument else "Name a rule.")
    uri = argument.get("uri")
    folder = ls.folders.of(path_of(uri) if isinstance(uri, str) else None)
    known = await ls.worker.run(lambda: folder.evidence(rule.name))
    return {"markdown": evidence_page(rule, known, picture=picture), "uri": rule.url}


async def inside_page(ls: EnergyServer, argument: Argument) -> str:
    """What the calls of a line went into: layers and passes."""
    report, row = await _place(ls, argument)
    markup = Markdown()
    for hint in report.hints:
        if report.row(hint.call.name.start_byte) == row and (found := inside_of(report, row, hint, markup)):
            return "\n\n".join([f"# Inside {markup.code(hint.call.api)}, line {row + 1}", *found]) + "\n"
    raise refused(
        "Nobody has looked inside this call yet: measure the file again, with models that run in it."
    )


async def history_page(ls: EnergyServer, argument: Argument) -> str:
    """What the costliest call of a line took in each run of its program."""
    report, row = await _place(ls, argument)
    hints = [hint for hint in report.hints if report.row(hint.call.name.start_byte) == row]
    if not hints:
        raise refused("There is no call of TensorFlow or Keras on this line.")
    api = max(hints, key=lambda hint: hint.known_joules or 0.0).call.api
    text: str = await ls.worker.run(lambda: history_of_call(database_of(ls), api, report.file, row + 1))
    return text


async def cheaper_page(ls: EnergyServer, argument: Argument) -> str:
    """What is suggested in a file, the largest saving first, and how to find more."""
    report, row = await _place(ls, argument)
    markup = Markdown()
    lines = ["# What could cost less", ""]
    findings = sorted(report.findings, key=lambda one: -joules_saved(report, one))
    for finding in findings:
        place = report.row(finding.span.start_byte)
        here = " (this line)" if place == row else ""
        lines += [
            f"- {markup.file_link(f'Line {place + 1}', report.uri, place)}{here}: {markup.prose(finding.message)}. "
            f"{markup.text(report.verdict_of(finding).text)}"
        ]
    if not findings:
        lines.append("No rule has anything to say about this file.")
    lines += [
        "",
        "*Tune this program* tries further changes (compiling, batches, threads, precision) on copies of the project "
        "and keeps what is proven: `energy-lsp tune` in a terminal.",
    ]
    return "\n".join(lines) + "\n"


async def _place(ls: EnergyServer, argument: Argument) -> tuple[FileReport, int]:
    """The text and line that a command is about."""
    uri, line = argument.get("uri"), argument.get("line")
    report = await ls.files.report(uri) if isinstance(uri, str) else None
    if report is None or not isinstance(line, int):
        raise refused("Open the file first: `uri` and `line` name a place in it.")
    return report, line


async def show(ls: EnergyServer, name: str, markdown: str) -> None:
    """Open a page in the client; one that opens no documents gets it as a message."""
    path = ls.scratch() / name
    write_file(path, markdown, private=True)
    if not (ls.client.show_document and await opened(ls, path)):
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, markdown))


async def opened(ls: EnergyServer, path: Path, *, external: bool = False) -> bool:
    """Whether the client opened a file of ours."""
    params = types.ShowDocumentParams(path.as_uri(), external=external or None, take_focus=True)
    try:
        shown = await ls.window_show_document_async(params)
    except JsonRpcException as problem:
        logger.warning("The client did not open %s: %s", path, problem)
        return False
    return shown.success
