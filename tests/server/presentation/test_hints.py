from __future__ import annotations

from dataclasses import replace

import pytest

from energy_code.model import Call, Point, Runs, Span
from energy_data.model import Figure, RuleEvidence
from energy_lsp.presentation.figures.account import Account
from energy_lsp.presentation.figures.hints import Hint
from energy_lsp.presentation.notation.markup import Markdown, Plain
from energy_lsp.presentation.words.calls import cost, device_lines, evidence_line, hotspot, provenance, short
from energy_lsp.presentation.words.hover import hover, origin

SPAN = Span(0, 10, Point(0, 0), Point(0, 10))
CALL = Call("keras.Sequential.fit", SPAN, SPAN, (), "", 1.0, Runs(1, False), "eager")
FIGURE = Figure(
    api="keras.Sequential.fit",
    source="here",
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
    origin="site",
    version="2.21.0",
)
ESTIMATED = replace(FIGURE, estimated=True, meter="cpu-time")
UNRESOLVED = replace(FIGURE, total=None, low=None, high=None, devices={}, below=0.004, resolved=0)
MEASURED_TEN_TIMES = replace(FIGURE, times=10)
PUBLISHED = replace(
    FIGURE,
    source="published",
    origin="api",
    spread="range",
    sites=12,
    low=200.0,
    high=5000.0,
    citation="FECoM [x](y)",
)


def times(count: int, unknown: bool = False) -> Call:
    return replace(CALL, runs=Runs(count, unknown))


def test_what_fits_behind_a_call() -> None:
    assert short(Hint(CALL, FIGURE), 0.94) == "12 J · 94%"
    assert short(Hint(times(4), ESTIMATED), 0.004) == "≈ 49 J · <1%"


def test_words_say_how_far_a_figure_is_from_the_call() -> None:
    near = [replace(FIGURE, origin=one) for one in ("site", "signature", "predicted", "api")]  # type: ignore[arg-type]
    behind = [short(Hint(CALL, figure), 0.5 if figure.origin == "site" else None) for figure in near]
    assert behind == ["12 J · 50%", "12 J at another call", "12 J predicted", None]
    bold = [hover(Hint(CALL, figure), Markdown(), None).startswith("**") for figure in near]
    assert bold == [True, False, False, False], "only what was measured at this call stands out"
    words = [origin(figure) for figure in (*near, PUBLISHED, None)]
    assert words == [
        "Measured here, at this call.",
        "Measured here, at another call, same shapes.",
        "Predicted, not measured.",
        "Known from other calls only.",
        "Published, from another machine.",
        "Measure this file to learn it.",
    ]


def test_a_hotspot_is_one_short_line() -> None:
    assert hotspot(Hint(CALL, ESTIMATED), 0.94) == "fit: ≈ 12 J, 94% of this file"


def test_an_estimate_never_goes_unmarked() -> None:
    hint = Hint(times(2), ESTIMATED)
    for text in (short(hint, None), hotspot(hint, 0.5), cost(hint), Account.of([(hint.figure, 1)]).label):
        assert text is not None
        assert "≈" in text
    assert "Estimated" in provenance(ESTIMATED)


@pytest.mark.parametrize("figure", [None, UNRESOLVED])
def test_nothing_is_shown_behind_a_call_of_unknown_cost(figure: Figure | None) -> None:
    assert short(Hint(CALL, figure), None) is None
    assert Hint(CALL, figure).known_joules is None


def test_unresolved_says_below_what() -> None:
    assert cost(Hint(CALL, UNRESOLVED)) == "The meter could not resolve this call. It lies below 4.00 mJ."


def test_interval_and_runs_are_part_of_the_cost() -> None:
    text = cost(Hint(times(7), MEASURED_TEN_TIMES))
    assert text == "12.3 J per call (95% interval 11.9 to 12.8 J), × 10 calls = 123 J", "what ran counts"
    unmeasured = replace(FIGURE, origin="predicted")
    assert cost(Hint(times(7), unmeasured)).endswith(", × 7 calls in the source = 86.1 J")
    assert cost(Hint(times(1, True), unmeasured)).endswith("for each pass of a loop of unknown length")
    assert "interval" not in cost(Hint(CALL, replace(FIGURE, runs=1)))


def test_a_figure_of_one_run_is_shown_with_what_runs_usually_are() -> None:
    alone = replace(FIGURE, runs=1, covers="sampling")
    assert "(one run)" in cost(Hint(CALL, alone))
    usual = replace(alone, low=11.0, high=14.0, covers="runs of this machine")
    assert "(one run, usually 11.0 to 14.0 J)" in cost(Hint(CALL, usual))
    replayed_once = replace(FIGURE, runs=3, covers="sampling")
    assert "interval" not in cost(Hint(CALL, replayed_once))


def test_the_first_call_is_told_apart_where_it_differs() -> None:
    assert ", the first 84.0 J" in cost(Hint(CALL, replace(FIGURE, first=84.0)))
    assert "the first" not in cost(Hint(CALL, replace(FIGURE, first=14.0)))
    ten = Hint(CALL, replace(MEASURED_TEN_TIMES, first=84.0))
    assert ten.known_joules == pytest.approx(84.0 + 9 * 12.3)


def test_other_calls_figures_are_an_order_of_magnitude() -> None:
    hint = Hint(times(100), PUBLISHED)
    assert short(hint, None) is None
    assert cost(hint) == (
        "Not measured at this call. Elsewhere 0.20 to 5.0 kJ per call on a GPU server, with other models and data."
    )
    assert (hint.joules_per_call, hint.known_joules) == (None, None)
    assert "█" not in hover(hint, Plain(), None)
    elsewhere = replace(FIGURE, origin="api")
    assert cost(Hint(CALL, elsewhere)).startswith("Not measured at this call. Elsewhere 12 to 13 J per call")


def test_a_figure_of_before_an_edit_says_so() -> None:
    edited = replace(FIGURE, edited=True)
    assert short(Hint(CALL, edited), None) == "12 J before your edit"
    assert "before your edit" in provenance(edited)


def test_provenance_names_machine_meter_date_and_runs() -> None:
    expected = "Measured here, at this call site · Xeon · rapl · 2026-11-16 · TensorFlow 2.21.0 · 5 runs"
    assert provenance(FIGURE) == expected
    assert provenance(replace(FIGURE, source="team")).startswith("Measured by the team, at this call site ·")
    assert provenance(PUBLISHED).startswith("Published ·")
    assert provenance(replace(ESTIMATED, source="team")).startswith(
        "Measured by the team, estimated, at this call site ·"
    )
    assert "3 of 5 measurements resolved" in provenance(replace(FIGURE, resolved=3))


def test_a_bar_for_each_device() -> None:
    assert device_lines(FIGURE) == ["CPU ███████░░░  73%  9.00 J", "RAM ███░░░░░░░  27%  3.30 J"]
    assert device_lines(UNRESOLVED) == []


def test_a_figure_that_was_repeated_alone_says_so() -> None:
    assert "repeated alone" not in provenance(FIGURE)
    assert "repeated alone, after the run" in provenance(replace(FIGURE, method="replayed"))


def test_parts_that_do_not_add_up_are_not_shown() -> None:
    assert device_lines(replace(FIGURE, devices={"cpu": 9.0, "ram": 9.0})) == []


def test_sums_hold_what_was_measured_at_the_calls_and_name_the_rest() -> None:
    other_run, nested = replace(FIGURE, of_last_run=False), replace(FIGURE, exclusive=2.3)
    costs = [(FIGURE, 2), (nested, 1), (None, 1), (UNRESOLVED, 1), (PUBLISHED, 9), (other_run, 1)]
    account = Account.of(costs)
    assert (account.joules, account.counted, account.left_out) == (pytest.approx(26.9), 2, 4)
    assert account.label == (
        "⚡ at least 26.9 J in 2 calls, 1 of an older run, 1 below what the meter can tell, "
        "1 known only from elsewhere, 1 unknown"
    )
    assert Account.of([(FIGURE, 2)]).label == "⚡ 24.6 J in 1 call"
    assert Account.of([(None, 1)]).label == "⚡ 1 call not measured here"
    assert Account.from_json(account.as_json()) == account


def test_sums_never_mix_machines_or_meters() -> None:
    team = replace(FIGURE, source="team", machine="Threadripper", total=100.0)
    account = Account.of([(team, 1)]) + Account.of([(FIGURE, 1), (ESTIMATED, 1), (FIGURE, 1)])
    assert [(one.key.machine, one.key.meter, one.joules) for one in account.machines] == [
        ("Xeon", "rapl", 24.6),
        ("Xeon", "cpu-time", 12.3),
        ("Threadripper", "rapl", 100.0),
    ]
    assert account.joules == 24.6, "of this machine"
    assert account.label == (
        "⚡ 24.6 J in 2 calls · ≈ 12.3 J in 1 call on Xeon · 100 J in 1 call on Threadripper"
    )


def test_hover_holds_everything() -> None:
    text = hover(Hint(CALL, FIGURE), Plain(), "https://keras.io/x", share=0.94)
    assert text.split("\n\n")[:3] == [
        "⚡ 12.3 J · 94% of this file · keras.Sequential.fit",
        "Measured here, at this call.",
        "12.3 J per call (95% interval 11.9 to 12.8 J)",
    ]
    for part in ("CPU ███", "Xeon", "https://keras.io/x"):
        assert part in text


def test_a_citation_stands_behind_a_link() -> None:
    text = hover(Hint(CALL, PUBLISHED), Markdown(), None)
    assert "FECoM" not in text
    assert "[source](https://" in text


def test_hover_without_data_offers_to_measure() -> None:
    text = hover(Hint(CALL, None), Plain(), None)
    assert text == "Not measured here yet · keras.Sequential.fit\n\nMeasure this file to learn it."


def test_database_content_makes_no_link() -> None:
    hostile = replace(FIGURE, machine="[a](command:b)", meter="<b>", version="`x`")
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
