"""`energy-lsp doctor`, run as people run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from energy_measure.machine.describe import Load
from energy_measure.machine.doctor import diagnose, doubts_about, report
from energy_measure.meters import Availability, Roots
from scene import dram, gpu, package, power_event
from waveform import Waveform

WAVE = Waveform.constant(15.0)
COMMAND = [sys.executable, "-c", "from energy_lsp.cli import main; main()", "doctor"]


def doctor(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_a_closed_machine_shows_what_is_closed_and_the_command_on_its_own_line(machine_with):
    scene = machine_with(
        package(0, WAVE).denied(),
        power_event("energy-pkg", 0, WAVE),
        gpu("NVIDIA H100 PCIe", WAVE),
        perf_denied=True,
    )
    lines = doctor(scene.environment).splitlines()
    text = "\n".join(lines)
    assert "no  rapl      energy_uj may be read by root alone" in text
    assert any(line.strip().startswith("echo 'SUBSYSTEM") and "udevadm trigger" in line for line in lines)
    assert "      sudo sysctl -w kernel.perf_event_paranoid=0" in lines
    assert "GPU 0: NVIDIA H100 PCIe (energy)  ← used by --meter auto" in text
    assert "estimate: 2.76 W for each busy CPU  ← used by --meter auto" in text
    assert "GPU 0 41 °C" in text
    assert lines[-1].startswith(
        "A measurement here would not be trusted: no sensor of the processor can be read"
    )


def test_json_has_the_same_and_nothing_else_on_stdout(machine_with):
    scene = machine_with(package(0, WAVE), dram(0, WAVE).denied())
    told = json.loads(doctor(scene.environment, "--format", "json"))
    assert told["chosen"] == ["rapl"]
    rapl, perf, nvml, estimate = told["meters"]
    assert (rapl["usable"], rapl["devices"], rapl["estimated"]) == (True, ["cpu"], False)
    assert rapl["resolution_seconds"] == 0.001
    assert rapl["notes"] == ["dram-0 cannot be read: Permission denied"]
    assert "udev" in rapl["command"]
    assert (perf["usable"], nvml["usable"], nvml["command"]) == (False, False, None)
    assert (estimate["name"], estimate["estimated"]) == ("cpu-time", True)
    assert set(told["load"]) == {"one_minute", "cpus", "busy"}
    assert isinstance(told["trusted"], bool)
    assert told["verdict"].endswith(".")


def test_closed_perf_events_make_the_estimate_coarser_and_name_the_setting(machine_with):
    told = json.loads(doctor(machine_with(perf_closed=True).environment, "--format", "json"))
    estimate = told["meters"][3]
    assert "perf events are closed" in estimate["reason"]
    assert estimate["command"] == "sudo sysctl -w kernel.perf_event_paranoid=2"
    assert 0.001 <= estimate["resolution_seconds"] <= 0.01


def test_this_machine_can_be_diagnosed():
    diagnosis = diagnose(Roots())
    assert [state.name for state in diagnosis.meters] == ["rapl", "perf", "nvml", "cpu-time"]
    assert diagnosis.verdict in report(diagnosis)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.fixture
def calm(machine_with):
    """A machine with RAPL on which nothing happens."""
    scene = machine_with(package(0, WAVE), dram(0, WAVE))
    procfs = scene.folder / "proc"
    write(procfs / "cpuinfo", "processor : 0\nmodel name : Test")
    write(procfs / "stat", "cpu  100 0 100 700 100 0 0 0 0 0")
    write(procfs / "loadavg", "0.01 0.02 0.03 1/2 3")
    return Roots(scene.sysfs, procfs)


def test_a_calm_machine_with_a_meter_is_trusted(calm):
    diagnosis = diagnose(calm)
    assert diagnosis.trusted
    assert (
        diagnosis.verdict
        == "A measurement here would be trusted: rapl can read CPU and memory, and the machine is calm."
    )


def test_heat_is_a_doubt(calm):
    write(calm.sysfs / "class/hwmon/hwmon0/name", "k10temp")
    write(calm.sysfs / "class/hwmon/hwmon0/temp1_input", "91000")
    diagnosis = diagnose(calm)
    assert not diagnosis.trusted
    assert diagnosis.doubts == ["CPU 0 91 °C: let the machine cool down first"]


def test_a_clock_that_follows_the_load_is_advice_not_doubt(calm):
    governor = calm.sysfs / "devices/system/cpu/cpu0/cpufreq/scaling_governor"
    write(governor, "powersave")
    diagnosis = diagnose(calm)
    assert diagnosis.trusted
    assert "cpupower frequency-set --governor performance" in report(diagnosis)
    write(governor, "performance")
    assert diagnose(calm).advice == []


def test_load_estimates_and_no_meter_are_doubts():
    estimate = Availability("cpu-time", True, "estimate", estimated=True)
    estimated, busy = doubts_about([estimate], ["cpu-time"], Load(2.0, 4, busy=0.5), {"CPU 0": 50.0})
    assert "estimated from CPU time" in estimated
    assert "50% of 4 CPUs" in busy
    assert doubts_about([], [], Load(0.0, 4, busy=0.0), {}) == ["no meter can be used"]
