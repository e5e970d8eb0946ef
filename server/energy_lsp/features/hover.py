"""Hover: what the call under the cursor costs, where that is known from, and what would cost less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.hints import hover as hover_text
from energy_lsp.markup import Markdown, Plain

if TYPE_CHECKING:
    from energy_lsp.pages import Page
    from energy_lsp.server import EnergyServer


def register(server: EnergyServer) -> None:
    """Offer hovers."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: EnergyServer, params: types.HoverParams) -> types.Hover | None:
        page = await ls.files.page(params.text_document.uri)
        return hover_at(page, params.position, markdown=ls.client.markdown) if page else None


def hover_at(page: Page, position: types.Position, *, markdown: bool) -> types.Hover | None:
    """The hover for a position; None where no API is called."""
    from energy_data.catalogue import Catalogue

    hint = page.hint_at(position)
    if hint is None:
        return None
    savings = [page.verdict_of(finding).text for finding in hint.findings]
    url = Catalogue.load().url(hint.call.api)
    text = hover_text(hint, Markdown() if markdown else Plain(), url, savings)
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, text), page.range(hint.call.name))
