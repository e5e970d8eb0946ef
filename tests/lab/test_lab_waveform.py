"""The lab itself: is its truth true, and do its sensors err as real ones do?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from waveform import (
    GPUS,
    Calls,
    NvmlModel,
    RaplModel,
    Waveform,
    reading_times,
    sample_nvml_energy,
    sample_nvml_power,
    sample_rapl,
)

points = st.lists(
    st.tuples(st.floats(0, 10, allow_subnormal=False), st.floats(0, 400, allow_subnormal=False)),
    min_size=1,
    max_size=8,
).map(lambda pairs: Waveform.of(*sorted(pairs, key=lambda pair: pair[0])))


@given(points, st.floats(-2, 12), st.floats(0, 5))
def test_energy_is_the_integral_of_power(wave, start, length):
    edges = wave.seconds[(wave.seconds > start) & (wave.seconds < start + length)]
    cuts = np.unique(np.concatenate([[start], edges, [start + length]]))
    # Between two points power is a straight line: its middle is its mean.
    expected = float(np.sum(wave.power((cuts[1:] + cuts[:-1]) / 2) * np.diff(cuts)))
    assert float(wave.energy(start, start + length)) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_steps_ramps_and_what_lies_outside():
    wave = Waveform.of((1.0, 10.0), (2.0, 10.0), (2.0, 30.0), (3.0, 50.0))
    assert wave.power([0.0, 1.5, 2.0, 2.5, 9.0]).tolist() == [10, 10, 30, 40, 50]
    assert wave.energy([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 5.0]).tolist() == [10, 10, 40, 100]


def test_time_that_runs_backwards_is_refused():
    with pytest.raises(ValueError, match="time in order"):
        Waveform.of((1.0, 5.0), (0.5, 5.0))


def test_concurrent_calls_add_up_and_tails_are_not_theirs():
    calls = Calls(
        np.array([1.0, 1.5]), np.array([2.0, 2.5]), {"gpu": np.array([10.0, 20.0])}, {"gpu": 5.0}, 0.5
    )
    wave = calls.waveform("gpu", 50.0)
    assert wave.power([0.5, 1.2, 1.7, 2.2, 2.7, 3.2]).tolist() == [50, 60, 80, 75, 55, 50]
    assert calls.true_joules("gpu").tolist() == [10.0, 20.0]
    drifting = calls.waveform("gpu", Waveform.of((0.0, 50.0), (4.0, 54.0)))
    assert float(drifting.energy(0, 4)) == pytest.approx(float(wave.energy(0, 4)) + 8.0)


@pytest.mark.parametrize(
    ("period", "low", "high"), [(0.001, 0.40, 0.50), (0.01, 0.04, 0.07), (0.05, 0.015, 0.03)]
)
def test_idle_rapl_varies_as_on_real_processors(period, low, high):
    rng = np.random.default_rng(7)
    trace = sample_rapl(Waveform.constant(20.0), reading_times(60.0, period, rng=rng), rng)
    watts = np.diff(trace.values) / np.diff(trace.times_ns) * 1e9
    assert low <= watts.std() / watts.mean() <= high
    assert watts.mean() == pytest.approx(20.0, rel=0.01)


@pytest.mark.parametrize("model", GPUS.values(), ids=GPUS)
def test_gpu_traces_move_at_their_period_and_smear_over_their_window(model):
    rng = np.random.default_rng(3)
    step = Waveform.of((0.0, 50.0), (10.0, 50.0), (10.0, 250.0), (20.0, 250.0))
    times = reading_times(20.0, 0.005, rng=rng)
    quiet = NvmlModel(model.update_period, model.window, noise=0.0)
    power = sample_nvml_power(step, times, rng, model=quiet)
    rising = power.times_ns[(power.values > 51) & (power.values < 249)] / 1e9
    assert np.all((rising >= 10.0) & (rising <= 10.0 + model.window + model.update_period + 0.01))
    energy = sample_nvml_energy(step, times, rng, model=quiet)
    assert len(energy.changes()) == pytest.approx(20.0 / model.update_period, abs=2)
    assert energy.values[-1] == pytest.approx(3000.0, abs=250 * model.update_period + 1e-2)


def test_noise_can_be_switched_off():
    rng = np.random.default_rng(1)
    model = RaplModel(jitter=0.0, noise=0.0)
    trace = sample_rapl(Waveform.constant(16.0), reading_times(1.0, 0.001), rng, model=model)
    assert trace.values[-1] == pytest.approx(16.0 * 0.999, abs=0.02)
