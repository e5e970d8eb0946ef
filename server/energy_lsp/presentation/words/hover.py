"""The hover of a call: the answer, its origin in five words, how it is made up, what costs less, the small print."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from energy_lsp.presentation.notation.markup import Markup
from energy_lsp.presentation.notation.units import joules, marked, percent
from energy_lsp.presentation.words.calls import RUN_ENDED, circumstances, cost, device_lines

if TYPE_CHECKING:
    from energy_data.model import Figure
    from energy_lsp.presentation.figures.hints import Hint

PUBLISHED_PAGE = (
    "https://github.com/energy-lsp/energy-lsp/blob/main/docs/reference/database.md#published-figures"
)
"""Names the study and its machine in full."""


def hover(
    hint: Hint,
    markup: Markup,
    url: str | None,
    savings: Sequence[str] = (),
    *,
    share: float | None = None,
    whole: str = "this file",
    prediction: str | None = None,
    inside: Sequence[str] = (),
) -> str:
    """The whole hover.

    `savings` says what was measured for each of the hint's findings, `share` what the call had of `whole`, `prediction`
    what is foretold of a call without a figure of its own, and `inside` are paragraphs about its layers.
    """
    figure = hint.figure
    paragraphs = [f"{answer(hint, share, whole, prediction, markup)} · {markup.code(hint.call.api)}"]
    paragraphs.append(markup.text(origin(figure, predicted=prediction is not None)))
    if prediction is not None:
        figure = None  # what others measured elsewhere says less
        paragraphs.append(markup.text(prediction.partition(" · ")[2].removeprefix("not measured · ")))
    elif (
        figure is not None
        and (figure.total is not None or figure.origin == "api")
        and not _said(hint, figure)
    ):
        paragraphs.append(markup.text(cost(hint).removeprefix("Not measured at this call. ")))
    if figure is not None and figure.origin != "api" and len(bars := device_lines(figure)) > 1:
        paragraphs.append(markup.block(bars))
    paragraphs += inside
    for finding, saving in zip_longest(hint.findings, savings):
        words = f" {markup.prose(finding.message)} ({markup.code(finding.rule.name)})"
        paragraphs.append(markup.bold("Cheaper:") + words + (f": {markup.text(saving)}" if saving else ""))
    paragraphs.append(small_print(figure, url, markup))
    return "\n\n".join(part for part in paragraphs if part)


def answer(hint: Hint, share: float | None, whole: str, prediction: str | None, markup: Markup) -> str:
    """The first line. Only what was measured at this call stands out; what is guessed does not."""
    figure, known = hint.figure, hint.known_joules
    if prediction is not None:
        return markup.text(prediction.partition(" · ")[0])
    if figure is None or figure.origin == "api":
        return "Not measured here yet"
    if known is None:
        below = f"{joules(figure.below)}, " if figure.below is not None else ""
        return markup.text(f"Below {below}what the meter can tell")
    text = (
        ("≈ " if figure.estimated else "")
        + joules(known)
        + (f" · {percent(share)} of {whole}" if share is not None else "")
    )
    return markup.bold("⚡ " + markup.text(text)) if figure.origin == "site" else markup.text(text)


def _said(hint: Hint, figure: Figure) -> bool:
    """Whether the first line has said it all: one call, in one run."""
    plain = f"{marked(figure.total or 0.0, figure.estimated)} per call (one run)"
    return figure.origin == "site" and hint.times == 1 and cost(hint) == plain


def origin(figure: Figure | None, *, predicted: bool = False) -> str:
    """Where a figure comes from, in five words."""
    if predicted:
        return "Predicted, not measured."
    if figure is None:
        return "Measure this file to learn it."
    if figure.source == "published":
        return "Published, from another machine."
    if figure.origin == "api":
        return "Known from other calls only."
    word = "Estimated" if figure.estimated else "Measured"
    who = "here" if figure.source == "here" else "by the team"
    where = "at this call" if figure.origin == "site" else "at another call, same shapes"
    if figure.origin == "predicted":
        return "Predicted, not measured."
    when = ", before your edit" if figure.edited else "" if figure.of_last_run else ", in an older run"
    if figure.run_status != "finished":
        when += f", {RUN_ENDED[figure.run_status]}"
    return f"{word} {who}, {where}{when}."


def small_print(figure: Figure | None, url: str | None, markup: Markup) -> str:
    """The last line: circumstances of the measurement, and where to read on."""
    parts = [markup.text(circumstances(figure))] if figure is not None else []
    if figure is not None and figure.citation:
        parts.append(markup.link("source", PUBLISHED_PAGE))
    if url:
        parts.append(markup.link("API documentation", url))
    return " · ".join(parts)
