"""The report of tuning: trade-offs as results against energy."""

from __future__ import annotations

from pathlib import Path

import pytest

from energy_code.rule_engine.context import Edit
from energy_lsp.report.tuning import pareto, write_tune_report
from energy_lsp.terminal.tune_table import print_tuned
from energy_measure.comparison.pairs import Comparison
from energy_measure.tuning.candidate import Candidate
from energy_measure.tuning.session import TuneResult
from energy_measure.tuning.trial import Trial, Tuned


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    points = [("as it is", 10.0, 0.90), ("a", 6.0, 0.88), ("b", 7.0, 0.80), ("c", 12.0, 0.89)]
    assert [label for label, _, _ in pareto(points, more=True)] == ["a", "as it is"]
    assert [label for label, _, _ in pareto(points, more=False)] == ["a", "b"]


def test_the_page_shows_table_and_plot(tmp_path: Path) -> None:
    found = Comparison((10.0,) * 3, (6.0,) * 3, (10.0,) * 3, 0.6, 0.59, 0.61, 0.01, 0.0, 1.0, 3.0, 2.0)
    candidate = Candidate("batch-size", "<twice>", "t<b>.py", 3, {"t<b>.py": [Edit(0, 0, "x")]})
    trial = Trial(candidate, [0.6], 2.0, "trade-off", "saves", found, 0.01, ({"loss": 0.5}, {"loss": 0.7}))
    tuned = Tuned([trial], [], None, 10.0, 3.0, "cpu-time", True, "cpu", False, False)
    page = tmp_path / "report.html"
    write_tune_report(page, "t<b>.py", TuneResult(tuned, {}, ()))
    text = page.read_text()
    assert "<svg" in text
    assert "a trade-off" in text
    assert "front" in text
    assert "t<b>" not in text, "others' text is escaped"


def test_what_saves_in_the_environment_alone_is_not_called_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = Comparison((10.0,) * 3, (6.0,) * 3, (10.0,) * 3, 0.6, 0.59, 0.61, 0.01, 0.0, 1.0, 3.0, 2.0)
    threads = Candidate("one-thread", "one thread", "", 0, environment={"OMP_NUM_THREADS": "1"})
    trial = Trial(threads, [0.6], 2.0, "equal", "saves", found, 0.01)
    print_tuned(
        TuneResult(Tuned([trial], [], None, 10.0, 3.0, "cpu-time", True, "cpu", False, False), {}, ()), False
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "one-thread did: set OMP_NUM_THREADS=1 before you run it" in shown
    assert "Nothing" not in shown
