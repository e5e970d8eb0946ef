"""Sampler processes against simulated sensors: every reading is compared with the truth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from energy_measure import meters
from energy_measure.meters import MeterProblem
from energy_measure.sampling.controller import Sampling, suitable_period
from energy_measure.sampling.recording import Recording, read_recording
from energy_measure.sampling.trace import SampledTrace
from scene import Scene, dram, gpu, package, power_event
from waveform import RaplModel, Waveform

EXACT = RaplModel(noise=0.0)
SLACK = 1e-3
"""Seconds by which the time stamp of a reading may miss the moment of the reading."""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Samples a simulated machine for a while."""

    def run(scene: Scene, names: str, seconds: float, period_s: float | None = None) -> Recording:
        for name, value in scene.environment.items():
            monkeypatch.setenv(name, value)
        with Sampling(
            [meters.find(name) for name in names.split("+")], tmp_path, period_s=period_s
        ) as sampling:
            time.sleep(seconds)
            return sampling.stop()

    return run


def assert_true(scene: Scene, trace: SampledTrace, name: str, lag: float, quantum: float) -> None:
    """Each reading lies between the truth now and the truth `lag` seconds ago."""
    wave = next(sensor.wave for sensor in scene.sensors if sensor.name == name)
    at = (trace.times_ns - scene.start_ns) / 1e9
    low = wave.energy(at[0] + SLACK, at - lag - SLACK) - quantum
    high = wave.energy(at[0] - lag - SLACK, at + SLACK) + quantum
    assert np.all(trace.values >= low)
    assert np.all(trace.values <= high)


def test_rapl_readings_are_true_through_wrap_around(machine_with, record):
    wave = Waveform.square(20.0, 120.0, period=0.1, duration=30.0)
    scene = machine_with(
        package(0, wave, EXACT, wrap=7.0), dram(0, Waveform.constant(5.0), EXACT), package(1, wave, EXACT)
    )
    recording = record(scene, "rapl", 1.0)
    traces = {trace.source: trace for trace in recording.sources}
    assert list(traces) == ["package-0", "dram-0", "package-1"]
    for name, trace in traces.items():
        assert_true(scene, trace, name, lag=2 * EXACT.update_period, quantum=2 * EXACT.quantum)
    assert traces["package-0"].values[-1] > 3 * 7.0
    assert [problem for problem in recording.problems if "sampler" not in problem] == []
    both = recording.traces[0]
    assert (both.device, both.source) == ("cpu", "package-0 + package-1")
    assert both.values[-1] == pytest.approx(traces["package-0"].values[-1] + traces["package-1"].values[-1])


def test_perf_readings_are_true(machine_with, record):
    wave = Waveform.square(20.0, 120.0, period=0.1, duration=30.0)
    scene = machine_with(power_event("energy-pkg", 0, wave, EXACT))
    (trace,) = record(scene, "perf", 0.5).sources
    shifted = SampledTrace(
        trace.device, trace.times_ns, trace.kind, trace.values - trace.values[0], trace.update_period_s
    )
    assert_true(scene, shifted, "energy-pkg-0", lag=2 * EXACT.update_period, quantum=2 * EXACT.quantum)


def test_gpu_energy_is_true(machine_with, record):
    wave = Waveform.of((0.0, 50.0), (30.0, 350.0))
    scene = machine_with(gpu("NVIDIA A100-SXM4-40GB", wave, noise=0.0))
    (trace,) = record(scene, "nvml", 0.8, period_s=0.01).traces
    assert (trace.device, trace.kind, trace.update_period_s) == ("gpu", "energy", 0.1)
    assert_true(scene, trace, "GPU 0", lag=0.1, quantum=2e-3)
    assert 5 <= len(trace.changes()) <= 12


def test_gpu_power_is_the_mean_over_its_window(machine_with, record):
    wave = Waveform.of((-10.0, 50.0), (60.0, 750.0))
    scene = machine_with(gpu("NVIDIA GeForce RTX 3090", wave, tells="power", noise=0.0))
    (trace,) = record(scene, "nvml", 0.6, period_s=0.01).traces
    assert (trace.kind, trace.update_period_s, trace.window_s) == ("power", 0.1, 1.0)
    at = (trace.times_ns - scene.start_ns) / 1e9
    # On a ramp the mean over a window is the power at its middle, half a second before the last update.
    assert np.all(trace.values <= wave.power(at - 0.5 + SLACK) + 1e-2)
    assert np.all(trace.values >= wave.power(at - 0.5 - 0.1 - SLACK) - 1e-2)


def test_a_slow_driver_delays_no_other_meter(machine_with, record):
    scene = machine_with(
        package(0, Waveform.constant(30.0)), gpu("NVIDIA H100 PCIe", Waveform.constant(90.0), latency=0.05)
    )
    recording = record(scene, "rapl+nvml", 0.8, period_s=0.01)
    rapl, nvml = recording.health
    assert nvml.missed >= 0.5 * (nvml.missed + nvml.readings)
    assert rapl.readings > 2 * nvml.readings
    (told,) = [problem for problem in recording.problems if "sampler of nvml missed" in problem]
    assert "What was drawn in the gaps is known less well" in told or nvml.counts


def test_a_device_that_vanishes_ends_its_trace_and_is_named(machine_with, tmp_path, monkeypatch):
    wave, unplugged = Waveform.constant(30.0), tmp_path / "unplugged"
    scene = machine_with(package(0, wave), package(1, wave).failing(when=unplugged))
    for name, value in scene.environment.items():
        monkeypatch.setenv(name, value)
    with Sampling([meters.find("rapl")], tmp_path) as sampling:
        until(lambda: min(lengths(sampling), default=0) > 0)
        unplugged.touch()
        until(lambda: lengths(sampling)[0] > lengths(sampling)[1])
        recording = sampling.stop()
    first, second = recording.sources
    assert 0 < len(second) < len(first)
    assert recording.traces[0].times_ns[-1] == second.times_ns[-1]
    assert "package-1 stopped answering: No such device; its energy is unknown since." in recording.problems


def test_the_estimate_follows_a_process_given_later(tmp_path):
    with Sampling(meters.choose("cpu-time"), tmp_path) as sampling:
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            sampling.follow(busy.pid)
            followed = cpu_time(busy.pid)
            until(lambda: cpu_time(busy.pid) > followed + 0.1)
            recording = sampling.stop()
            used = cpu_time(busy.pid)
        finally:
            busy.kill()
            busy.wait()
    (trace,) = recording.traces
    assert trace.estimated
    assert recording.estimated
    # The two clocks may differ by what has not been added up yet of the time slice under way.
    assert 0 < trace.values[-1] / meters.PowerModel().active_watts <= used + 0.1
    assert np.all(np.diff(trace.values) >= 0)


def test_the_estimate_is_coarser_where_perf_events_are_closed(machine_with, tmp_path, monkeypatch):
    for name, value in machine_with(perf_closed=True).environment.items():
        monkeypatch.setenv(name, value)
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])"
    started = time.monotonic()
    busy = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        with Sampling([meters.find("cpu-time")], tmp_path, pid=busy.pid) as sampling:
            until(lambda: any(np.any(trace.values > 0) for trace in sampling.recording().traces))
            (trace,) = sampling.stop().traces
    finally:
        os.killpg(busy.pid, signal.SIGKILL)
        busy.wait()
    assert trace.update_period_s == time.clock_getres(6)
    # Two processes cannot use more than twice the time that passed.
    assert 0 < trace.values[-1] / meters.PowerModel().active_watts <= 2 * (time.monotonic() - started)
    assert np.all(np.diff(trace.values) >= 0)


def test_a_killed_sampler_leaves_what_it_read(tmp_path):
    with Sampling(meters.choose("cpu-time"), tmp_path, period_s=0.001, pid=os.getpid()) as sampling:
        until(lambda: min(lengths(sampling), default=0) > 1)
        seen = len(sampling.recording().traces[0])
        os.kill(sampler_pid(), signal.SIGKILL)
        recording = sampling.stop()
    assert seen <= len(recording.traces[0])
    assert "The sampler of cpu-time ended early: signal 9" in recording.problems


def test_a_record_cut_short_is_left_out(tmp_path):
    with Sampling(meters.choose("cpu-time"), tmp_path, pid=os.getpid()) as sampling:
        time.sleep(0.05)
        whole = sampling.stop()
    file = tmp_path / "cpu-time.trace"
    file.write_bytes(file.read_bytes()[:-5])
    assert records(read_recording([file])) == records(whole) - 1


def test_a_file_that_is_no_trace_is_refused(tmp_path):
    file = tmp_path / "x.trace"
    file.write_bytes(b"something else")
    with pytest.raises(MeterProblem, match="not a file of a sampler"):
        read_recording([file])


def test_a_sampler_held_up_tells_its_gaps(tmp_path):
    with Sampling(meters.choose("cpu-time"), tmp_path, period_s=0.005, pid=os.getpid()) as sampling:
        time.sleep(0.1)
        os.kill(sampler_pid(), signal.SIGSTOP)
        time.sleep(0.4)
        os.kill(sampler_pid(), signal.SIGCONT)
        time.sleep(0.1)
        recording = sampling.stop()
    (health,) = recording.health
    assert health.longest_gap_s >= 0.39
    assert health.missed >= 70
    assert recording.problems == (health.warning,)
    assert "too busy. The meter went on counting, so no energy is lost" in health.warning


def test_health_tells_jitter_and_cost(tmp_path):
    with Sampling(meters.choose("cpu-time"), tmp_path, period_s=0.002, pid=os.getpid()) as sampling:
        time.sleep(0.3)
        recording = sampling.stop()
    (health,) = recording.health
    assert health.period_s == 0.002
    assert health.readings + health.missed + health.uncertain >= 0.3 / 0.002 - 1
    assert health.jitter_s > 0
    assert 0 < health.cpu_share < 1
    assert health.latest_s > 0


@pytest.mark.parametrize("period_s", [0.0009, 0.6, 0.0])
def test_a_period_out_of_range_is_refused(tmp_path, period_s):
    with pytest.raises(MeterProblem, match="take 1 to 500 ms"):
        Sampling(meters.choose("cpu-time"), tmp_path, period_s=period_s)


def test_the_slowest_period_ends_with_a_reading(tmp_path):
    with Sampling(meters.choose("cpu-time"), tmp_path, period_s=0.5, pid=os.getpid()) as sampling:
        asked = time.monotonic_ns()
        recording = sampling.stop()
    times = recording.traces[0].times_ns
    assert times[0] < asked <= times[-1]


def test_a_meter_that_does_not_open_gives_its_reason(machine_with, record):
    scene = machine_with(package(0, Waveform.constant(1.0)).denied())
    with pytest.raises(MeterProblem, match="energy_uj may be read by root alone"):
        record(scene, "rapl", 0.1)


def test_a_full_disk_ends_the_sampler_with_a_reason(tmp_path):
    (tmp_path / "cpu-time.trace").symlink_to("/dev/full")
    sampling = Sampling(meters.choose("cpu-time"), tmp_path)
    with pytest.raises(MeterProblem, match=r"ended early: .*No space left"):
        sampling.start()
    assert sampler_pids() == []


def test_no_sampler_survives_its_parent(tmp_path):
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom energy_measure import meters\n"
        "from energy_measure.sampling.controller import Sampling\n"
        f"Sampling(meters.choose('cpu-time'), Path({str(tmp_path)!r}), period_s=0.5).start()\n"
        "print('sampling', flush=True)\ntime.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "sampling\n"
    (sampler,) = children(parent.pid)
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{sampler}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{sampler}").exists()


def test_ctrl_c_is_left_to_the_parent(tmp_path):
    with Sampling(meters.choose("cpu-time"), tmp_path, pid=os.getpid()) as sampling:
        os.kill(sampler_pid(), signal.SIGINT)
        time.sleep(0.1)
        recording = sampling.stop()
    assert recording.problems == () or "too busy" in recording.problems[0]


def test_the_sampler_imports_nothing_heavy():
    code = "import sys, json, energy_measure.sampling.sampler\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "pynvml", "click", "tensorflow"} & set(json.loads(done.stdout))


def until(reached: Callable[[], object]) -> None:
    """Wait for something that is sure to come, however busy the machine is."""
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def records(recording: Recording) -> int:
    """Readings of a sampler, also those that were interrupted."""
    (health,) = recording.health
    return health.readings + health.uncertain


def lengths(sampling: Sampling) -> list[int]:
    """Readings of each source so far."""
    return [len(source) for source in sampling.recording().sources]


def cpu_time(pid: int) -> float:
    return time.clock_gettime((~pid << 3) | 2)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def sampler_pids() -> list[int]:
    """Sampler processes of this test process."""
    found = []
    for child in children(os.getpid()):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"energy_measure.sampling.sampler" in command:
            found.append(child)
    return found


def sampler_pid() -> int:
    (pid,) = sampler_pids()
    return pid


@pytest.mark.parametrize(
    ("name", "cpus", "milliseconds"),
    [("cpu-time", 1, 20), ("cpu-time", 2, 10), ("cpu-time", 16, 5), ("rapl", 4, 5), ("rapl", 64, 1)],
)
def test_few_cpus_are_read_less_often(monkeypatch, name, cpus, milliseconds):
    monkeypatch.setattr(os, "cpu_count", lambda: cpus)
    assert suitable_period(meters.find(name), closely=True) == pytest.approx(milliseconds / 1e3)


def test_a_program_that_marks_its_cpu_time_is_read_less_often_from_afar(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert suitable_period(meters.find("cpu-time"), closely=False) == pytest.approx(0.04)
    assert suitable_period(meters.find("rapl"), closely=False) == pytest.approx(0.001)
