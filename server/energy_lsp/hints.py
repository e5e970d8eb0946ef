"""A hint: one call, what it costs, where that figure comes from, and what would cost less.

Hover, diagnostics, inlay hints, code lenses and `energy-lsp check` all print hints; none has a wording of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from energy_lsp.joules import bar, interval, joules, number
from energy_lsp.markup import Markup

if TYPE_CHECKING:
    from energy_code.calls import Call
    from energy_code.rules import Finding
    from energy_data.model import Figure, RuleEvidence

HOTSPOT = "hotspot"
"""The code of a hotspot's diagnostic, and its name in `# energy: ignore[hotspot]`."""
HOTSPOT_PAGE = "https://github.com/energy-lsp/energy-lsp/blob/main/docs/hotspots.md"
DEVICE_NAMES = {"cpu": "CPU", "gpu": "GPU", "ram": "RAM"}
LAYER_WORDS = {"here": "Measured here", "team": "Measured by the team", "published": "Published"}


class Hint(NamedTuple):
    """One call with what is known about its energy. A tuple, as thousands are made on each keystroke."""

    call: Call
    figure: Figure | None
    findings: tuple[Finding, ...] = ()

    @property
    def joules_per_call(self) -> float | None:
        """Net joules of one call; None when nothing is known or the meter could not resolve it."""
        return self.figure.total if self.figure else None

    @property
    def known_joules(self) -> float | None:
        """Joules per call times the runs that the source tells of."""
        per_call = self.joules_per_call
        return None if per_call is None else per_call * self.call.runs.times

    @property
    def estimated(self) -> bool:
        """True when the figure comes from a model rather than a meter."""
        return self.figure is not None and self.figure.estimated


@dataclass(frozen=True, slots=True)
class Total:
    """The sum over some hints: what is known, how many calls are not, whether any is an estimate."""

    joules: float = 0.0
    unknown: int = 0
    estimated: bool = False
    meters: Mapping[str, int] = field(default_factory=dict)
    """The meters behind the figures, and for how many calls each."""

    @classmethod
    def of(cls, costs: Iterable[tuple[Figure | None, int]]) -> Total:
        """Add up calls, given as figures and how often each runs."""
        joules, unknown, estimated = 0.0, 0, False
        meters: dict[str, int] = {}
        for figure, times in costs:
            if figure is None or figure.total is None:
                unknown += 1
            else:
                joules += figure.total * times
                estimated = estimated or figure.estimated
                meters[figure.meter] = meters.get(figure.meter, 0) + 1
        return cls(joules, unknown, estimated, meters)

    def __add__(self, other: Total) -> Total:
        meters = {
            meter: self.meters.get(meter, 0) + other.meters.get(meter, 0)
            for meter in {**self.meters, **other.meters}
        }
        return Total(
            self.joules + other.joules,
            self.unknown + other.unknown,
            self.estimated or other.estimated,
            meters,
        )

    @property
    def known(self) -> int:
        """How many calls have a figure."""
        return sum(self.meters.values())

    @property
    def meter(self) -> str:
        """The meter behind most of the figures; empty when there are none."""
        return max(self.meters, key=lambda meter: self.meters[meter], default="")

    @property
    def label(self) -> str:
        """One short line: `⚡ 12.3 J in 4 calls, 2 unknown`."""
        if not self.known:
            return f"⚡ {_count(self.unknown, 'call')} of unknown cost"
        unknown = f", {self.unknown} unknown" if self.unknown else ""
        return f"⚡ {marked(self.joules, self.estimated)} in {_count(self.known, 'call')}{unknown}"


def marked(amount: float, estimated: bool) -> str:
    """Joules, with the mark that an estimate never goes without."""
    return f"≈ {joules(amount)} (est.)" if estimated else joules(amount)


def short(hint: Hint) -> str | None:
    """What fits behind a call, such as `⚡ 1.20 J`; None when there is no figure to show."""
    if hint.figure is None or hint.figure.total is None:
        return None
    times = f" × {hint.call.runs.times}" if hint.call.runs.times > 1 else ""
    return f"⚡ {marked(hint.figure.total, hint.figure.estimated)}{times}"


def cost(hint: Hint) -> str:
    """One sentence about the cost of a call, without provenance."""
    figure = hint.figure
    if figure is None:
        return "No energy figure is known for this call."
    if figure.total is None:
        below = f" It lies below {joules(figure.below)}." if figure.below is not None else ""
        return f"The meter could not resolve this call.{below}"
    text = f"{marked(figure.total, figure.estimated)} per call"
    if figure.low is not None and figure.high is not None:
        what = "95% interval" if figure.spread == "interval" else "middle half of call sites"
        text += f" ({what} {interval(figure.low, figure.high)})"
    return text + _times(hint)


def provenance(figure: Figure) -> str:
    """Where a figure comes from: layer, machine, meter, date, runs."""
    word = LAYER_WORDS[figure.layer]
    if figure.estimated:
        word = "Estimated here, not metered" if figure.layer == "here" else f"{word}, estimated"
    if figure.layer == "here" and figure.exact_site:
        word += ", at this call site"
    parts = [
        word,
        figure.machine,
        figure.meter,
        figure.date[:10],
        f"TensorFlow {figure.version}" if figure.version else "",
        _count(figure.runs, "run"),
        _count(figure.sites, "call site") if figure.sites > 1 else "",
        f"{figure.resolved} of {figure.measurements} measurements resolved"
        if figure.resolved < figure.measurements
        else "",
    ]
    return " · ".join(part for part in parts if part)


def device_lines(figure: Figure) -> list[str]:
    """A small bar for each device's share."""
    total = sum(value for value in figure.devices.values() if value > 0)
    if figure.total is None or total <= 0:
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
        f"{evidence.size}, {evidence.mode}: {number(evidence.ratio)} times the energy "
        f"({number(evidence.low)} to {number(evidence.high)}, {_count(evidence.pairs, 'pair')}{verdict}) · "
        f"{evidence.machine} · {where} · {evidence.measured[:10]} · TensorFlow {evidence.tensorflow}"
    )


def hover(hint: Hint, markup: Markup, url: str | None, savings: Sequence[str] = ()) -> str:
    """The whole hover. `savings` says what was measured for each of the hint's findings."""
    paragraphs = [markup.bold(markup.code(hint.call.api))]
    figure = hint.figure
    if figure is None:
        paragraphs.append(f"{cost(hint)} Measure this file to learn it.")
    else:
        paragraphs.append(
            markup.bold("⚡ " + markup.text(cost(hint))) if figure.total is not None else cost(hint)
        )
        if bars := device_lines(figure):
            paragraphs.append(markup.block(bars))
        paragraphs.append(markup.text(provenance(figure)))
        if figure.source:
            paragraphs.append("Source: " + markup.text(figure.source))
    for finding, saving in zip_longest(hint.findings, savings):
        words = f" {markup.prose(finding.message)} ({markup.code(finding.rule.name)})"
        paragraphs.append(markup.bold("Cheaper:") + words + (f": {markup.text(saving)}" if saving else ""))
    if url:
        paragraphs.append(markup.link("API documentation", url))
    return "\n\n".join(paragraphs)


def _times(hint: Hint) -> str:
    runs = hint.call.runs
    known = hint.known_joules
    text = ""
    if runs.times > 1 and known is not None:
        text = f", × {runs.times} runs = {marked(known, hint.estimated)}"
    if runs.in_unknown_loop:
        text += ", for each pass of a loop of unknown length"
    return text


def _count(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"
