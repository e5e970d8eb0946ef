"""What is said of a rule's saving: from what was measured here, by the team, or shipped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from energy_code import rules
from energy_code.model import Runs
from energy_code.rule_engine.evidence.equality import difference
from energy_code.rule_engine.evidence.programs import fingerprint
from energy_code.rule_engine.evidence.verdict import brief, joules_saved, saving_text, verdict
from energy_data.published.figures import shipped_evidence, shipped_workloads
from rule_savings import SAVES

SAME = replace(SAVES, ratio=1.0, low=0.97, high=1.02, p_value=0.6)


def test_a_saving_here_is_said_with_its_interval_pairs_and_probability():
    assert saving_text(SAVES) == "−41% ± 3 here (15 pairs, p 0.0003; medium inputs)"


def test_an_estimate_says_so():
    assert "estimated from CPU time" in saving_text(replace(SAVES, estimated=True))


def test_a_title_says_in_few_words_what_is_saved_and_whether_it_was_measured_here():
    shipped = replace(SAVES, source="published", estimated=True, machine="AMD EPYC (2 CPUs)")
    assert brief(verdict([shipped], "eager")) == "≈ −41% ± 3 elsewhere"
    assert brief(verdict([SAVES, shipped], "eager")) == "−41% ± 3 here"


def test_a_saving_that_depends_on_the_size_says_so_in_one_line() -> None:
    sizes = [replace(SAVES, size=size, ratio=ratio, low=ratio, high=ratio) for size, ratio in
             (("small", 0.9), ("medium", 0.59), ("large", 0.2))]  # fmt: skip
    assert brief(verdict(sizes, "eager")) == "−41% ± 1 here, −10% to −80% by size"
    around = [replace(one, ratio=0.01, low=0.01, high=0.01) for one in sizes]
    assert brief(verdict(around, "eager")) == "up to −99% ± 1 here", "a large model saves less of a call"


def test_no_difference_here_means_no_suggestion_here():
    said = verdict([SAME, replace(SAVES, source="published")], "eager")
    assert not said.suggested
    assert said.text == "no measurable difference here"


def test_shipped_evidence_names_its_machine_and_is_marked():
    said = verdict([replace(SAVES, source="published")], "eager")
    assert said.suggested
    assert "on Some CPU (shipped, not measured here)" in said.text


@pytest.mark.parametrize("source", ["here", "team", "published"])
def test_what_makes_no_difference_is_suggested_nowhere_until_a_nearer_measurement_saves(source):
    said = verdict([replace(SAME, source=source)], "eager")
    assert not said.suggested
    assert "no measurable difference" in said.text
    assert verdict([SAVES, replace(SAME, source="published")], "eager").suggested


def test_what_costs_more_is_not_suggested_and_says_so():
    said = verdict([replace(SAVES, ratio=1.2, low=1.15, high=1.25)], "eager")
    assert (said.suggested, said.text) == (False, "+20% ± 5 here (15 pairs, p 0.0003; medium inputs)")


def test_the_nearest_layer_speaks():
    team = replace(SAVES, source="team", ratio=0.2, low=0.1, high=0.3)
    assert verdict([SAVES, team], "eager").evidence == SAVES
    assert "on the team's Some CPU" in verdict([team], "eager").text


def test_each_mode_has_its_own_evidence():
    graph = replace(SAME, mode="graph")
    assert verdict([SAVES, graph], "eager").suggested
    assert not verdict([SAVES, graph], "graph").suggested
    assert not verdict([SAVES, graph], "jit").suggested


def test_a_rule_that_flips_with_size_says_both():
    small = replace(SAVES, size="small", ratio=2.04, low=1.9, high=2.2)
    assert verdict([small, SAVES], "eager").text.endswith("small inputs cost +104%")


def test_the_newest_measurement_of_a_size_counts():
    old = replace(SAVES, ratio=0.1, low=0.05, high=0.15, measured="2024-01-01T00:00:00+00:00")
    assert verdict([old, SAVES], "eager").evidence == SAVES


def test_nothing_measured_is_said_and_still_suggested():
    assert verdict([], "eager")[:3] == (True, "not measured yet", None)


def test_fixes_rank_by_joules_per_call_times_runs():
    assert joules_saved(SAVES, Runs(100, False)) == pytest.approx(0.5 * 0.41 * 100)
    assert joules_saved(SAME, Runs(100, False)) == 0.0
    assert joules_saved(None) == 0.0


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ([1.0, 2.0], [1.0], "2 results became 1"),
        ({"a": 1}, {"b": 1}, "keys"),
        (1.0, 1, "type float64 became int64"),
        ([[1.0]], [[1.5]], "at [0]: at [0]: "),
        (None, 1.0, "nothing became float"),
    ],
)
def test_differences_are_said_in_words(one, other, words):
    assert words in difference(one, other)


def test_nan_equals_nan_and_tolerance_is_relative():
    assert difference([float("nan"), 100.0], [float("nan"), 100.05], tolerance=1e-3) == ""
    assert difference([100.0], [100.5], tolerance=1e-3) != ""


SAVING = [rule for rule in rules.ALL.values() if rule.saves]


@pytest.mark.parametrize("rule", SAVING, ids=lambda rule: rule.name)
def test_a_rule_ships_with_evidence_that_it_saves_where_it_applies(rule):
    evidence = shipped_evidence(rule.name)
    assert any(verdict(evidence, mode).suggested for mode in rule.modes if verdict(evidence, mode).evidence)


def test_advice_that_does_not_save_ships_with_its_measurements():
    assert all(shipped_evidence(rule.name) for rule in rules.ALL.values() if not rule.saves)


@pytest.mark.parametrize("rule", rules.ALL.values(), ids=lambda rule: rule.name)
def test_shipped_evidence_is_of_the_workload_that_the_rule_has(rule):
    assert shipped_workloads(rule.name) == {fingerprint(rule)}, (
        f"the workload of {rule.name} has changed since its evidence was measured: run "
        f"`energy-lsp rules measure {rule.name} --export FILE` and ship what it writes"
    )
