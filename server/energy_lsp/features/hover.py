"""Hover: what the call under the cursor costs, where that is known from, and what would cost less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.presentation.hover_text import hover as hover_text
from energy_lsp.presentation.layer_wording import call_lines, creates, layer_lines, made_by
from energy_lsp.presentation.markup import Markdown, Plain

if TYPE_CHECKING:
    from energy_code.rules import Finding
    from energy_lsp.presentation.file_report import FileReport
    from energy_lsp.presentation.hints import Hint
    from energy_lsp.presentation.markup import Markup
    from energy_lsp.session.server import EnergyServer


def register(server: EnergyServer) -> None:
    """Offer hovers."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: EnergyServer, params: types.HoverParams) -> types.Hover | None:
        page = await ls.files.page(params.text_document.uri)
        return hover_at(page, params.position, markdown=ls.client.markdown) if page else None


def hover_at(page: FileReport, position: types.Position, *, markdown: bool) -> types.Hover | None:
    """The hover for a position; None where no API is called."""
    from energy_data.catalogue.catalogue import Catalogue

    hint = page.hint_at(position)
    markup = Markdown() if markdown else Plain()
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    if hint is None:
        layers = created_here(page, position.line, None, markup)
        return types.Hover(types.MarkupContent(kind, "\n\n".join(layers))) if layers else None
    row = page.row(hint.call.span.start_byte)
    text = hover_text(
        hint,
        markup,
        Catalogue.load().url(hint.call.api),
        [saving_text(page, finding) for finding in hint.findings],
        share=page.share(hint),
        prediction=prediction_for(page, hint),
        inside=inside_of(page, row, hint, markup),
    )
    if layers := created_here(page, row, hint, markup):
        # What the constructor itself took is not what a reader of the line asks for.
        text = "\n\n".join([*layers, markup.bold("Creating it"), text])
    return types.Hover(types.MarkupContent(kind, text), page.range(hint.call.name))


def saving_text(page: FileReport, finding: Finding) -> str:
    """What a finding saves: in this program, where that is known, and where its rule was measured."""
    impact, measured = page.impact_of(finding), page.verdict_of(finding).text
    return f"{impact.text(page.folder.settings.smallest_share)}; {measured}" if impact else measured


def prediction_for(page: FileReport, hint: Hint) -> str | None:
    """What is predicted of a call that has no figure of its own."""
    if hint.figure is not None and hint.figure.origin != "api":
        return None
    # Only such a hover needs it: at start it would be loaded for nothing.
    from energy_lsp.predicting.in_editor import predicted_line

    return predicted_line(page, hint)


def created_here(page: FileReport, row: int, hint: Hint | None, markup: Markup) -> list[str]:
    """What layers created at a row had; nothing for a call on the row that creates none."""
    layers = page.layers
    uses = layers.created.get(row) if layers is not None else None
    if layers is None or not uses or (hint is not None and not creates(hint, uses)):
        return []
    return layer_lines(made_by(hint, uses) if hint is not None else uses, layers, markup)


def inside_of(page: FileReport, row: int, hint: Hint, markup: Markup) -> list[str]:
    """What a call went into."""
    layers = page.layers
    for call in layers.calls.get(row, ()) if layers is not None else ():
        if call.api == hint.call.api and layers is not None:
            return call_lines(call, layers, page.folder.address, markup)
    return []
