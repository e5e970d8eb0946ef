"""Hover: what the call under the cursor costs, where that is known from, and what would cost less."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.predicting.same_shapes import nearest
from energy_lsp.presentation.notation.markup import Markdown, Plain
from energy_lsp.presentation.words.hover import hover as hover_text
from energy_lsp.presentation.words.layers import call_lines, creates, fused_lines, layer_lines, made_by

if TYPE_CHECKING:
    from energy_code.rules import Finding
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.notation.markup import Markup
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.session.server import EnergyServer


def register(server: EnergyServer) -> None:
    """Offer hovers."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: EnergyServer, params: types.HoverParams) -> types.Hover | None:
        report = await ls.files.report(params.text_document.uri)
        if report is None:
            return None
        ask = partial(hover_at, report, params.position, markdown=ls.client.markdown)
        hint = report.hint_at(params.position)
        if hint is None or hint.has_own_figure:
            return ask()
        # What is known of other calls with the same shapes is in the database, which is the worker's.
        answer: types.Hover | None = await ls.worker.run(ask)
        return answer


def hover_at(report: FileReport, position: types.Position, *, markdown: bool) -> types.Hover | None:
    """The hover for a position; None where no API is called."""
    from energy_data.catalogue.catalogue import Catalogue

    hint = report.hint_at(position)
    markup = Markdown() if markdown else Plain()
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    if hint is None:
        layers = created_here(report, position.line, None, markup)
        return types.Hover(types.MarkupContent(kind, "\n\n".join(layers))) if layers else None
    hint = nearest(report, hint)
    row = report.row(hint.call.span.start_byte)
    prediction = prediction_for(report, hint)
    text = hover_text(
        hint,
        markup,
        Catalogue.load().url(hint.call.api),
        [saving_text(report, finding) for finding in hint.findings],
        share=report.share(hint),
        whole=report.whole,
        prediction=prediction,
        inside=[
            *inside_of(report, row, hint, markup),
            *foretold_layers(report, row, hint, markup),
            *map(markup.text, not_foretold(report, hint, prediction)),
        ],
    )
    if layers := created_here(report, row, hint, markup):
        # What the constructor itself took is not what a reader of the line asks for.
        text = "\n\n".join([*layers, markup.bold("Creating it"), text])
    return types.Hover(types.MarkupContent(kind, text), report.range(hint.call.name))


def saving_text(report: FileReport, finding: Finding) -> str:
    """What a finding saves: in this program, where that is known, and where its rule was measured."""
    # Only a hover needs it: at start it would be loaded for nothing.
    from energy_lsp.predicting.impact import measured_impact, predicted_impact

    impact, measured = measured_impact(report, finding), report.verdict_of(finding).text
    if impact is None and report.program_joules is None:
        impact = predicted_impact(report, finding)
    return f"{impact.text(report.folder.settings.smallest_share)}; {measured}" if impact else measured


def prediction_for(report: FileReport, hint: Hint) -> str | None:
    """What is predicted of a call that has no figure of its own."""
    if hint.has_own_figure:
        return None
    # Only such a hover needs it: at start it would be loaded for nothing.
    from energy_lsp.predicting.in_editor import foretold

    found = foretold(report, hint)
    return found.line() if found is not None else None


def not_foretold(report: FileReport, hint: Hint, prediction: str | None) -> list[str]:
    """Why there is no figure for a call whose shapes are known, where a reader can do something about it."""
    if prediction is not None or hint.has_own_figure:
        return []
    from energy_lsp.predicting.in_editor import no_prediction  # as above

    reason = no_prediction(report, hint)
    return [reason] if reason else []


def foretold_layers(report: FileReport, row: int, hint: Hint, markup: Markup) -> list[str]:
    """What is predicted of the layer that a call makes, in a model that was never measured."""
    if report.layers() is not None or ".layers." not in hint.call.api:
        return []
    from energy_lsp.predicting.in_editor import layer_shares  # as above

    return [
        f"{markup.text(f'≈ {part.share:.0%}')} of {markup.code(part.method)} at line {part.line}, predicted, not "
        f"measured: {', '.join(markup.code(path) for path in part.paths)}"
        for part in layer_shares(report, row)
    ]


def created_here(report: FileReport, row: int, hint: Hint | None, markup: Markup) -> list[str]:
    """What layers created at a row had; nothing for a call on the row that creates none."""
    layers = report.layers()
    if layers is None or not layers.speaks_of(row):
        return []
    uses = layers.created.get(row, ())
    if hint is not None and not creates(hint, uses):
        return []
    made = made_by(hint, uses) if hint is not None else uses
    lines = layer_lines(made, layers, markup) if made else []
    return lines + fused_lines(layers.fused.get(row, ()), layers, markup)


def inside_of(report: FileReport, row: int, hint: Hint, markup: Markup) -> list[str]:
    """What a call went into."""
    layers = report.layers()
    for call in layers.calls.get(row, ()) if layers is not None else ():
        if call.api == hint.call.api and layers is not None:
            return call_lines(call, layers, report.folder.address, markup)
    return []
