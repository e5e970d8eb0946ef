"""Inlay hints: joules behind the calls that the energy went into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.presentation.notation.markup import Plain
from energy_lsp.presentation.words.calls import cost, provenance, short
from energy_lsp.presentation.words.layers import creates, layer_label, layer_lines
from energy_lsp.wire.encoding import Encoded, encoded_list

if TYPE_CHECKING:
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.session.server import EnergyServer

LONGEST_PREDICTED = 60_000
"""Bytes of a text beyond which its calls are predicted in hovers alone: an editor asks for inlays at every edit."""
IN_SIGHT = 80
"""Columns of a line that an editor shows beside its other parts; a hint behind them would not be seen."""


def register(server: EnergyServer) -> None:
    """Offer inlay hints."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(ls: EnergyServer, params: types.InlayHintParams) -> Encoded:
        uri, where = params.text_document.uri, params.range
        return await ls.files.answer(uri, lambda report: encoded_list(inlay_hints_in(report, where)))


def inlay_hints_in(report: FileReport, where: types.Range) -> list[types.InlayHint]:
    """The inlay hints of a stretch of text, usually what the editor shows."""
    if not report.folder.settings.inlay_hints:
        return []
    hints = report.hints.between(report.offset(where.start), report.offset(where.end))
    return _in_sight(report, hints) + layer_inlays(report, where) + predicted_inlays(report, hints)


def _in_sight(report: FileReport, hints: Iterable[Hint]) -> list[types.InlayHint]:
    """The hints of calls; in front of a line stands one alone, and only if it is the costliest of the line."""
    made = [(hint, inlay) for hint in hints if (inlay := _inlay(report, hint)) is not None]
    most: dict[int, float] = {}
    for hint, inlay in made:
        row = inlay.position.line
        most[row] = max(most.get(row, 0.0), hint.known_joules or 0.0)
    return [
        inlay
        for hint, inlay in made
        if not inlay.padding_right or (hint.known_joules or 0.0) >= most[inlay.position.line]
    ]


def predicted_inlays(report: FileReport, hints: Iterable[Hint]) -> list[types.InlayHint]:
    """What is foretold of calls that were never measured, where that is worth a place beside what was."""
    if len(report.source) > LONGEST_PREDICTED:
        return []
    unmeasured = [hint for hint in hints if not hint.has_own_figure]
    if not unmeasured:
        return []
    # At start it would be loaded for nothing.
    from energy_lsp.predicting.in_editor import foretold

    # A share is of the whole file, what the editor does not show included.
    predicted = [(hint, found) for hint in report.hints if (found := foretold(report, hint)) is not None]
    total = sum(found.joules(hint.times) for hint, found in predicted)
    shown = {hint.call.span for hint in unmeasured}
    made = []
    for hint, found in predicted:
        label = found.label(hint.times) if hint.call.span in shown else None
        if label is not None and not _small(report, found.joules(hint.times) / total if total else None):
            position, first = _place(report, hint)
            tooltip = f"{hint.call.api}: {found.line()}"
            made.append(types.InlayHint(position, label, None, None, tooltip, not first, first))
    return made


def layer_inlays(report: FileReport, where: types.Range) -> list[types.InlayHint]:
    """What layers had, behind the lines that create them."""
    layers = report.layers()
    if layers is None:
        return []
    found = []
    for row, uses in layers.created.items():
        if where.start.line <= row <= where.end.line and not _small(report, report.share_of(uses[0].joules)):
            label = layer_label(uses, layers)
            end = types.Position(*report.end_of_row(row))
            tooltip = "\n".join(layer_lines(uses, layers, Plain()))
            found.append(types.InlayHint(position=end, label=label, padding_left=True, tooltip=tooltip))
    return found


def _inlay(report: FileReport, hint: Hint) -> types.InlayHint | None:
    share = report.share(hint)
    label = None if _small(report, share) else short(hint, share)
    if label is None or hint.figure is None or _is_constructor(report, hint):
        return None
    position, first = _place(report, hint)
    return types.InlayHint(
        position=position,
        label=label,
        padding_left=not first,
        padding_right=first,
        tooltip=f"{hint.call.api}: {cost(hint)}\n{provenance(hint.figure)}",
    )


def _small(report: FileReport, share: float | None) -> bool:
    """Whether a share of the file's energy is not worth a hint; what is in no sum has none and is not small."""
    return share is not None and share * 100 < report.folder.settings.inlay_percent


def _place(report: FileReport, hint: Hint) -> tuple[types.Position, bool]:
    """Where a hint is seen: behind the call, and in front of the line where that would be out of sight."""
    end = report.range(hint.call.span).end
    row = report.row(hint.call.name.start_byte)
    if end.line != row:
        end = types.Position(*report.end_of_row(row))
    if end.character <= IN_SIGHT:
        return end, False
    line = report.line(row)
    return types.Position(row, len(line) - len(line.lstrip())), True


def _is_constructor(report: FileReport, hint: Hint) -> bool:
    """Whether what the layer had is shown on the line: its constructor's joules would be taken for that."""
    layers = report.layers()
    row = report.row(hint.call.span.start_byte)
    return layers is not None and layers.speaks_of(row) and creates(hint, layers.created.get(row, ()))
