"""Inlay hints: joules behind the calls that the energy went into."""

from __future__ import annotations

from collections.abc import Iterable
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

IN_SIGHT = 80
"""Columns of a line that an editor shows beside its other parts; a hint behind them would not be seen."""


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
    return _in_sight(page, hints) + layer_inlays(page, where)


def _in_sight(page: FileReport, hints: Iterable[Hint]) -> list[types.InlayHint]:
    """The hints of calls; in front of a line stands one alone, and only if it is the costliest of the line."""
    made = [(hint, inlay) for hint in hints if (inlay := _inlay(page, hint)) is not None]
    most: dict[int, float] = {}
    for hint, inlay in made:
        row = inlay.position.line
        most[row] = max(most.get(row, 0.0), hint.known_joules or 0.0)
    return [
        inlay
        for hint, inlay in made
        if not inlay.padding_right or (hint.known_joules or 0.0) >= most[inlay.position.line]
    ]


def layer_inlays(page: FileReport, where: types.Range) -> list[types.InlayHint]:
    """What layers had, behind the lines that create them."""
    layers = page.layers
    if layers is None:
        return []
    found = []
    for row, uses in layers.created.items():
        if where.start.line <= row <= where.end.line and not _small(page, page.share_of(uses[0].joules)):
            label = layer_label(uses, layers)
            end = types.Position(*page.end_of_row(row))
            tooltip = "\n".join(layer_lines(uses, layers, Plain()))
            found.append(types.InlayHint(position=end, label=label, padding_left=True, tooltip=tooltip))
    return found


def _inlay(page: FileReport, hint: Hint) -> types.InlayHint | None:
    share = page.share(hint)
    label = None if _small(page, share) else short(hint, share)
    if label is None or hint.figure is None or _is_constructor(page, hint):
        return None
    position, first = _place(page, hint)
    return types.InlayHint(
        position=position,
        label=label,
        padding_left=not first,
        padding_right=first,
        tooltip=f"{hint.call.api}: {cost(hint)}\n{provenance(hint.figure)}",
    )


def _small(page: FileReport, share: float | None) -> bool:
    """Whether a share of the file's energy is not worth a hint; what is in no sum has none and is not small."""
    return share is not None and share * 100 < page.folder.settings.inlay_percent


def _place(page: FileReport, hint: Hint) -> tuple[types.Position, bool]:
    """Where a hint is seen: behind the call, and in front of the line where that would be out of sight."""
    end = page.range(hint.call.span).end
    row = page.row(hint.call.name.start_byte)
    if end.line != row:
        end = types.Position(*page.end_of_row(row))
    if end.character <= IN_SIGHT:
        return end, False
    line = page.line(row)
    return types.Position(row, len(line) - len(line.lstrip())), True


def _is_constructor(page: FileReport, hint: Hint) -> bool:
    """Whether what the layer had is shown on the line: its constructor's joules would be taken for that."""
    layers = page.layers
    uses = layers.created.get(page.row(hint.call.span.start_byte)) if layers is not None else None
    return bool(uses) and creates(hint, uses or ())
