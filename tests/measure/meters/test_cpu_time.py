"""The estimate from CPU time, on real processes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from energy_measure.meters import MeterProblem, PowerModel, Roots
from energy_measure.meters.cpu_time import (
    ACTIVE_WATTS,
    CpuTimeMeter,
    TaskClock,
    TickClock,
    process_time,
    task_clock_works,
    tree,
)

needs_perf_events = pytest.mark.skipif(not task_clock_works(), reason="this system refuses perf events")
SPIN = "import time\nwhile time.process_time() < {seconds}: pass\n"


@pytest.fixture
def start() -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a program that waits for a line before it runs, and always ends it."""
    started: list[subprocess.Popen[str]] = []

    def run(code: str) -> subprocess.Popen[str]:
        waiting = "import sys\nprint('waiting', flush=True)\nsys.stdin.readline()\n"
        process = subprocess.Popen(
            [sys.executable, "-c", waiting + code + "\nprint('done', flush=True)\nsys.stdin.readline()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def go(
    process: subprocess.Popen[str], read: Callable[[], object] = lambda: None, *, end: bool = True
) -> None:
    """Let it run, and wait for it, reading a meter all the time as the sampler does."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    while not select.select([process.stdout], [], [], 0.005)[0]:
        read()
    assert process.stdout.readline() == "done\n"
    if end:
        read()
        process.stdin.write("end\n")
        process.stdin.flush()
        process.wait()


def cpu_seconds(meter: CpuTimeMeter) -> float:
    return sum(meter.read()) / meter.model.active_watts


@pytest.fixture(params=["from afar", pytest.param("closely", marks=needs_perf_events)])
def meter(request) -> Iterator[CpuTimeMeter]:
    """Both ways to look at a program."""
    made = CpuTimeMeter()
    made.closely = request.param == "closely"
    with made:
        yield made


def test_a_busy_process_and_its_end(start, meter):
    process = start(SPIN.format(seconds=0.4))
    before = process_time(process.pid) * 1e-9
    meter.follow(process.pid)
    assert cpu_seconds(meter) < 0.05
    go(process, meter.read)
    # Ending the interpreter takes a little CPU time too.
    assert 0.4 - before - 0.01 <= cpu_seconds(meter) <= 0.4 - before + 0.2


def test_an_idle_process_costs_nothing(start, meter):
    process = start("time = __import__('time')\ntime.sleep(0.3)")
    meter.follow(process.pid)
    go(process, meter.read, end=False)
    assert cpu_seconds(meter) < 0.05


def test_threads_and_children_count_also_when_they_have_ended(start, meter):
    spin = "import time\nlimit = time.thread_time() + 0.2\nwhile time.thread_time() < limit: pass\n"
    process = start(
        f"import subprocess, threading\nspin = {spin!r}\n"
        "thread = threading.Thread(target=exec, args=(spin, {}))\nthread.start()\nthread.join()\n"
        "for _ in range(3): subprocess.run([sys.executable, '-c', spin], check=True)"
    )
    meter.follow(process.pid)
    go(process, meter.read, end=False)
    # One thread and three children of 0.2 s each, and what starting three interpreters takes, on a busy machine long.
    assert 0.8 - 0.02 <= cpu_seconds(meter) <= 0.8 + 3 * 1.5


def test_processes_that_nobody_saw_count_as_soon_as_they_were_waited_for(start):
    process = start(
        "import subprocess\n"
        "for _ in range(8): subprocess.run([sys.executable, '-S', '-c', 'sum(range(2_000_000))'], check=True)"
    )
    with CpuTimeMeter() as meter:
        meter.follow(process.pid)
        go(process, end=False)  # nobody reads while they run
        started = meter.read()[1] / meter.model.active_watts
    assert started > 8 * 0.01


def test_what_a_program_starts_is_told_apart(start):
    process = start(
        f"import subprocess\nsubprocess.run([sys.executable, '-c', {SPIN.format(seconds=0.4)!r}], check=True)"
    )
    with CpuTimeMeter() as meter:
        meter.follow(process.pid)
        go(process, meter.read, end=False)
        own, started = (joules / meter.model.active_watts for joules in meter.read())
        assert [source.name for source in meter.sources] == ["program", "processes it started"]
        assert own < 0.2
        assert started > 0.3


def test_a_tree_that_runs_already_is_followed_as_a_whole(start, meter):
    process = start(
        "import subprocess, threading\nresult = []\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import sys, time; sys.stdin.read();"
        'exec("while time.process_time() < 0.4: pass")\'], stdin=subprocess.PIPE)\n'
        "ready = threading.Event()\nthread = threading.Thread(target=lambda: (ready.wait(),"
        " exec('import time\\nlimit = time.thread_time() + 0.2\\nwhile time.thread_time() < limit: pass')))\n"
        "thread.start()\nprint('done', flush=True)\nsys.stdin.readline()\n"
        "ready.set()\nchild.communicate()\nthread.join()"
    )
    go(process, end=False)
    assert len(list(tree(process.pid, Roots()))) == 2
    meter.follow(process.pid)
    go(process, meter.read, end=False)
    assert cpu_seconds(meter) >= 0.2 + 0.2 - 0.05


def test_following_another_process_keeps_what_was_counted(start, meter):
    first, second = start(SPIN.format(seconds=0.2)), start(SPIN.format(seconds=0.2))
    meter.follow(first.pid)
    go(first, meter.read)
    counted = cpu_seconds(meter)
    meter.follow(second.pid)
    assert cpu_seconds(meter) == pytest.approx(counted, abs=0.01)
    go(second, meter.read)
    assert cpu_seconds(meter) > counted + 0.1


@needs_perf_events
def test_the_coarse_clock_agrees_with_the_fine_one(start):
    process = start(SPIN.format(seconds=0.4) + "import os\nos.times()")
    fine, coarse = TaskClock(process.pid, Roots()), TickClock(process.pid, Roots())
    go(process, end=False)
    # The process waits now, and with that both clocks are exact.
    assert sum(coarse.read()) == pytest.approx(sum(fine.read()), abs=20e6)
    fine.close()
    coarse.close()


def test_the_coarse_clock_finds_children(start):
    process = start(
        "import subprocess\nchild = subprocess.Popen([sys.executable, '-c', "
        f"{(SPIN.format(seconds=0.3) + 'time.sleep(30)')!r}])\nimport time\ntime.sleep(0.2)\n"
        "while time.clock_gettime((~child.pid << 3) | 2) < 0.3: time.sleep(0.01)"
    )
    clock = TickClock(process.pid, Roots())
    try:
        go(process, end=False)
        assert clock.read()[1] >= 0.29e9
    finally:
        clock.close()
        child = list(tree(process.pid, Roots()))[-1]
        assert child != process.pid
        os.kill(child, 9)


def test_a_process_that_is_not_there_is_told():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with CpuTimeMeter() as meter:
        meter.follow(gone.pid)
        assert sum(meter.read()) == 0.0
        assert meter.problems == [f"Process {gone.pid} is not there; nothing is counted."]


def test_it_is_marked_as_an_estimate_and_reads_the_cpu_alone():
    with CpuTimeMeter() as meter:
        assert meter.info.estimated
        assert meter.info.devices == ("cpu",)
    assert CpuTimeMeter.availability(Roots()).estimated


INTEL = "processor : 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Xeon\nstepping\t: {}\n"


@pytest.mark.parametrize(
    ("cpuinfo", "watts", "source"),
    [
        (INTEL.format(4), 3.55, "Intel Skylake"),
        (INTEL.format(7), 3.33, "Intel Cascade Lake"),
        (
            INTEL.format(11),
            ACTIVE_WATTS,
            "the mean of server processors",
        ),  # Cooper Lake: nothing is published
        (
            "vendor_id : AuthenticAMD\ncpu family : 23\nmodel : 49\nstepping : 0\n",
            1.22,
            "AMD EPYC, 2nd generation",
        ),
        ("CPU implementer : 0x41\n", ACTIVE_WATTS, "the mean of server processors"),
    ],
)
def test_watts_are_those_published_of_the_processor(tmp_path, monkeypatch, cpuinfo, watts, source):
    monkeypatch.delenv("ENERGY_LSP_ACTIVE_WATTS", raising=False)
    (tmp_path / "cpuinfo").write_text(cpuinfo)
    model = PowerModel.from_environment(Roots(procfs=tmp_path))
    assert model.active_watts == watts
    assert model.source.startswith(source)
    assert "not of this machine" in model.source


def test_the_power_model_can_be_set(monkeypatch):
    monkeypatch.setenv("ENERGY_LSP_ACTIVE_WATTS", "7.5")
    assert CpuTimeMeter().model.active_watts == 7.5
    assert "7.5 W" in CpuTimeMeter.availability(Roots()).reason


@pytest.mark.parametrize("text", ["much", "-3", "0", "1e9", "nan"])
def test_a_power_model_that_makes_no_sense_is_refused(monkeypatch, text):
    monkeypatch.setenv("ENERGY_LSP_ACTIVE_WATTS", text)
    with pytest.raises(MeterProblem, match="ENERGY_LSP_ACTIVE_WATTS"):
        PowerModel.from_environment()
    assert not CpuTimeMeter.availability(Roots()).usable
