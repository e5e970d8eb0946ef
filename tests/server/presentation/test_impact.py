"""What a finding is worth in this program: from the calls it would change, or from a trial; ordered and worded by it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Literal

import pytest

from energy_code import rules
from energy_data.model import RuleEvidence
from energy_data.program_evidence import at_place, in_program, is_of_program
from energy_lsp.presentation.reports.impact import Impact, Saving, ratio_at, saving

EVIDENCE = RuleEvidence(
    rule="predict-loop",
    size="small",
    mode="eager",
    pairs=15,
    ratio=0.02,
    low=0.01,
    high=0.03,
    p_value=0.001,
    a12=0.0,
    control_ratio=1.0,
    joules_before=0.5,
    machine="m",
    meter="rapl",
    estimated=False,
    measured="2026-01-01",
    tensorflow="2.20",
)


def evidence(size: Literal["small", "medium", "large"], joules: float, ratio: float) -> RuleEvidence:
    return replace(EVIDENCE, size=size, joules_before=joules, ratio=ratio, low=ratio * 0.9, high=ratio * 1.1)


GROWING = [evidence("small", 1.0, 0.9), evidence("medium", 10.0, 0.5), evidence("large", 100.0, 0.4)]


@pytest.mark.parametrize(
    ("size", "ratio"), [(0.1, 0.9), (1.0, 0.9), (10.0, 0.5), (31.6, 0.45), (100.0, 0.4), (1000.0, 0.4)]
)
def test_the_three_sizes_of_evidence_are_a_curve(size: float, ratio: float) -> None:
    assert ratio_at(GROWING, size) == pytest.approx(ratio, abs=0.01)


def test_what_saves_nearly_all_of_small_work_saves_no_more_joules_of_large_work() -> None:
    overhead = [evidence("small", 0.5, 0.01), evidence("medium", 0.6, 0.01), evidence("large", 0.8, 0.01)]
    assert ratio_at(overhead, 0.8) == pytest.approx(0.01)
    assert ratio_at(overhead, 3.2) == pytest.approx(1 - 0.792 / 3.2)


def test_a_size_at_which_nothing_was_told_apart_saves_nothing() -> None:
    unclear = replace(evidence("small", 1.0, 0.9), p_value=0.4)
    assert ratio_at([unclear, evidence("large", 100.0, 0.4)], 0.5) == 1.0


def predict_loop(spent: float, calls: int, work: float = 0.0) -> Saving:
    """What the rule is told to save: its evidence is of two calls, of 0.25 to 0.4 J each."""
    finding = SimpleNamespace(rule=rules.ALL["predict-loop"])
    overhead = [evidence("small", 0.5, 0.01), evidence("medium", 0.6, 0.01), evidence("large", 0.8, 0.01)]
    return saving(finding, overhead, spent, calls, work)  # type: ignore[arg-type]


def test_a_large_model_saves_what_surrounds_a_call_and_not_what_it_computes() -> None:
    assert predict_loop(20.0, 10) == (pytest.approx(10 * 0.396), False), "0.396 J a call, of 2 J"


def test_a_call_that_takes_less_than_others_save_has_an_upper_bound() -> None:
    assert predict_loop(1.0, 10) == (pytest.approx(0.99), True)
    assert not predict_loop(3.0, 10).at_most


def test_what_the_layers_of_a_model_take_is_not_saved() -> None:
    assert predict_loop(1.0, 10, work=0.4) == (pytest.approx(0.6), False)
    assert predict_loop(1.0, 10, work=5.0) == (0.0, False), "a prediction that is too high saves nothing"


@pytest.mark.parametrize(
    ("impact", "text"),
    [
        (Impact(1.9, 13.4, "measured", False), "saves ≈ 1.90 J of 13.4 J a run, 14%"),
        (Impact(0.05, 13.4, "measured", True), "negligible here (≈ 50.0 mJ of 13.4 J a run, 0.4%)"),
        (Impact(1.9, 13.4, "measured", False, at_most=True), "saves at most ≈ 1.90 J of 13.4 J a run, 14%"),
        (Impact(1.9, 13.4, "predicted", True), "saves ≈ 1.90 J of 13.4 J a run, 14%, as predicted"),
        (Impact(6.0, 12.0, "proven", False), "✓ proven here: saves 6.00 J of 12.0 J a run, 50%"),
        (Impact(-2.0, 12.0, "proven", True), "costs ≈ 2.00 J more of 12.0 J a run when tried here"),
        (Impact(0.1, 12.0, "proven", True, differs=False), "no measurable difference when tried here"),
    ],
)
def test_an_impact_in_words(impact: Impact, text: str) -> None:
    assert impact.text(0.01) == text


@pytest.mark.parametrize(
    ("impact", "line"),
    [
        (Impact(1.9, 13.4, "measured", True), "saves 14% of a run, ≈ 1.9 J"),
        (Impact(0.001, 13.4, "measured", True), "negligible here (< 0.1% of a run, ≈ 1.0 mJ)"),
        (
            Impact(1.9, 13.4, "predicted", True, at_most=True),
            "saves at most 14% of a run, ≈ 1.9 J, as predicted",
        ),
        (Impact(6.0, 12.0, "proven", False), "✓ proven here: saves 50% of a run, 6.0 J"),
    ],
)
def test_an_impact_in_a_line_that_may_be_cut(impact: Impact, line: str) -> None:
    assert impact.line(0.01) == line


def test_the_advice_of_each_rule_fits_behind_its_saving() -> None:
    """A Problems panel of half a window shows about 80 characters."""
    longest = len("Saves at most 99% of a run, ≈ 999 mJ: ")
    for rule in rules.ALL.values():
        assert longest + len(rule.advice) <= 120, rule.name
        assert rule.advice[0].islower(), rule.name


def test_evidence_of_a_program_is_found_at_its_line_wherever_that_has_moved() -> None:
    mine = replace(EVIDENCE, size=in_program("p1", "train.py", "  y =  model.predict(x)"))
    assert is_of_program(mine)
    assert not is_of_program(EVIDENCE)
    assert at_place([EVIDENCE, mine], ["p0", "p1"], "train.py", "y = model.predict(x)  ") == mine
    assert at_place([mine], ["p1"], "train.py", "y = model.predict(z)") is None
    assert at_place([mine], ["p2"], "train.py", "y = model.predict(x)") is None
