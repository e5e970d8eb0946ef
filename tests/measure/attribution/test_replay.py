"""Calls too short for the meter, repeated in windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from energy_data.model import Quantity
from energy_measure.attribution.replay import (
    Replayed,
    ReplayPlan,
    plan_replay,
    replayed,
    rest_seconds,
    settle_seconds,
    stagger_seconds,
    window_seconds,
)
from energy_measure.attribution.site_energy import SiteEnergy
from energy_measure.injected.replayer import stagger
from energy_measure.sampling.trace import SampledTrace
from energy_measure.statistics import Interval
from waveform import GPUS, Calls, reading_times, sample_nvml_energy, sample_rapl

LOOP = 50e-9


def ns(seconds: float) -> int:
    return round(seconds * 1e9)


def trace_like(period: float, window: float = 0.0) -> SampledTrace:
    return SampledTrace("cpu", np.arange(3), "energy", np.arange(3.0), period, window)


def site(number: int, seconds: float, low: float) -> SiteEnergy:
    total = Quantity(1.0, 1.0)
    return SiteEnergy(number, 1, seconds, {"cpu": total}, total, total, Interval(low, 2.0), None, 0.0)


def run_windows(length: float, watts: float, device: str, seed: int, idle: float = 30.0) -> Replayed:
    """What the probe would report and the meter would show of a call repeated in windows."""
    rng = np.random.default_rng(seed)
    slow = device == "gpu"
    rest, window = (0.2, 0.3) if slow else (0.05, 0.05)
    times = max(1, int(window / (length + LOOP)))
    now, windows, starts, ends = 0.1, [], [], []
    for _ in range(6):
        windows.append({"site": -1, "begin": ns(now), "end": ns(now + rest)})
        now += rest + min(times, 100_000) * LOOP
        starts.append(now)
        now += times * (length + LOOP)
        ends.append(now)
        report: dict[str, Any] = {"site": 7, "begin": ns(starts[-1]), "end": ns(now), "count": times}
        windows.append({**report, "empty_ns": LOOP * 1e9})
    calls = Calls(np.array(starts), np.array(ends), {device: np.full(6, watts)})
    wave = calls.waveform(device, idle)
    at = reading_times(now + rest, 1e-3, rng=rng)
    if slow:
        trace = sample_nvml_energy(wave, at, rng, model=GPUS["NVIDIA A100-SXM4-40GB"])
    else:
        trace = sample_rapl(wave, at, rng)
    results, problems = replayed(windows, [trace])
    assert problems == {}
    return results[7]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_call_of_three_microseconds_comes_out_with_an_interval(device):
    errors, held = [], []
    for seed in range(40):
        found = run_windows(3e-6, 40.0, device, seed)
        true = 40.0 * 3e-6
        assert found.resolved
        errors.append(abs(found.total.value / true - 1))
        held.append(found.interval.low <= true <= found.interval.high)
        assert found.joules[device] == found.total
    assert np.median(errors) < 0.05
    assert np.mean(held) >= 0.85
    assert found.seconds == pytest.approx(3e-6, rel=1e-3)
    assert found.count > 10_000


def test_the_loop_around_the_calls_is_not_counted():
    """At 50 ns a turn the loop is a third of a 100 ns call."""
    found = run_windows(100e-9, 60.0, "cpu", 0)
    assert found.total.value == pytest.approx(60.0 * 100e-9, rel=0.1)


def test_a_call_that_draws_nothing_stays_unresolved():
    assert np.mean([run_windows(3e-6, 0.0, "cpu", seed).resolved for seed in range(20)]) <= 0.15


def test_only_unresolved_calls_free_of_side_effects_are_replayed():
    sites = [
        site(1, 3e-6, -1.0),
        site(2, 3e-6, 0.5),
        site(3, 3e-6, -1.0),
        site(4, 30.0, -1.0),
        site(5, 0.1, -1),
    ]
    plan = plan_replay(sites, {1, 2, 4, 5}, [trace_like(1e-3)])
    assert plan.sites == {1: 0.05, 5: pytest.approx(0.3)}
    sites_asked_for = {"1": 0.05, "5": pytest.approx(0.3)}
    assert plan.as_request() == {
        "sites": sites_asked_for,
        "windows": 6,
        "rest": 0.05,
        "settle": 0.05,
        "stagger": 0.001,
    }
    assert plan.seconds == pytest.approx(6 * (0.05 + 0.3 + 0.1 + 0.001) + 0.05)
    assert plan_replay(sites, {1}, [trace_like(1e-3)], quick=True).windows == 4


def test_windows_suit_the_slowest_meter():
    meters = [trace_like(1e-3), trace_like(0.1)]
    assert window_seconds(meters) == pytest.approx(0.3)
    assert rest_seconds(meters) == pytest.approx(0.2)
    assert settle_seconds(meters) == pytest.approx(0.2)


def test_a_running_mean_sees_nothing_but_rest_once_forth_and_back_only():
    """Its whole length before each of the short rests would be most of the waiting."""
    meters = [trace_like(0.1, 1.0)]
    assert rest_seconds(meters) == pytest.approx(0.2)
    assert settle_seconds(meters) == pytest.approx(1.2)
    plan = ReplayPlan(dict.fromkeys(range(10), 0.3), 6, rest_seconds(meters), settle_seconds(meters))
    assert plan.seconds == pytest.approx(6 * 10 * 0.3 + (6 * 10 - 3) * 0.2 + 3 * 1.2 + 1.2)


def test_rests_differ_so_that_updates_fall_on_all_parts_of_windows():
    assert stagger_seconds([trace_like(1e-3), trace_like(0.02)]) == 0.02
    assert stagger_seconds([trace_like(0.1, 1.0)]) == 0.0
    parts = np.sort([stagger(number) for number in range(18)])
    assert np.max(np.diff(parts, append=1.0 + parts[0])) < 2 / 18


def windows_of_sites(scatter: list[float], seed: int = 5) -> dict[int, Replayed]:
    """Sites that draw 1 J in each window, give or take so much."""
    rng = np.random.default_rng(seed)
    reports, edges, watts, now = [], [0.0], [10.0], 0.2
    for _ in range(6):
        for number, spread in enumerate(scatter):
            reports.append({"site": -1, "begin": ns(now - 0.1), "end": ns(now)})
            reports.append({"site": number, "begin": ns(now), "end": ns(now + 0.1), "count": 1})
            edges += [now, now + 0.1]
            watts += [10.0 + (1.0 + spread * rng.standard_normal()) / 0.1, 10.0]
            now += 0.2
    at = np.arange(0.0, now, 1e-3)
    power = np.array(watts)[np.searchsorted(edges, at + 5e-4, side="right") - 1]
    joules = np.concatenate(([0.0], np.cumsum(power * 1e-3)))[:-1]
    joules += 1e-4 * rng.standard_normal(len(at))
    trace = SampledTrace("cpu", (at * 1e9).astype(np.int64), "energy", joules, 1e-3)
    return replayed(reports, [trace])[0]


def width(replay: Replayed) -> float:
    return replay.interval.high - replay.interval.low


def test_sites_that_scatter_alike_lend_each_other_degrees_of_freedom():
    alone = windows_of_sites([0.01])[0]
    among = windows_of_sites([0.01] * 6)[0]
    assert width(alone) / alone.total.stderr == pytest.approx(2 * 2.57, rel=0.1)
    assert width(among) / among.total.stderr == pytest.approx(2 * 2.09, rel=0.1)


def test_one_site_that_scatters_wildly_does_not_widen_the_others():
    calm = windows_of_sites([0.01] * 6)
    disturbed = windows_of_sites([0.01] * 5 + [0.5])
    for number in range(5):
        assert width(disturbed[number]) < 1.5 * width(calm[number])
    assert width(disturbed[5]) > 10 * width(calm[5])


def test_calls_that_failed_to_replay_say_why():
    failed = [{"site": 3, "problem": "ValueError: no"}]
    assert replayed(failed, [trace_like(1e-3)]) == ({}, {3: "ValueError: no"})


def test_meters_without_readings_are_a_problem_not_a_crash():
    window = {"site": 3, "begin": 0, "end": 10, "count": 1}
    vanished = SampledTrace("gpu", np.zeros(0, np.int64), "energy", np.zeros(0), 0.1)
    assert replayed([window], [vanished]) == ({}, {3: "the meters gave no readings"})
