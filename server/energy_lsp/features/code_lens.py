"""Code lenses above functions, classes and notebook cells: what is known below, and how much is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.wire.encoding import Encoded, encoded_list

if TYPE_CHECKING:
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.session.server import EnergyServer

SUMMARY = "energyLsp.server.showSummary"
MEASURE = "energyLsp.server.measure"


def register(server: EnergyServer) -> None:
    """Offer code lenses."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(ls: EnergyServer, params: types.CodeLensParams) -> Encoded:
        return await ls.files.answer(params.text_document.uri, lambda report: encoded_list(lenses(report)))


def lenses(report: FileReport) -> list[types.CodeLens]:
    """One lens for the cell, if it is one, and one for each function or class below which something is known.

    Where nothing is known at all one lens says so for the whole file or notebook, and measures it.
    """
    if not report.folder.settings.code_lens:
        return []
    top = types.Range(types.Position(0, 0), types.Position(0, 0))
    if report.nothing_known and not report.folder.trusted:
        return [_lens(report, top, report.nothing_known)]
    if report.nothing_known:
        return [_lens(report, top, f"{report.nothing_known}: measure to learn it", MEASURE, report.owner)]
    found = []
    if report.is_cell and report.account().counted:
        # A function at the top of a cell has its own lens on the same line.
        found.append(_lens(report, top, f"{report.account().label} · this cell"))
    for function in report.functions:
        account = report.hints_in(function.span).account()
        if account.counted:
            found.append(_lens(report, report.start_of(function.span), account.label))
    return found


def _lens(
    report: FileReport, where: types.Range, label: str, command: str = SUMMARY, uri: str = ""
) -> types.CodeLens:
    return types.CodeLens(where, types.Command(label, command, arguments=[{"uri": uri or report.uri}]))
