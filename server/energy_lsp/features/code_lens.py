"""Code lenses above functions, classes and notebook cells: what is known below, and how much is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.encoding import Encoded, encoded_list

if TYPE_CHECKING:
    from energy_lsp.pages import Page
    from energy_lsp.server import EnergyServer

SUMMARY = "energyLsp.server.showSummary"


def register(server: EnergyServer) -> None:
    """Offer code lenses."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(ls: EnergyServer, params: types.CodeLensParams) -> Encoded:
        return await ls.files.answer(params.text_document.uri, lambda page: encoded_list(lenses(page)))


def lenses(page: Page) -> list[types.CodeLens]:
    """One lens for the cell, if it is one, and one for each function or class that calls an API."""
    if not page.folder.settings.code_lens:
        return []
    found = []
    if page.is_cell and page.hints:
        top = types.Range(types.Position(0, 0), types.Position(0, 0))
        # A function at the top of a cell has its own lens on the same line.
        found.append(_lens(page, top, f"{page.total.label} · this cell"))
    for function in page.functions:
        inside = page.hints_in(function.span)
        if inside:
            found.append(_lens(page, page.start_of(function.span), inside.total.label))
    return found


def _lens(page: Page, where: types.Range, label: str) -> types.CodeLens:
    return types.CodeLens(where, types.Command(label, SUMMARY, arguments=[{"uri": page.uri}]))
