"""What may be said of a rule's saving, from what was measured: the words of every hint about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from energy_code.model import Mode, Runs
from energy_data.model import RuleEvidence, Source
from energy_data.program_evidence import is_of_program

_SIZES = ("medium", "large", "small")
"""Which size speaks for a rule when several save: the middle one first."""
NEARLY_ALL = 0.1
"""A rule that leaves less than this of the energy saves what surrounds the work: that does not grow with the work."""
APART = 0.15
"""From here on the savings of two sizes are not one."""
_NEARLY: dict[Source, str] = {
    "here": "here",
    "team": "on the team's machine",
    "published": "elsewhere",
}


class Verdict(NamedTuple):
    """Whether to suggest a rule at a place, in words, and the measurement that says so."""

    suggested: bool
    text: str
    evidence: RuleEvidence | None
    sizes: Sequence[RuleEvidence] = ()
    """The newest measurement of each size, of the same source."""
    proven: Sequence[RuleEvidence] = ()
    """What trials in single programs found, of all programs."""


NOTHING_MEASURED = Verdict(True, "not measured yet", None)


def verdict(evidence: Sequence[RuleEvidence], mode: Mode) -> Verdict:
    """What the nearest source (here, then team, then shipped) says for a mode.

    A rule that saves at no size is not suggested, wherever that was measured; a measurement here has the last word.
    """
    proven = [item for item in evidence if is_of_program(item)]
    wanted = "eager" if mode == "eager" else "graph"
    known = [item for item in evidence if item.mode == wanted and not is_of_program(item)]
    sources: tuple[Source, ...] = ("here", "team", "published")
    for source in sources:
        latest = _latest(item for item in known if item.source == source)
        if latest:
            return _of_source(latest)._replace(sizes=latest, proven=proven)
    return NOTHING_MEASURED._replace(proven=proven)


def _latest(evidence: Iterable[RuleEvidence]) -> list[RuleEvidence]:
    """The newest measurement of each size, in the order in which sizes speak."""
    newest: dict[str, RuleEvidence] = {}
    for item in evidence:
        if item.size not in newest or item.measured > newest[item.size].measured:
            newest[item.size] = item
    return sorted(newest.values(), key=lambda item: _SIZES.index(item.size) if item.size in _SIZES else 3)


def _of_source(evidence: Sequence[RuleEvidence]) -> Verdict:
    saving = [item for item in evidence if item.differs and item.ratio < 1]
    costing = [item for item in evidence if item.differs and item.ratio > 1]
    if saving:
        dearer = _dearer(evidence)
        return Verdict(True, saving_text(saving[0]) + (f"; {dearer}" if dearer else ""), saving[0])
    if costing:
        return Verdict(False, saving_text(costing[0]), costing[0])
    return Verdict(False, f"no measurable difference {place(evidence[0])}", evidence[0])


def _dearer(sizes: Sequence[RuleEvidence]) -> str:
    """The inputs at which a rule that saves at others costs more."""
    costing = [item for item in sizes if item.differs and item.ratio > 1]
    return f"{costing[0].size} inputs cost {percent(costing[0])}" if costing else ""


def saving_text(evidence: RuleEvidence) -> str:
    """`−41% ± 3 here (15 pairs, p 0.0003; medium inputs)`, or that nothing could be distinguished."""
    if not evidence.differs:
        return f"no measurable difference {place(evidence)} ({evidence.pairs} pairs; {evidence.size} inputs)"
    return (
        f"{_saving(evidence)} {place(evidence)} "
        f"({evidence.pairs} pairs, p {probability(evidence.p_value)}; {evidence.size} inputs)"
    )


def brief(said: Verdict) -> str:
    """A verdict for a line that may be cut: the saving (`≈` says estimated), where it holds, and which inputs lose."""
    return ", ".join(part for part in brief_parts(said) if part)


def brief_parts(said: Verdict) -> tuple[str, str]:
    """The same in two: the saving and where it holds; how the size of the inputs changes that, or nothing."""
    evidence = said.evidence
    if evidence is None or not evidence.differs:
        return said.text, ""
    mark = "≈ " if evidence.estimated else ""
    saving = f"{_most(said.sizes)}{mark}{_saving(evidence)} {_NEARLY[evidence.source]}"
    sizes = (_by_size(said.sizes), _dearer(said.sizes))
    return saving, "; ".join(part for part in sizes if part)


def _most(sizes: Sequence[RuleEvidence]) -> str:
    """What leaves nearly nothing of small work saves what surrounds it: larger work has less of that."""
    return "up to " if len(sizes) > 1 and all(one.differs and one.ratio < NEARLY_ALL for one in sizes) else ""


def _by_size(sizes: Sequence[RuleEvidence]) -> str:
    """The least and the most that a rule saves, where the size of the inputs decides that."""
    saving = sorted((one for one in sizes if one.differs and one.ratio < 1), key=lambda one: -one.ratio)
    if not saving or saving[0].ratio - saving[-1].ratio < APART:
        return ""
    return f"{percent(saving[0])} to {percent(saving[-1])} by size"


def _saving(evidence: RuleEvidence) -> str:
    """The change with half its interval, such as `−41% ± 3`."""
    return f"{percent(evidence)} ± {max(1, round((evidence.high - evidence.low) / 2 * 100))}"


def percent(evidence: RuleEvidence) -> str:
    """The change in energy with its sign."""
    change = round((evidence.ratio - 1) * 100)
    return f"{'−' if change < 0 else '+'}{abs(change)}%"


def place(evidence: RuleEvidence) -> str:
    """Where it was measured: here, or on which machine; estimates say so."""
    if evidence.source == "here":
        where = "here"
    elif evidence.source == "team":
        where = f"on the team's {evidence.machine}"
    else:
        where = f"on {evidence.machine} (shipped, not measured here)"
    return f"{where}, estimated from CPU time" if evidence.estimated else where


def probability(p_value: float) -> str:
    """Two or more meaningful digits, never zero."""
    return (
        "< 0.0001"
        if p_value < 0.0001
        else f"{p_value:.4f}".rstrip("0")
        if p_value < 0.01
        else f"{p_value:.2f}"
    )


def joules_saved(evidence: RuleEvidence | None, runs: Runs | None = None) -> float:
    """Joules per call times runs, for ranking fixes by what they would save."""
    if evidence is None or not evidence.differs:
        return 0.0
    return evidence.joules_before * (1 - evidence.ratio) * (runs.times if runs is not None else 1)
