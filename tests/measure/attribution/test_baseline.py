"""Level, drift and noise of the idle power."""

from __future__ import annotations

import numpy as np
import pytest

from energy_measure.attribution.baseline import IdleWindow, fit_baseline
from energy_measure.attribution.observations import TooFewReadingsError
from energy_measure.sampling.trace import SampledTrace
from waveform import GPUS, Waveform, reading_times, sample_nvml_energy, sample_rapl


def ns(seconds: float) -> int:
    return round(seconds * 1e9)


def rapl(wave: Waveform, seconds: float, seed: int = 0) -> SampledTrace:
    rng = np.random.default_rng(seed)
    return sample_rapl(wave, reading_times(seconds, 1e-3, rng=rng), rng)


def test_drift_is_followed_between_the_idle_windows():
    wave = Waveform.of((0.0, 20.0), (100.0, 30.0))
    idle = [IdleWindow(ns(a), ns(a + 3.0)) for a in (0.0, 48.5, 97.0)]
    baseline = fit_baseline(rapl(wave, 100.0), idle)
    assert baseline.power(np.array([1.5, 25.0, 75.0, 98.5])) == pytest.approx(
        [20.15, 22.5, 27.5, 29.85], rel=0.01
    )
    assert baseline.energy(np.array([10.0]), np.array([90.0])) == pytest.approx([2000.0], rel=0.01)


def test_the_level_is_as_sure_as_it_says():
    z = []
    for seed in range(60):
        baseline = fit_baseline(rapl(Waveform.constant(30.0), 2.1, seed), [IdleWindow(0, ns(2.0))])
        z.append((baseline.watts[0] - 30.0) / baseline.stderr[0])
    assert 0.7 < np.std(z) < 1.4


def test_noise_is_what_the_meter_shows_over_each_length():
    baseline = fit_baseline(rapl(Waveform.constant(30.0), 20.0), [IdleWindow(0, ns(20.0))])
    assert baseline.noise(np.array([0.05, 1.0])) == pytest.approx(
        [0.02 * 30 * 0.05, 0.02 * 30 * 0.05 * 20**0.5], rel=0.3
    )


def test_noise_over_less_than_an_update_is_that_of_a_walk():
    """A call of a quarter of the update period has half the noise of an update, not a quarter."""
    rng = np.random.default_rng(3)
    slow = GPUS["NVIDIA A100-SXM4-40GB"]
    trace = sample_nvml_energy(Waveform.constant(55.0), reading_times(60.0, 1e-3, rng=rng), rng, model=slow)
    noise = fit_baseline(trace, [IdleWindow(0, ns(60.0))]).noise(np.array([0.025, 0.1]))
    assert noise[0] == pytest.approx(noise[1] / 2.0, rel=0.01)
    assert noise[1] == pytest.approx(slow.noise * 55.0 * (0.05 * 0.1) ** 0.5, rel=0.2)


def test_an_idle_window_without_readings_says_what_to_do():
    with pytest.raises(TooFewReadingsError, match="rest longer"):
        fit_baseline(rapl(Waveform.constant(30.0), 1.0), [IdleWindow(ns(5.0), ns(6.0))])


def test_a_trace_of_one_reading_is_refused():
    trace = SampledTrace("gpu", np.array([1]), "energy", np.array([0.0]), 0.1)
    with pytest.raises(TooFewReadingsError, match="at least two"):
        fit_baseline(trace, [IdleWindow(0, 10)])
