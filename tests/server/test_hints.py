from __future__ import annotations

from dataclasses import replace

import pytest

from energy_code.calls import Call, Point, Runs, Span
from energy_data.model import Figure, RuleEvidence
from energy_lsp.hints import Hint, Total, cost, device_lines, evidence_line, hover, provenance, short
from energy_lsp.markup import Markdown, Plain

SPAN = Span(0, 10, Point(0, 0), Point(0, 10))
CALL = Call("keras.Sequential.fit", SPAN, SPAN, (), "", 1.0, Runs(1, False), "eager")
FIGURE = Figure(
    api="keras.Sequential.fit",
    layer="here",
    estimated=False,
    machine="Xeon",
    meter="rapl",
    date="2026-11-16T02:00:00Z",
    runs=5,
    measurements=5,
    sites=1,
    resolved=5,
    seconds=1.0,
    total=12.3,
    low=11.9,
    high=12.8,
    devices={"cpu": 9.0, "ram": 3.3},
    below=None,
    exact_site=True,
    version="2.21.0",
)
ESTIMATED = replace(FIGURE, estimated=True, meter="cpu-time")
UNRESOLVED = replace(FIGURE, total=None, low=None, high=None, devices={}, below=0.004, resolved=0)
PUBLISHED = replace(
    FIGURE, layer="published", exact_site=False, spread="range", sites=12, source="FECoM [x](y)"
)


def times(count: int, unknown: bool = False) -> Call:
    return replace(CALL, runs=Runs(count, unknown))


def test_what_fits_behind_a_call() -> None:
    assert short(Hint(CALL, FIGURE)) == "⚡ 12.3 J"
    assert short(Hint(times(4), FIGURE)) == "⚡ 12.3 J × 4"


def test_an_estimate_never_goes_unmarked() -> None:
    hint = Hint(times(2), ESTIMATED)
    for text in (short(hint), cost(hint), Total.of([(hint.figure, 1)]).label):
        assert text is not None
        assert "≈" in text
        assert "est." in text
    assert "Estimated" in provenance(ESTIMATED)


@pytest.mark.parametrize("figure", [None, UNRESOLVED])
def test_nothing_is_shown_behind_a_call_of_unknown_cost(figure: Figure | None) -> None:
    assert short(Hint(CALL, figure)) is None
    assert Hint(CALL, figure).known_joules is None


def test_unresolved_says_below_what() -> None:
    assert cost(Hint(CALL, UNRESOLVED)) == "The meter could not resolve this call. It lies below 4.00 mJ."


def test_interval_and_runs_are_part_of_the_cost() -> None:
    text = cost(Hint(times(10), FIGURE))
    assert text == "12.3 J per call (95% interval 11.9 to 12.8 J), × 10 runs = 123 J"
    assert cost(Hint(times(1, True), FIGURE)).endswith("for each pass of a loop of unknown length")
    assert "middle half of call sites" in cost(Hint(CALL, PUBLISHED))


def test_provenance_names_machine_meter_date_and_runs() -> None:
    expected = "Measured here, at this call site · Xeon · rapl · 2026-11-16 · TensorFlow 2.21.0 · 5 runs"
    assert provenance(FIGURE) == expected
    assert provenance(replace(FIGURE, layer="team")).startswith("Measured by the team ·")
    assert provenance(PUBLISHED).startswith("Published ·")
    assert provenance(replace(ESTIMATED, layer="team")).startswith("Measured by the team, estimated ·")
    assert "3 of 5 measurements resolved" in provenance(replace(FIGURE, resolved=3))


def test_a_bar_for_each_device() -> None:
    assert device_lines(FIGURE) == ["CPU ███████░░░  73%  9.00 J", "RAM ███░░░░░░░  27%  3.30 J"]
    assert device_lines(UNRESOLVED) == []


def test_totals_count_what_is_unknown() -> None:
    total = Total.of([(FIGURE, 2), (None, 1), (UNRESOLVED, 1)])
    assert (total.joules, total.known, total.unknown, total.estimated) == (24.6, 1, 2, False)
    assert total.label == "⚡ 24.6 J in 1 call, 2 unknown"
    assert Total.of([(None, 1)]).label == "⚡ 1 call of unknown cost"


def test_hover_holds_everything() -> None:
    text = hover(Hint(CALL, FIGURE), Plain(), "https://keras.io/x")
    for part in ("keras.Sequential.fit", "12.3 J per call", "CPU ███", "Xeon", "https://keras.io/x"):
        assert part in text


def test_hover_without_data_offers_to_measure() -> None:
    text = hover(Hint(CALL, None), Plain(), None)
    assert (
        text
        == "keras.Sequential.fit\n\nNo energy figure is known for this call. Measure this file to learn it."
    )


def test_database_content_makes_no_link() -> None:
    hostile = replace(PUBLISHED, machine="[a](command:b)", meter="<b>", version="`x`")
    text = hover(Hint(CALL, hostile), Markdown(), None)
    assert "](" not in text
    assert "<b>" not in text


def test_evidence_says_when_nothing_differs() -> None:
    evidence = RuleEvidence(
        "r",
        "1 MB",
        "eager",
        12,
        0.61,
        0.55,
        0.66,
        0.001,
        1.0,
        1.01,
        2.0,
        "Xeon",
        "rapl",
        False,
        "2026-11-16",
        "2.21",
    )
    assert "0.610 times the energy (0.550 to 0.660, 12 pairs)" in evidence_line(evidence)
    assert "no difference beyond the noise" in evidence_line(
        replace(evidence, low=0.9, high=1.1, p_value=0.4)
    )
