"""CpuCheckpoints that a program makes of its own CPU time, among the readings of a sampler."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from energy_measure.attribution.baseline import no_baseline
from energy_measure.attribution.cpu_checkpoints import CpuCheckpoints, with_checkpoints
from energy_measure.attribution.events import Events
from energy_measure.attribution.site_energy import site_energies
from energy_measure.attribution.solver import attribute
from energy_measure.injected import probe
from energy_measure.injected.probe import recorder as recording
from energy_measure.sampling.trace import SampledTrace

WATTS = 2.0
PER_NS = WATTS * 1e-9
TICK = 0.004
MS = 1_000_000


def trace(times_ms, cpu_ms) -> SampledTrace:
    times = np.array(times_ms, dtype=np.float64) * MS
    joules = np.array(cpu_ms, dtype=np.float64) * 1e-3 * WATTS
    return SampledTrace("cpu", times.astype(np.int64), "energy", joules, TICK, estimated=True)


def marks(*pairs) -> CpuCheckpoints:
    times, cpu = (np.array([pair[i] * MS for pair in pairs], dtype=np.int64) for i in (0, 1))
    return CpuCheckpoints(times, cpu)


def attributed(own: SampledTrace, others: SampledTrace, made: CpuCheckpoints, events: Events):
    whole = with_checkpoints([own, others], made, events, PER_NS)
    bounds = int(own.times_ns[0]), int(own.times_ns[-1])
    return whole, attribute(whole, events, no_baseline(int(whole.times_ns[0])), bounds)


def test_calls_far_shorter_than_a_reading_get_what_their_marks_say():
    # One thread that alternates between a call that computes for 1 ms and one that sleeps for 1 ms: the sampler sees
    # every 10 ms the same mixture, and its readings are late.
    starts = np.arange(0, 200, 2)
    busy = [(start + 1, start + 2) for start in starts]
    events = Events.of([0, 1] * 100, *np.array([[s * MS, (s + 1) * MS] for s in range(200)]).T.tolist())
    at = np.arange(-10, 220, 10)
    late = [min(max(t - 3, 0) / 2, 100) for t in at]
    made = marks(*[(t, sum(max(0, min(t, e) - s) for s, e in busy)) for t in range(201)])
    _, found = attributed(trace(at, late), trace(at, [0] * len(at)), made, events)
    assert found.joules[::2] == pytest.approx(np.zeros(100), abs=1e-9)
    assert found.joules[1::2] == pytest.approx(np.full(100, 1e-3 * WATTS), rel=1e-6)
    assert found.program_joules == pytest.approx(0.1 * WATTS, rel=0.03)


def test_what_other_processes_used_is_added_between_the_readings():
    at = [0, 10, 20, 30]
    events = Events.of([0], [10 * MS], [20 * MS])
    made = marks((10, 10), (20, 20))
    _, found = attributed(trace(at, at), trace(at, [0, 5, 10, 15]), made, events)
    assert found.joules[0] == pytest.approx(15e-3 * WATTS)


def test_a_mark_after_which_threads_caught_up_is_not_taken_for_exact():
    # 8 ms of CPU time within half a millisecond: threads that had run for long before were counted only now.
    at = [0, 10, 20, 30]
    quiet = marks((12, 12), (12.5, 12.5))
    jump = marks((12, 12), (12.5, 20))
    events = Events.of([0], [12 * MS], [int(12.5 * MS)])
    errors = [
        attributed(trace(at, [0, 10, 28, 38]), trace(at, [0] * 4), made, events)[1].stderr[0]
        for made in (quiet, jump)
    ]
    assert errors[0] < 0.5e-3 * WATTS
    assert errors[1] > 3e-3 * WATTS


def test_readings_that_say_nothing_new_are_left_out_and_others_kept():
    at = list(range(0, 100, 10))
    made = marks((5, 5), (65, 65))
    alone = Events.of([0], [5 * MS], [65 * MS])
    both = Events.of([0, 1], [5 * MS, 25 * MS], [65 * MS, 26 * MS])
    kept = [
        with_checkpoints([trace(at, at), trace(at, [0] * 10)], made, e, PER_NS).times_ns
        for e in (alone, both)
    ]
    assert (kept[0] / MS).tolist() == [0, 5, 65, 70, 80, 90]
    assert len(kept[1]) == 12


def test_marks_of_one_process_are_read_in_order_of_time(tmp_path: Path):
    recorder = probe.Recorder(str(tmp_path), 2, marking=True)
    recorder.enter_thread()
    thread = recorder.local.thread
    recorder.write(0, 10, 20, 0, thread.index)
    recorder.write(1, 30, 40, 0, thread.index)
    thread.mark(30, 1030, 530)
    thread.mark(40, 1040, 540)
    recorder.flush()
    thread.mark(10, 1010, 510)
    thread.mark(20, 1020, 520)
    recorder.finish()
    found = CpuCheckpoints.read(tmp_path, recorder.process, 1000)
    assert found.times_ns.tolist() == [10, 20, 30, 40]
    assert found.cpu_ns.tolist() == [10, 20, 30, 40]
    events = Events.read(tmp_path)
    assert events.site.tolist() == [0, 1]
    assert found.hold(events).all()
    assert len(CpuCheckpoints.read(tmp_path, recorder.process + 1, 0)) == 0


def test_only_calls_long_enough_are_marked_and_after_very_many_marks_only_long_ones(monkeypatch, tmp_path):
    now = iter(range(10**12))
    moment = 0
    monkeypatch.setattr(recording, "EXACT", 14)

    def clock() -> int:
        nonlocal moment
        moment += 1
        return moment

    def work(nanoseconds: int) -> None:
        nonlocal moment
        moment += nanoseconds

    monkeypatch.setattr(recording, "clock", clock)
    monkeypatch.setattr(recording, "cpu_clock", lambda: 1 + next(now))
    recorder = probe.Recorder(str(tmp_path), 2, marking=True)
    call = probe.make_probe(recorder)

    def marked(site: int, *lengths: int) -> int:
        for length in lengths:
            call(site, work, length)
        recorder.flush()
        return len(CpuCheckpoints.read(tmp_path, recorder.process, 0))

    # The first call of a site always is, and after one that was long enough as many as its time pays for.
    assert marked(0, 1000, 1000, 1000) == 2
    assert marked(1, recording.MARKED_NS) == 4
    assert marked(1, *[1000] * 10) == 4 + 2 * recording.MARKED_NS // recording.PER_MARK_NS
    assert marked(1, recording.MARKED_NS, recording.MARKED_NS) == 14
    assert marked(1, recording.MARKED_NS_OF_MANY, 1000) == 16


def test_without_marking_the_clock_of_the_process_is_never_looked_at(monkeypatch, tmp_path):
    monkeypatch.setattr(recording, "cpu_clock", lambda: pytest.fail("it was"))
    recorder = probe.Recorder(str(tmp_path), 1)
    assert probe.make_probe(recorder)(0, abs, -3) == 3
    recorder.finish()
    assert len(CpuCheckpoints.read(tmp_path, recorder.process, 0)) == 0


def test_calls_of_two_threads_at_once_are_not_taken_for_known_each():
    # A call of 5 ms, and in the middle of each one of 1 ms on another thread; what they use together varies.
    rng = np.random.default_rng(1)
    starts = 10 + 6 * np.arange(60)
    ends = np.sort(np.concatenate((starts, starts + 2, starts + 3, starts + 5)))
    used = np.tile([1.0, 0.0, 1.0, 0.5], 60)
    used[1::4] = rng.uniform(0.5, 0.9, 60)
    cpu = 10 + np.concatenate(([0.0], np.cumsum(used[:-1])))
    made = marks(*zip(ends, cpu, strict=True))
    both = np.stack((starts, starts + 2)).T.ravel() * MS, np.stack((starts + 5, starts + 3)).T.ravel() * MS
    events = Events.of([0, 1] * 60, *(part.tolist() for part in both), thread=[0, 1] * 60)
    at = np.arange(0, 400, 10)
    own = trace(at, np.interp(at, ends, cpu))
    _, found = attributed(own, trace(at, [0] * len(at)), made, events)
    energies = site_energies(events, [found])
    assert energies[1].total.value == pytest.approx((np.mean(used[1::4]) - 0.5) * 1e-3 * WATTS, rel=0.3)
    assert energies[1].total.stderr > 0.02e-3 * WATTS
