"""`energy-lsp rules list | show | measure`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from energy_code import rules
from energy_code.rule_engine.evidence.workload import Array, Workload
from energy_code.rule_engine.rule import Rule
from energy_data.database.store import EnergyStore
from energy_lsp.cli import main


@pytest.fixture
def energy_lsp(tmp_path, monkeypatch):
    monkeypatch.setenv("ENERGY_LSP_DB", str(tmp_path / "energy.db"))
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["rules", *arguments])


def test_list_names_every_rule(energy_lsp):
    result = energy_lsp("list")
    assert result.exit_code == 0
    for name in rules.ALL:
        assert name in result.output


def test_list_as_json(energy_lsp):
    listed = json.loads(energy_lsp("list", "--format", "json").output)
    assert {row["name"] for row in listed} == set(rules.ALL)
    assert all(row["url"].endswith(f"/{row['name']}.md") for row in listed)


def test_show_prints_the_page(energy_lsp):
    result = energy_lsp("show", "rsqrt")
    assert result.exit_code == 0
    assert "**Equal when**" in result.output
    assert "energy: ignore[rsqrt]" in result.output


def test_an_unknown_rule_gets_a_suggestion(energy_lsp):
    result = energy_lsp("show", "pow3")
    assert result.exit_code == 2
    assert "Did you mean pow2?" in result.output


@pytest.mark.tensorflow
@pytest.mark.xdist_group("rules-tensorflow")
def test_measure_keeps_and_exports_evidence(energy_lsp, tmp_path):
    result = energy_lsp("measure", "pow2", "--quick", "--export", str(tmp_path / "evidence.jsonl"))
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in (tmp_path / "evidence.jsonl").read_text("utf-8").splitlines()]
    assert [(line["rule"], line["size"], line["mode"]) for line in lines] == [
        ("pow2", "medium", "eager"),
        ("pow2", "medium", "graph"),
    ]
    assert all(line["pairs"] == 15 for line in lines)
    with_store = EnergyStore.open(tmp_path / "energy.db", tmp_path)
    kept = [item for item in with_store.evidence("pow2") if item.source == "here"]
    with_store.close()
    assert len(kept) == 2
    assert all(item.machine and item.meter for item in kept)


@pytest.mark.tensorflow
@pytest.mark.xdist_group("rules-tensorflow")
def test_what_was_measured_before_an_interruption_is_kept(energy_lsp, tmp_path, monkeypatch):
    from energy_measure.comparison import rule_cases

    measured = []

    def interrupted(case):
        if measured:
            raise KeyboardInterrupt
        measured.append(case)
        return make_case(case)

    make_case = rule_cases.make_case
    monkeypatch.setattr(rule_cases, "make_case", interrupted)
    result = energy_lsp("measure", "pow2", "--quick", "--export", str(tmp_path / "evidence.jsonl"))
    assert result.exit_code == 0, result.output
    assert "1 comparison kept, 0 refused. Interrupted: 1 not measured." in result.output
    assert len((tmp_path / "evidence.jsonl").read_text("utf-8").splitlines()) == 1
    with_store = EnergyStore.open(tmp_path / "energy.db", tmp_path)
    assert [item.source for item in with_store.evidence("pow2")].count("here") == 1
    with_store.close()


class Unequal(Rule):
    """A rule whose sides differ.

    On purpose.
    """

    message = "never seen"
    category = "arithmetic"
    workload = Workload("x * 2.0", {"x": Array("n")}, {"n": (4, 8, 16)}, after="x * 3.0", graph=False)
    safety = "none"


@pytest.mark.tensorflow
@pytest.mark.xdist_group("rules-tensorflow")
def test_unequal_outputs_are_refused_as_evidence():
    from energy_measure.comparison.rule_cases import Planned, measure

    found, refused = measure([Planned(Unequal(), "small", "eager")], pairs=15)
    assert found == []
    assert "the outputs differ" in refused[0].words


@pytest.mark.tensorflow
@pytest.mark.xdist_group("rules-tensorflow")
def test_a_workload_that_fails_says_which_side_and_why():
    from energy_code.rule_engine.evidence.programs import WorkloadError
    from energy_measure.comparison.rule_cases import Planned, make_case

    rule = Unequal()
    rule.workload = replace(rule.workload, after="x @ x")
    with pytest.raises(
        WorkloadError, match=r"the side after failed on small inputs \(eager\): InvalidArgument"
    ):
        make_case(Planned(rule, "small", "eager"))
