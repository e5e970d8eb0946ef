"""Joules per call against power whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy_measure.attribution import solver as attribution
from energy_measure.attribution.baseline import IdleWindow, fit_baseline, no_baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.site_energy import site_energies
from energy_measure.attribution.solver import DeviceAttribution, attribute
from energy_measure.sampling.trace import SampledTrace
from energy_measure.statistics import SEEN_ENOUGH
from waveform import (
    GPUS,
    Calls,
    RaplModel,
    Waveform,
    reading_times,
    sample_nvml_energy,
    sample_nvml_power,
    sample_rapl,
)

REST = 2.0
IDLE = 30.0
QUIET = RaplModel(noise=0.0)
NO_IDLE = Waveform.of((0.0, 0.0))


def ns(seconds: float) -> int:
    return round(seconds * 1e9)


def events_of(
    starts: Sequence[float],
    ends: Sequence[float],
    sites: Sequence[int] | None = None,
    threads: Sequence[int] | None = None,
) -> Events:
    sites = range(len(starts)) if sites is None else sites
    return Events.of(sites, [ns(s) for s in starts], [ns(e) for e in ends], thread=threads)


def attribute_rapl(
    calls: Calls, events: Events, seed: int = 0, model: RaplModel | None = None
) -> DeviceAttribution:
    """Idle, the calls, idle again, read by a simulated RAPL counter every millisecond."""
    rng = np.random.default_rng(seed)
    finish = float(calls.ends.max()) + 0.1
    wave = calls.waveform("cpu", IDLE)
    trace = sample_rapl(wave, reading_times(finish + REST, 1e-3, rng=rng), rng, model=model)
    return attribute_between(trace, events, finish)


def attribute_between(trace: SampledTrace, events: Events, finish: float) -> DeviceAttribution:
    rests = [IdleWindow(0, ns(REST)), IdleWindow(ns(finish), int(trace.times_ns[-1]))]
    return attribute(trace, events, fit_baseline(trace, rests), (ns(REST), ns(finish)))


def separate_calls(count: int, length: float, gap: float, seed: int = 0) -> Calls:
    rng = np.random.default_rng(seed)
    starts = REST + 0.1 + np.cumsum(gap * rng.uniform(0.5, 1.5, count)) + length * np.arange(count)
    return Calls(starts, starts + length, {"cpu": rng.uniform(15.0, 90.0, count)})


def test_long_calls_come_out_within_two_percent():
    calls = separate_calls(60, 0.2, 0.1)
    found = attribute_rapl(calls, events_of(calls.starts, calls.ends))
    error = np.abs(found.joules / calls.true_joules("cpu") - 1)
    assert np.median(error) < 0.02


def test_the_short_way_for_very_many_calls_agrees(monkeypatch):
    calls = separate_calls(60, 0.2, 0.1)
    monkeypatch.setattr(attribution, "LARGE", 10)
    found = attribute_rapl(calls, events_of(calls.starts, calls.ends))
    error = np.abs(found.joules / calls.true_joules("cpu") - 1)
    assert np.median(error) < 0.02
    assert np.sum(found.exclusive) + found.outside_joules == pytest.approx(found.program_joules)


def test_a_counter_that_lags_does_not_bias_short_calls():
    """Reading the counter at its face value would lose half an update period of each 10 ms call: 5%."""
    calls = separate_calls(400, 0.01, 0.03)
    found = attribute_rapl(calls, events_of(calls.starts, calls.ends), model=QUIET)
    assert abs(np.sum(found.joules) / np.sum(calls.true_joules("cpu")) - 1) < 0.01


@pytest.mark.parametrize("length", [0.01, 0.05, 0.2])
def test_intervals_hold_the_truth_as_often_as_they_say(length):
    held = []
    for seed in range(5):
        calls = separate_calls(80, length, 0.05, seed)
        found = attribute_rapl(calls, events_of(calls.starts, calls.ends), seed)
        held += (np.abs(found.joules - calls.true_joules("cpu")) < 1.96 * found.stderr).tolist()
    assert 0.91 <= np.mean(held) <= 0.985


def test_a_call_of_microseconds_is_not_resolved():
    calls = separate_calls(40, 10e-6, 0.05)
    events = events_of(calls.starts, calls.ends)
    energies = site_energies(events, [attribute_rapl(calls, events)])
    assert np.mean([energy.resolved for energy in energies.values()]) < 0.1


def short_calls(length: float, gap: float, jitter: float) -> tuple[Calls, Events]:
    rng = np.random.default_rng(0)
    starts = REST + 0.1 + np.cumsum(gap * rng.uniform(1 - jitter, 1 + jitter, 3000) + length)
    calls = Calls(starts, starts + length, {"cpu": np.full(3000, 50.0)})
    return calls, events_of(calls.starts, calls.ends, sites=[3] * 3000)


def test_many_short_calls_of_one_site_are_known_on_average():
    """Expecting the meter's windows where they are put would lose a fifth of each call to its neighbours."""
    calls, events = short_calls(500e-6, 5e-3, 0.5)
    energy = site_energies(events, [attribute_rapl(calls, events)])[3]
    assert energy.count == 3000
    assert energy.total.value == pytest.approx(50.0 * 500e-6, rel=0.08)
    assert energy.interval.low < 50.0 * 500e-6 < energy.interval.high


def test_a_mixture_that_never_changes_is_not_taken_for_known():
    """Calls and gaps of 0.2 ms in turns look the same in every window: the calls may have drawn all or
    nothing."""
    calls, events = short_calls(200e-6, 200e-6, 0.0)
    energy = site_energies(events, [attribute_rapl(calls, events)])[3]
    assert energy.interval.low < 50.0 * 200e-6 < energy.interval.high
    assert energy.interval.high - energy.interval.low > 0.5 * 50.0 * 200e-6


def test_nested_calls_have_inclusive_and_exclusive_energy():
    """A call of 0.4 s at 20 W holds one of 0.2 s in which 50 W more are drawn."""
    calls = Calls(np.array([2.5, 2.6]), np.array([2.9, 2.8]), {"cpu": np.array([20.0, 50.0])})
    found = attribute_rapl(calls, events_of([2.5, 2.6], [2.9, 2.8]), model=QUIET)
    assert found.joules == pytest.approx([18.0, 14.0], rel=0.03)
    assert found.exclusive == pytest.approx([4.0, 14.0], rel=0.1)
    assert np.all(found.exclusive_stderr >= 0)


def test_calls_at_the_same_time_are_told_apart_by_what_they_draw_alone():
    starts, ends = [2.2, 3.2, 4.2, 4.2], [2.7, 3.7, 4.7, 4.7]
    calls = Calls(np.array(starts), np.array(ends), {"cpu": np.array([10.0, 40.0, 10.0, 40.0])})
    events = events_of(starts, ends, sites=[0, 1, 0, 1], threads=[0, 1, 0, 1])
    short = RaplModel(update_period=0.4, noise=0.0, jitter=0.0)  # so slow that sites share one power
    found = attribute_rapl(calls, events, model=short)
    assert found.joules[2:] == pytest.approx([5.0, 20.0], rel=0.15)
    assert found.shared == pytest.approx([0, 0, 1, 1], abs=0.01)


def test_calls_never_seen_alone_share_equally():
    calls = Calls(np.array([2.2, 2.2]), np.array([2.7, 2.7]), {"cpu": np.array([10.0, 40.0])})
    found = attribute_rapl(calls, events_of([2.2, 2.2], [2.7, 2.7], threads=[0, 1]), model=QUIET)
    assert found.joules[0] == pytest.approx(found.joules[1])
    assert np.sum(found.joules) == pytest.approx(25.0, rel=0.02)


def test_merged_rows_get_the_energy_of_their_calls_alone():
    """A row of 1 s stands for calls that ran half of the time; the program's own power is seen beside it."""
    starts = 2.2 + np.arange(500) * 2e-3
    calls = Calls(starts, starts + 1e-3, {"cpu": np.full(500, 60.0)})
    one = np.array([1], dtype=np.int64)
    row = Events(
        site=one,
        thread=one * 0,
        start=one * ns(2.2),
        end=one * ns(3.199),
        busy=one * 500_000_000,
        count=one * 500,
        depth=one * 0,
        tracing=np.array([False]),
        parent=one * -1,
    )
    found = attribute_rapl(calls, row, model=QUIET)
    assert found.joules[0] + found.outside_joules == pytest.approx(30.0, rel=0.03)
    energy = site_energies(row, [found])[1]
    assert (energy.count, energy.seconds) == (500, pytest.approx(1e-3))


def test_tail_energy_is_recorded_beside_the_call():
    starts = 2.5 + np.arange(4) * 3.0
    watts = np.full(4, 150.0)
    calls = Calls(starts, starts + 1.0, {"gpu": watts}, {"gpu": 40.0}, tail_seconds=0.5)
    rng = np.random.default_rng(0)
    finish = float(calls.ends[-1]) + 1.5
    wave = calls.waveform("gpu", 50.0)
    trace = sample_nvml_energy(
        wave, reading_times(finish + REST, 1e-3, rng=rng), rng, model=GPUS["NVIDIA A100-SXM4-40GB"]
    )
    found = attribute_between(trace, events_of(calls.starts, calls.ends), finish)
    assert found.joules == pytest.approx(150.0, rel=0.05)
    assert np.all((found.tail > 5.0) & (found.tail < 21.0))  # 20 J, spread over the gap, in its first second


def test_a_running_mean_is_undone():
    """A GPU that shows the mean of the last second still tells a call of 0.1 s from its neighbours."""
    starts = 3.0 + np.arange(10) * 2.5
    watts = np.linspace(60.0, 200.0, 10)
    calls = Calls(starts, starts + 0.1, {"gpu": watts})
    rng = np.random.default_rng(1)
    finish = float(calls.ends[-1]) + 2.0
    wave = calls.waveform("gpu", 50.0)
    trace = sample_nvml_power(
        wave, reading_times(finish + 4.0, 5e-3, rng=rng), rng, model=GPUS["NVIDIA GeForce RTX 3090"]
    )
    found = attribute_between(trace, events_of(calls.starts, calls.ends), finish)
    assert np.median(np.abs(found.joules / calls.true_joules("gpu") - 1)) < 0.05


def test_calls_that_a_meter_never_looked_at_are_unresolved_not_nonsense():
    """A GPU that shows 10 ms of every 20 sees half of the calls of 10 µs not at all."""
    starts = 2.5 + np.arange(60) * 0.3137
    calls = Calls(starts, starts + 10e-6, {"gpu": np.full(60, 150.0)})
    rng = np.random.default_rng(2)
    finish = float(calls.ends[-1]) + 0.5
    trace = sample_nvml_power(
        calls.waveform("gpu", 50.0),
        reading_times(finish + REST, 1e-3, rng=rng),
        rng,
        model=GPUS["NVIDIA GeForce GTX 1080 Ti"],
    )
    found = attribute_between(trace, events_of(calls.starts, calls.ends), finish)
    assert np.all(np.isfinite(found.stderr))
    assert np.mean(found.joules > 1.96 * found.stderr) < 0.1


def test_an_estimate_without_idle_power_takes_the_same_path():
    """CPU time stands still while nothing runs: its energy must not leak into the pause before a call."""
    times = np.arange(0, ns(3.0), 5_000_000)
    worked = np.clip(times * 1e-9 - 2.0, 0.0, 0.5)
    trace = SampledTrace("cpu", times, "energy", 2.76 * worked, 1e-6, quantum=1e-9, estimated=True)
    events = events_of([0.5, 2.0], [1.0, 2.5])
    found = attribute(trace, events, no_baseline(0), (0, ns(3.0)))
    assert found.joules == pytest.approx([0.0, 1.38], abs=0.02)
    assert found.program_joules == pytest.approx(1.38, rel=1e-4)


def test_strange_events_do_no_harm():
    calls = separate_calls(3, 0.1, 0.1)
    starts, ends = [2.5, 2.5, 0.0, 90.0], [2.5, 2.6, 0.5, 91.0]  # empty, common, before and after the program
    found = attribute_rapl(calls, events_of(starts, ends))
    assert np.all(np.isfinite(found.joules))
    assert np.all(np.isfinite(found.stderr))
    assert attribute_rapl(calls, Events.empty()).joules.shape == (0,)


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_calls_and_what_is_outside_add_up_to_the_program(data):
    count = data.draw(st.integers(0, 12))
    edges = [
        data.draw(st.tuples(st.floats(0, 0.9), st.floats(0, 0.9), st.integers(0, 2))) for _ in range(count)
    ]
    starts = [0.05 + min(a, b) for a, b, _ in edges]
    ends = [0.05 + max(a, b) for a, b, _ in edges]
    events = events_of(starts, ends, threads=[thread for _, _, thread in edges])
    rng = np.random.default_rng(0)
    times = np.arange(0, ns(1.0), 1_000_000)
    trace = SampledTrace("cpu", times, "energy", np.cumsum(rng.uniform(0, 0.1, len(times))), 1e-3)
    found = attribute(trace, events, no_baseline(0))
    assert np.sum(found.exclusive) + found.outside_joules == pytest.approx(found.program_joules)
    assert found.program_joules == pytest.approx(trace.values[-1] - trace.values[0], rel=1e-6)


def test_what_a_meter_that_looks_away_saw_of_each_call():
    """Power over the last 10 ms, told every 20 ms: half of the time nobody looks."""
    rng = np.random.default_rng(11)
    starts = 3.0 + 0.5 * np.arange(200) + rng.uniform(0.0, 0.1, 200)
    length = 1e-3
    calls = Calls(starts, starts + length, {"gpu": np.full(200, 100.0)})
    times = reading_times(float(starts[-1]) + 3.5, 1e-3, rng=rng)
    trace = sample_nvml_power(
        calls.waveform("gpu", 55.0), times, rng, model=GPUS["NVIDIA GeForce GTX 1080 Ti"]
    )
    events = events_of(starts.tolist(), (starts + length).tolist())
    rests = [IdleWindow(0, ns(2.9)), IdleWindow(ns(float(starts[-1]) + 0.1), ns(float(times[-1])))]
    found = attribute(trace, events, fit_baseline(trace, rests))
    seen = found.seen >= SEEN_ENOUGH
    assert 0.4 < seen.mean() < 0.7
    energy = site_energies(events, [found])
    assert [energy[site].seen for site in range(200)] == found.seen.tolist()
    assert np.mean(found.joules[seen]) == pytest.approx(0.1, rel=0.15)
    assert np.mean(found.joules[~seen]) < 0.02


def test_a_counter_loses_nothing_when_readings_are_missed():
    errors, held = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        starts = 3.0 + 0.3 * np.arange(60)
        calls = Calls(starts, starts + 0.2, {"cpu": rng.uniform(15.0, 90.0, 60)})
        times = reading_times(24.0, 1e-3, rng=rng)
        trace = sample_rapl(calls.waveform("cpu", IDLE), times, rng)
        kept = rng.random(len(times)) > 0.22
        kept[[0, -1]] = True
        # A busy machine holds the sampler up for several readings in a row.
        kept[5000:5040] = False
        thinned = replace(trace, times_ns=trace.times_ns[kept], values=trace.values[kept])
        events = events_of(starts.tolist(), (starts + 0.2).tolist())
        rests = [IdleWindow(0, ns(2.9)), IdleWindow(ns(21.1), ns(23.9))]
        every, some = (attribute(one, events, fit_baseline(one, rests)) for one in (trace, thinned))
        assert some.program_joules == pytest.approx(every.program_joules, rel=1e-3)
        true = calls.true_joules("cpu")
        errors += (np.abs(some.joules - true) / true).tolist()
        held += (np.abs(some.joules - true) <= 1.96 * some.stderr).tolist()
    assert np.median(errors) < 0.02
    assert 0.91 <= np.mean(held) <= 0.985


def training_loop(rng: np.random.Generator, steps: int = 400) -> tuple[Calls, list[int]]:
    """A step of four calls in turns, as regular as those of real programs are."""
    lengths = np.tile([0.85e-3, 0.12e-3, 1.05e-3, 2.9e-3], steps) * rng.lognormal(0, 0.2, 4 * steps)
    gaps = np.tile([20e-6, 30e-6, 20e-6, 100e-6], steps)
    watts = np.tile(rng.uniform(20.0, 80.0, 4), steps) * rng.lognormal(0, 0.1, 4 * steps)
    starts = REST + 0.1 + np.cumsum(lengths + gaps) - lengths - gaps
    return Calls(starts, starts + lengths, {"cpu": watts}), list(range(4)) * steps


@pytest.mark.parametrize("period", [1e-3, 10e-3])
def test_calls_of_a_training_loop_are_known_as_well_as_their_intervals_say(period):
    """With 10 ms between readings of a counter that moves every millisecond, what it had counted last is not a rest."""
    held, errors = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        calls, sites = training_loop(rng)
        finish = float(calls.ends.max()) + 0.1
        times = reading_times(finish + REST, period, rng=rng)
        trace = sample_rapl(calls.waveform("cpu", IDLE), times, rng)
        events = events_of(calls.starts.tolist(), calls.ends.tolist(), sites)
        found = site_energies(events, [attribute_between(trace, events, finish)])
        for site, energy in found.items():
            true = float(np.mean(calls.true_joules("cpu")[site::4]))
            held.append(energy.interval.low <= true <= energy.interval.high)
        errors.append(abs(found[3].total.value / true - 1))
    assert np.mean(held) >= 0.88
    assert np.median(errors) < 0.06
