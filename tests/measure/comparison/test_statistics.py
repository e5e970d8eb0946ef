"""Intervals that cover what they say, and tests with known answers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from energy_measure import statistics


@pytest.mark.parametrize("count", [5, 15])
@pytest.mark.parametrize("spread", [0.05, 0.2])
def test_intervals_cover_the_truth(count, spread, monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 1000)
    rng = np.random.default_rng(count)
    mean, median = np.exp(spread**2 / 2), 1.0
    held = {"mean": 0, "median": 0}
    for _ in range(250):
        values = rng.lognormal(0.0, spread, count)
        of_mean, of_median = statistics.mean_interval(values), statistics.median_interval(values)
        held["mean"] += of_mean.low <= mean <= of_mean.high
        held["median"] += of_median.low <= median <= of_median.high
    assert 0.91 <= held["mean"] / 250 <= 0.99
    assert 0.91 <= held["median"] / 250 <= 0.995


def test_a_summary_shows_outliers_and_keeps_them_in_the_mean():
    summary = statistics.summarise([1.0, 1.1, 0.9, 1.0, 9.0])
    assert summary.outliers == (4,)
    assert summary.mean == pytest.approx(2.6)
    assert summary.variation == pytest.approx(np.std([1.0, 1.1, 0.9, 1.0, 9.0], ddof=1) / 2.6)


def test_the_same_values_give_the_same_interval():
    values = np.random.default_rng(0).normal(size=20)
    assert statistics.mean_interval(values) == statistics.mean_interval(values)


def test_one_value_says_nothing_of_its_error():
    assert statistics.summarise([3.0]).interval == statistics.Interval(float("-inf"), float("inf"))
    with pytest.raises(ValueError, match="nothing"):
        statistics.summarise([])


def test_runs_with_errors_of_their_own_are_combined():
    mean, interval = statistics.combine([2.0], [0.1])
    assert (mean, interval.low, interval.high) == pytest.approx((2.0, 1.804, 2.196), abs=1e-3)
    mean, interval = statistics.combine([2.0, 2.0, 2.0, 2.0, 2.0], [0.5] * 5)
    assert interval.high - mean == pytest.approx(0.5 / 5**0.5)


def test_a_run_in_which_the_meter_looked_away_says_nothing():
    seen = [1.0, 0.0, 0.5, 1.0, 0.1]
    values, errors = [2.0, 0.0, 2.2, 1.8, 0.0], [0.1, 3.0, 0.2, 0.1, 3.0]
    assert statistics.combine(values, errors, seen) == statistics.combine([2.0, 2.2, 1.8], [0.1, 0.2, 0.1])


def test_repeating_does_not_help_where_the_meter_always_looked_away():
    mean, interval = statistics.combine([0.0] * 5, [3.0] * 5, [0.0] * 5)
    assert (mean, interval.high) == (0.0, pytest.approx(3.0 * statistics.NORMAL_95))


def test_holm_multiplies_step_by_step():
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([]) == []
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0]


def test_wilcoxon_on_pairs():
    before = np.linspace(1.0, 2.0, 15)
    assert statistics.wilcoxon(before, before * 0.6) == pytest.approx(2 / 2**15)
    assert statistics.wilcoxon(before, before) == 1.0


def test_a12_counts_how_often_the_first_is_larger():
    assert statistics.a12([3, 4], [1, 2]) == 1.0
    assert statistics.a12([1, 2], [3, 4]) == 0.0
    assert statistics.a12([1, 2, 3], [1, 2, 3]) == 0.5
    assert statistics.a12([1, 5], [1, 2]) == pytest.approx((0.5 + 2) / 4)


def test_a_measurement_starts_without_loading_scipy():
    """SciPy takes more than a second to load: the first sentence of a measurement must not wait for it."""
    modules = "energy_measure.session, energy_measure.comparison.pairs, energy_measure.comparison.programs"
    code = f"import sys, {modules}; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_three_rounds_can_tell_a_changed_run_from_two_equal_ones() -> None:
    assert statistics.randomisation([0.5, 0.5, 0.6], [1.0, 1.1, 0.9], [1.05, 1.0, 1.0]) == pytest.approx(
        1 / 27
    )
    assert statistics.randomisation([1.0, 1.1], [1.0, 1.1], [1.0, 1.1]) == 1.0


def test_equal_sides_are_taken_for_different_no_more_often_than_agreed() -> None:
    chance = np.random.default_rng(0)
    found = [statistics.randomisation(*np.exp(chance.normal(0, 0.05, (3, 5)))) for _ in range(600)]
    assert np.mean(np.array(found) < 0.05) < 0.08
