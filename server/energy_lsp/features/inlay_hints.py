"""Inlay hints: joules behind each call whose cost is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.presentation.layer_wording import creates, layer_label, layer_lines
from energy_lsp.presentation.markup import Plain
from energy_lsp.presentation.wording import cost, provenance, short
from energy_lsp.wire.encoding import Encoded, encoded_list

if TYPE_CHECKING:
    from energy_lsp.presentation.file_report import FileReport
    from energy_lsp.presentation.hints import Hint
    from energy_lsp.session.server import EnergyServer


def register(server: EnergyServer) -> None:
    """Offer inlay hints."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(ls: EnergyServer, params: types.InlayHintParams) -> Encoded:
        uri, where = params.text_document.uri, params.range
        return await ls.files.answer(uri, lambda page: encoded_list(inlay_hints_in(page, where)))


def inlay_hints_in(page: FileReport, where: types.Range) -> list[types.InlayHint]:
    """The inlay hints of a stretch of text, usually what the editor shows."""
    if not page.folder.settings.inlay_hints:
        return []
    hints = page.hints.between(page.offset(where.start), page.offset(where.end))
    made = [inlay for hint in hints if (inlay := _inlay(page, hint)) is not None]
    return made + layer_inlays(page, where)


def layer_inlays(page: FileReport, where: types.Range) -> list[types.InlayHint]:
    """What layers had, behind the lines that create them."""
    layers = page.layers
    if layers is None:
        return []
    found = []
    for row, uses in layers.created.items():
        if where.start.line <= row <= where.end.line:
            label = layer_label(uses, layers)
            end = types.Position(*page.end_of_row(row))
            tooltip = "\n".join(layer_lines(uses, layers, Plain()))
            found.append(types.InlayHint(position=end, label=label, padding_left=True, tooltip=tooltip))
    return found


def _inlay(page: FileReport, hint: Hint) -> types.InlayHint | None:
    label = short(hint)
    if label is None or hint.figure is None or _is_constructor(page, hint):
        return None
    return types.InlayHint(
        position=page.range(hint.call.span).end,
        label=label,
        padding_left=True,
        tooltip=f"{hint.call.api}: {cost(hint)}\n{provenance(hint.figure)}",
    )


def _is_constructor(page: FileReport, hint: Hint) -> bool:
    """Whether what the layer had is shown on the line: its constructor's joules would be taken for that."""
    layers = page.layers
    uses = layers.created.get(page.row(hint.call.span.start_byte)) if layers is not None else None
    return bool(uses) and creates(hint, uses or ())
