"""From simulated hardware through meters, samplers and attribution to joules, against the clock."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from energy_measure import meters
from energy_measure.attribution.baseline import IdleWindow, baseline_of
from energy_measure.attribution.events import Events
from energy_measure.attribution.observations import observe
from energy_measure.attribution.solver import attribute
from energy_measure.run.account import WATTS_PER_GPU, most_watts, thread_watts
from energy_measure.sampling.controller import Sampling
from scene import dram, gpu, package, power_event
from waveform import Calls, Waveform

PULSES = np.arange(120.0)
"""One call every second for two minutes: whenever the samplers are ready, some lie ahead."""
STARTS, ENDS = PULSES + 0.5, PULSES + 0.8
WATTS = {"cpu": 60.0, "ram": 6.0, "gpu": 150.0}
IDLE = {"cpu": 25.0, "ram": 3.0, "gpu": 55.0}


def wave(device):
    calls = Calls(STARTS, ENDS, {device: np.full(len(PULSES), WATTS[device])})
    return calls.waveform(device, IDLE[device])


def record(scene, names, folder, monkeypatch, seconds=2.7):
    """Samples, and what happened meanwhile: calls that are wholly inside, and the rests between them."""
    for name, value in scene.environment.items():
        monkeypatch.setenv(name, value)
    with Sampling([meters.find(name) for name in names.split("+")], folder, pid=os.getpid()) as sampling:
        time.sleep(seconds)
        recording = sampling.stop()
    begin = max(int(trace.times_ns[0]) for trace in recording.sources) - scene.start_ns
    finish = min(int(trace.times_ns[-1]) for trace in recording.sources) - scene.start_ns
    inside = (begin / 1e9 < STARTS - 0.4) & (finish / 1e9 > ENDS + 0.4)
    at = [(scene.start_ns + np.round(edge[inside] * 1e9)).astype(np.int64) for edge in (STARTS, ENDS)]
    events = Events.of(np.zeros(inside.sum(), np.int64), *at)
    rests = [IdleWindow(int(end) + 100_000_000, int(end) + 400_000_000) for end in at[1]]
    rests.insert(0, IdleWindow(int(at[0][0]) - 400_000_000, int(at[0][0]) - 50_000_000))
    return recording, events, rests


@pytest.mark.parametrize(
    ("names", "tells", "model"),
    [
        ("rapl+nvml", "energy", "NVIDIA A100-SXM4-40GB"),
        ("perf+nvml", "power", "NVIDIA GeForce GTX 1080 Ti"),
    ],
)
def test_calls_come_out_as_scripted(machine_with, tmp_path, monkeypatch, names, tells, model):
    scene = machine_with(
        package(0, wave("cpu"), wrap=40.0),
        dram(0, wave("ram")),
        power_event("energy-pkg", 0, wave("cpu")),
        power_event("energy-ram", 0, wave("ram")),
        gpu(model, wave("gpu"), tells=tells),
    )
    recording, events, rests = record(scene, names, tmp_path, monkeypatch)
    assert {trace.device for trace in recording.traces} == {"cpu", "ram", "gpu"}
    assert len(events) >= 1
    for trace in recording.traces:
        found = attribute(trace, events, baseline_of(observe(trace), rests))
        truth = WATTS[trace.device] * 0.3
        assert np.all(np.abs(found.joules - truth) <= 5 * found.stderr), (trace.source, found)
        assert np.all(found.stderr < 0.25 * truth), (trace.source, found)


def test_no_call_gets_more_of_a_gpu_than_its_driver_lets_it_draw(machine_with, tmp_path, monkeypatch):
    """A GPU that draws 150 W above idle, and says that 90 W are its limit: the rest is not the calls'."""
    limit = 90.0
    scene = machine_with(gpu("NVIDIA A100-SXM4-40GB", wave("gpu"), limit=limit))
    recording, events, rests = record(scene, "nvml", tmp_path, monkeypatch)
    (trace,) = recording.traces
    assert most_watts(trace) == thread_watts([trace]) == limit, "Python between calls has no more either"
    baseline = baseline_of(observe(trace), rests)
    free, bound = (attribute(trace, events, baseline, most_watts=most) for most in (None, most_watts(trace)))
    assert np.all(free.joules > limit * 0.3)
    assert np.all(bound.joules <= limit * 0.3 + 1e-9)
    assert bound.program_joules == pytest.approx(free.program_joules), "nothing is lost"
    assert bound.outside_joules == pytest.approx(bound.program_joules - bound.joules.sum())


def test_a_gpu_that_tells_no_limit_has_that_of_the_largest(machine_with, tmp_path, monkeypatch):
    scene = machine_with(gpu("NVIDIA A100-SXM4-40GB", wave("gpu")))
    recording, _, _ = record(scene, "nvml", tmp_path, monkeypatch)
    assert most_watts(recording.traces[0]) == WATTS_PER_GPU


REAL_WORK = """
import time
from pathlib import Path
from energy_measure import meters
from energy_measure.attribution.solver import attribute
from energy_measure.attribution.baseline import IdleWindow, baseline_of
from energy_measure.attribution.events import Events
from energy_measure.attribution.observations import observe
from energy_measure.sampling.controller import Sampling

starts, ends, cpu, rests = [], [], [], []

def rest():
    start = time.monotonic_ns()
    time.sleep(0.3)
    rests.append(IdleWindow(start + 20_000_000, time.monotonic_ns()))

with Sampling([meters.find("rapl")], Path("FOLDER")) as sampling:
    rest()
    for _ in range(4):
        before = time.process_time()
        starts.append(time.monotonic_ns())
        while time.process_time() - before < 0.15:
            pass
        ends.append(time.monotonic_ns())
        cpu.append(time.process_time() - before)
        rest()
    (trace,) = sampling.stop().traces
found = attribute(trace, Events.of([0] * len(starts), starts, ends), baseline_of(observe(trace), rests))
answer = {"joules": found.joules.tolist(), "stderr": found.stderr.tolist(), "cpu": cpu}
"""


def test_real_work_comes_out_as_what_it_drew(machine_with, ask_inside, tmp_path):
    scene = machine_with(package(0, Waveform.constant(10.0)).answering_work(20.0))
    found = ask_inside(scene, REAL_WORK.replace("FOLDER", str(tmp_path)))
    truth = 20.0 * np.array(found["cpu"])
    # The simulated sensor sees CPU time of others at the kernel's ticks, of which two ends may each miss one.
    tick = 2 * 20.0 * time.clock_getres(6)
    assert np.all(np.abs(np.array(found["joules"]) - truth) <= 5 * np.array(found["stderr"]) + tick), found
