"""Waiting for a steady machine, and not for ever."""

from __future__ import annotations

import numpy as np

from energy_measure.machine.stability import Look, StabilityLimits, check, wait_until_stable
from energy_measure.sampling.trace import SampledTrace
from waveform import GPUS, Waveform, reading_times, sample_nvml_energy, sample_rapl


def rapl(wave: Waveform, seconds: float) -> SampledTrace:
    rng = np.random.default_rng(0)
    return sample_rapl(wave, reading_times(seconds, 1e-3, rng=rng), rng)


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_an_idle_machine_is_steady_within_seconds():
    clock = Clock()
    found = wait_until_stable(
        lambda: Look([rapl(Waveform.constant(30.0), clock.now + 0.1)]),
        sleep=clock.sleep,
        clock=lambda: clock.now,
    )
    assert found.stable
    assert found.variation["cpu"] < 0.03
    assert found.waited <= 3.0


def test_a_steady_gpu_is_steady_in_spite_of_its_slow_counter():
    rng = np.random.default_rng(0)
    model = GPUS["NVIDIA A100-SXM4-40GB"]
    trace = sample_nvml_energy(Waveform.constant(55.0), reading_times(6.0, 1e-3, rng=rng), rng, model=model)
    assert check(Look([trace])).stable


def test_a_busy_machine_is_measured_all_the_same_and_marked():
    busy = Waveform.square(20.0, 60.0, period=0.7, duration=200.0)
    clock = Clock()
    limits = StabilityLimits(wait_seconds=20.0)
    found = wait_until_stable(
        lambda: Look([rapl(busy, clock.now + 0.1)]), limits, sleep=clock.sleep, clock=lambda: clock.now
    )
    assert not found.stable
    assert found.waited == 20.0
    assert found.reasons[0].startswith("cpu power varies by")


def test_it_waits_until_a_disturbance_is_over():
    wave = Waveform.of((0.0, 80.0), (4.0, 30.0), (4.0, 30.0))
    clock = Clock()
    found = wait_until_stable(
        lambda: Look([rapl(wave, clock.now + 0.1)]), sleep=clock.sleep, clock=lambda: clock.now
    )
    assert found.stable
    assert 4.0 < found.waited < 9.0


def test_warm_processors_speak_against_it():
    found = check(Look([rapl(Waveform.constant(30.0), 3.0)], {"cpu": 88.0, "gpu": 40.0}))
    assert found.reasons == ("cpu at 88 °C (limit 70 °C)",)


def test_too_short_a_trace_cannot_tell():
    assert check(Look([rapl(Waveform.constant(30.0), 0.2)])).reasons == ("cpu: too few readings to tell",)
