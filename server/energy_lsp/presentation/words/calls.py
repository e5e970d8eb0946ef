"""What is said of a call: behind it, in a hover, in a diagnostic, in a terminal. None has a wording of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy_data.program_evidence import place_text
from energy_lsp.presentation.notation.units import (
    bar,
    brief,
    counted,
    interval,
    joules,
    marked,
    number,
    percent,
)

if TYPE_CHECKING:
    from energy_data.model import Figure, RuleEvidence
    from energy_lsp.presentation.figures.hints import Hint

HOTSPOT = "hotspot"
"""The code of a hotspot's diagnostic, and its name in `# energy: ignore[hotspot]`."""
HOTSPOT_PAGE = "https://github.com/energy-lsp/energy-lsp/blob/main/docs/explanation/hotspots.md"
DEVICE_NAMES = {"cpu": "CPU", "gpu": "GPU", "ram": "RAM"}
SOURCE_WORDS = {"here": "Measured here", "team": "Measured by the team", "published": "Published"}
NEARNESS = {
    "site": ", at this call site",
    "signature": ", at another call with the same shapes",
    "predicted": ", predicted",
    "api": "",
}
RUN_ENDED = {"finished": "", "failed": "in a run that failed", "partial": "in a run that was stopped"}
"""What is said of a figure whose run did not come to its end."""
ENDED_BRIEFLY = {"finished": "", "failed": " · run failed", "partial": " · run stopped"}
"""The same behind a call, where room is short."""
FIRST_DIFFERS = 2.0
"""From this factor on the first call and the later ones are distinguished."""
PARTS_DIFFER = 0.05
"""Parts that miss their total by more than this share of it are not shown: they are medians of other things."""


def short(hint: Hint, share: float | None) -> str | None:
    """What fits behind a call, such as `≈ 3.3 J · 94%`: all its calls in one run, and their share of the file.

    The further a figure is from this call, the more its words say so; published ones are not shown behind calls.
    """
    figure, joules_of_run = hint.figure, hint.known_joules
    if figure is None or joules_of_run is None or not figure.of_last_run:
        return None
    text = brief(joules_of_run, figure.estimated)
    if figure.origin != "site":
        return f"{text} {'predicted' if figure.origin == 'predicted' else 'at another call'}"
    edited = " before your edit" if figure.edited else ""
    of_file = f" · {percent(share)}" if share is not None else ""
    return text + of_file + edited + ENDED_BRIEFLY[figure.run_status]


def hotspot(hint: Hint, share: float | None, whole: str = "this file") -> str:
    """The one line of a hotspot's diagnostic: `fit: ≈ 3.3 J, 94% of this file`. The hover says the rest."""
    text = f"{_name(hint)}: {brief(hint.known_joules or 0.0, hint.estimated)}"
    edited = ", before your edit" if hint.figure is not None and hint.figure.edited else ""
    ended = RUN_ENDED[hint.figure.run_status] if hint.figure is not None else ""
    of_file = f", {percent(share)} of {whole}" if share is not None else ""
    return text + of_file + edited + (ended and f", {ended}")


def hotspot_in_full(hint: Hint, share: float | None, whole: str = "this file") -> str:
    """A hotspot where there is room: the same with three digits, how sure that is, and what its calls took each."""
    figure = hint.figure
    assert figure is not None
    text = f"{_name(hint)}: {marked(hint.known_joules or 0.0, hint.estimated)}"
    text += f", {percent(share)} of {whole}" if share is not None else ""
    if hint.times > 1:
        how = "" if hint.times_from == "measured" else " in the source"
        each = marked(figure.total or 0.0, figure.estimated)
        text += f", in {hint.times} calls{how} of {each}{sureness(figure)}{_first(figure)}"
    elif "one run" not in (sure := sureness(figure)):
        text += sure
    return text + (", before your edit" if figure.edited else "")


def _name(hint: Hint) -> str:
    """What a call is called in its own line."""
    return hint.call.api.rpartition(".")[2]


def orientation(figure: Figure) -> str:
    """The order of magnitude of other calls of an API: a range, never a middle."""
    low, high = figure.low, figure.high
    if figure.total is None or low is None or high is None:
        return f"below {joules(figure.below)}" if figure.below is not None else "unresolved"
    return interval(max(low, 0.0), high, 2) if low != high else joules(high)


def cost(hint: Hint) -> str:
    """One sentence about the cost of a call, without provenance."""
    figure = hint.figure
    if figure is None:
        return "No energy figure is known for this call."
    if figure.origin == "api":
        return f"Not measured at this call. Elsewhere {orientation(figure)} per call{_elsewhere(figure)}."
    if figure.total is None:
        below = f" It lies below {joules(figure.below)}." if figure.below is not None else ""
        return f"The meter could not resolve this call.{below}"
    text = f"{marked(figure.total, figure.estimated)} per call"
    return text + sureness(figure) + _first(figure) + _times(hint)


def sureness(figure: Figure) -> str:
    """How sure a figure is, in brackets: the meter's own doubt within one run is no interval of runs, and not shown."""
    if figure.low is None or figure.high is None:
        return ""
    if figure.covers == "runs of this machine":
        return f" (one run, usually {interval(figure.low, figure.high)})"
    if figure.covers == "sampling" or (not figure.covers and figure.runs == 1):
        return " (one run)"
    return f" (95% interval {interval(figure.low, figure.high)})"


def _elsewhere(figure: Figure) -> str:
    if figure.source == "published":
        return " on a GPU server, with other models and data"
    return f" at {counted(figure.sites, 'other call')}"


def _first(figure: Figure) -> str:
    """The first call of a run, where it is another thing than the later ones."""
    first, later = figure.first, figure.total
    if first is None or later is None or first <= 0 or later <= 0:
        return ""
    if 1 / FIRST_DIFFERS <= first / later <= FIRST_DIFFERS:
        return ""
    return f", the first {marked(first, figure.estimated)}"


def provenance(figure: Figure) -> str:
    """Where a figure comes from: layer, machine, meter, date, runs."""
    word = _nearness(figure)
    if figure.edited:
        word += " before your edit"
    if not figure.of_last_run:
        word += ", not in the last run"
    if figure.run_status != "finished":
        word += f", {RUN_ENDED[figure.run_status]}"
    return f"{word} · {circumstances(figure)}"


def provenance_parts(figure: Figure) -> tuple[str, ...]:
    """The same in parts, for where many figures stand together: what is common to all is said once."""
    return (_nearness(figure), *_circumstances(figure))


def known_from(figure: Figure) -> str:
    """Where a figure comes from, in two or three words."""
    if figure.source == "published" or figure.origin == "predicted":
        return "published" if figure.origin != "predicted" else "predicted"
    how = "estimated" if figure.estimated else "measured"
    return f"{how} {'here' if figure.source == 'here' else 'by the team'}"


def _nearness(figure: Figure) -> str:
    word = SOURCE_WORDS[figure.source]
    if figure.estimated:
        word = "Estimated here, not metered" if figure.source == "here" else f"{word}, estimated"
    return word + NEARNESS[figure.origin]


def circumstances(figure: Figure) -> str:
    """The small print of a figure: machine, meter, date, versions, runs."""
    return " · ".join(_circumstances(figure))


def _circumstances(figure: Figure) -> list[str]:
    parts = [
        figure.machine,
        figure.meter,
        figure.date[:10],
        f"TensorFlow {figure.version}" if figure.version else "",
        counted(figure.runs, "run"),
        "repeated alone, after the run" if figure.method == "replayed" else "",
        counted(figure.sites, "call site") if figure.sites > 1 else "",
        f"{figure.resolved} of {figure.measurements} measurements resolved"
        if figure.resolved < figure.measurements
        else "",
    ]
    return [part for part in parts if part]


def device_lines(figure: Figure) -> list[str]:
    """A small bar for each device's share."""
    total = sum(value for value in figure.devices.values() if value > 0)
    if figure.total is None or total <= 0:
        return []
    if abs(total - figure.total) > PARTS_DIFFER * total:
        return []
    amounts = {DEVICE_NAMES[device]: max(0.0, value) for device, value in figure.devices.items()}
    return [
        f"{name} {bar(value / total)} {value / total * 100:3.0f}%  {joules(value)}"
        for name, value in amounts.items()
    ]


def evidence_line(evidence: RuleEvidence) -> str:
    """What was measured about a substitution."""
    where = "estimated" if evidence.estimated else evidence.meter
    verdict = "" if evidence.differs else "; no difference beyond the noise"
    return (
        f"{place_text(evidence)}, {evidence.mode}: {number(evidence.ratio)} times the energy "
        f"({number(evidence.low)} to {number(evidence.high)}, {counted(evidence.pairs, 'pair')}{verdict}) · "
        f"{evidence.machine} · {where} · {evidence.measured[:10]} · TensorFlow {evidence.tensorflow}"
    )


def _times(hint: Hint) -> str:
    if hint.figure is None or hint.figure.origin == "api":
        return ""
    known, text = hint.known_joules, ""
    if hint.times > 1 and known is not None:
        how = "" if hint.times_from == "measured" else " in the source"
        text = f", × {hint.times} calls{how} = {marked(known, hint.estimated)}"
    if hint.call.runs.in_unknown_loop and hint.times_from == "source":
        text += ", for each pass of a loop of unknown length"
    return text
