"""Inlay hints: joules behind each call whose cost is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.encoding import Encoded, encoded_list
from energy_lsp.hints import cost, provenance, short

if TYPE_CHECKING:
    from energy_lsp.hints import Hint
    from energy_lsp.pages import Page
    from energy_lsp.server import EnergyServer


def register(server: EnergyServer) -> None:
    """Offer inlay hints."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(ls: EnergyServer, params: types.InlayHintParams) -> Encoded:
        uri, where = params.text_document.uri, params.range
        return await ls.files.answer(uri, lambda page: encoded_list(inlay_hints_in(page, where)))


def inlay_hints_in(page: Page, where: types.Range) -> list[types.InlayHint]:
    """The inlay hints of a stretch of text, usually what the editor shows."""
    if not page.folder.settings.inlay_hints:
        return []
    hints = page.hints.between(page.offset(where.start), page.offset(where.end))
    return [inlay for hint in hints if (inlay := _inlay(page, hint)) is not None]


def _inlay(page: Page, hint: Hint) -> types.InlayHint | None:
    label = short(hint)
    if label is None or hint.figure is None:
        return None
    return types.InlayHint(
        position=page.range(hint.call.span).end,
        label=label,
        padding_left=True,
        tooltip=f"{hint.call.api}: {cost(hint)}\n{provenance(hint.figure)}",
    )
