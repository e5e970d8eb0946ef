"""Net energy from half-second samples, checked on traces whose energy is known."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from energy_data.published.netting import Series, net_energy

STEP = 0.5


def series(
    call: tuple[float, float], watts: float, *, idle: float = 80.0, noise: float = 0.0, seed: int = 0
) -> Series:
    """A minute of samples with `watts` more than idle during the call, averaged over each sample."""
    generator = random.Random(seed)
    ends = [STEP * number for number in range(1, 121)]
    powers = []
    for end in ends:
        inside = max(0.0, min(end, call[1]) - max(end - STEP, call[0]))
        powers.append(idle + watts * inside / STEP + generator.gauss(0.0, noise))
    return Series(0.0, ends, powers, step=0.02)


def test_a_call_over_whole_samples_gets_exactly_what_stood_above_the_baseline() -> None:
    net = net_energy(series((20.0, 25.0), watts=100.0), 20.0, 25.0)
    assert net is not None
    assert net.joules == pytest.approx(500.0)
    assert net.baseline_watts == pytest.approx(80.0)
    assert net.stderr < 1.0


def test_the_true_energy_lies_within_the_interval_as_often_as_it_says() -> None:
    call = (20.2, 27.9)
    truth = 6.0 * (call[1] - call[0])
    hits, errors = 0, []
    for seed in range(1000):
        net = net_energy(series(call, 6.0, noise=1.5, seed=seed), *call)
        assert net is not None
        hits += abs(net.joules - truth) < 1.96 * net.stderr
        errors.append((net.joules - truth) / truth)
    assert 0.92 <= hits / 1000 <= 0.97
    assert abs(statistics.fmean(errors)) < 0.03  # the edges' share inside is a little low


def test_a_call_much_shorter_than_a_sample_is_not_resolved_but_bounded() -> None:
    """One joule within three milliseconds: the sample shows it, but not when it came."""
    call = (20.1, 20.103)
    net = net_energy(series(call, watts=1 / 0.003), *call)
    assert net is not None
    assert net.joules < 1.96 * net.stderr
    assert net.most >= 1.0


def test_idle_is_not_taken_for_the_call() -> None:
    resolved = 0
    for seed in range(200):
        net = net_energy(series((20.0, 25.0), 0.0, noise=2.0, seed=seed), 20.0, 25.0)
        assert net is not None
        resolved += net.joules > 1.96 * net.stderr
    assert resolved / 200 < 0.06


def test_a_steady_reading_is_known_no_better_than_its_last_digit() -> None:
    net = net_energy(series((20.0, 25.0), 0.0), 20.0, 25.0)
    assert net is not None
    assert net.stderr > 0.02 / math.sqrt(12) * STEP


@pytest.mark.parametrize(("start", "end"), [(-5.0, -1.0), (1.0, 3.0), (55.0, 70.0)])
def test_without_a_baseline_before_or_samples_within_there_is_no_answer(start: float, end: float) -> None:
    assert net_energy(series((20.0, 25.0), 10.0), start, end) is None


def test_what_a_meter_shows_late_still_counts_towards_the_bound() -> None:
    ends = [STEP * number for number in range(1, 121)]
    late = [60.0 if 20.5 < end <= 21.5 else 20.0 for end in ends]
    prompt = net_energy(Series(0.0, ends, late, step=0.01), 20.1, 20.4)
    lagging = net_energy(Series(0.0, ends, late, step=0.01, lag=1.0), 20.1, 20.4)
    assert prompt is not None
    assert lagging is not None
    assert prompt.most < 1.0
    assert lagging.most >= 40.0
