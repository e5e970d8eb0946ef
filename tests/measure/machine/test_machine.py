"""What is said of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from energy_measure.machine import describe as machine
from energy_measure.meters import Roots, choose
from scene import gpu, package
from waveform import Waveform


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.fixture
def roots(tmp_path):
    write(
        tmp_path / "proc/cpuinfo",
        "processor : 0\nmodel name : Intel(R) Xeon(R)   Gold 6130\n\nprocessor : 1\nmodel name : x",
    )
    write(tmp_path / "proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB")
    write(tmp_path / "proc/loadavg", "0.50 0.40 0.30 1/200 1234")
    write(tmp_path / "proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3")
    return Roots(tmp_path / "sys", tmp_path / "proc")


def test_the_machine_is_described(roots):
    described = machine.describe(roots=roots)
    assert described.cpu == "Intel(R) Xeon(R) Gold 6130 (2 CPUs)"
    assert described.memory_bytes == 16384 * 1024
    assert "Linux" in described.os


def test_meters_belong_to_the_description():
    (info,) = machine.describe(choose("cpu-time")).meters
    assert (info.name, info.devices, info.estimated) == ("cpu-time", ("cpu",), True)


def test_gpus_and_driver(machine_with, ask_inside):
    wave = Waveform.constant(9.0)
    scene = machine_with(
        gpu("NVIDIA H100 PCIe", wave, name="a"),
        gpu("NVIDIA H100 PCIe", wave, name="b"),
        gpu("NVIDIA GeForce RTX 3090", wave, name="c", temperature=0),
        package(0, wave),
    )
    answer = ask_inside(
        scene,
        "from energy_measure.machine import describe as machine\nm = machine.describe()\n"
        "answer = [m.gpu, m.driver, machine.temperatures()]",
    )
    assert answer == [
        "2 × NVIDIA H100 PCIe, NVIDIA GeForce RTX 3090",
        "NVIDIA 550.54.14",
        {"GPU 0": 41.0, "GPU 1": 41.0},
    ]


def test_temperatures_of_packages_come_from_hwmon(roots):
    for number, degrees in ((0, 45000), (1, 51500)):
        folder = roots.sysfs / f"class/hwmon/hwmon{number}"
        write(folder / "name", "coretemp")
        write(folder / "temp1_label", "Core 0")
        write(folder / "temp1_input", "99000")
        write(folder / "temp2_label", f"Package id {number}")
        write(folder / "temp2_input", str(degrees))
    write(roots.sysfs / "class/hwmon/hwmon2/name", "nvme")
    write(roots.sysfs / "class/hwmon/hwmon2/temp1_input", "30000")
    assert machine.temperatures(roots) == {"CPU 0": 45.0, "CPU 1": 51.5}


def test_temperatures_of_amd(roots):
    write(roots.sysfs / "class/hwmon/hwmon0/name", "k10temp")
    write(roots.sysfs / "class/hwmon/hwmon0/temp1_label", "Tctl")
    write(roots.sysfs / "class/hwmon/hwmon0/temp1_input", "61250")
    assert machine.temperatures(roots) == {"CPU 0": 61.25}


def test_thermal_zones_serve_where_hwmon_has_nothing(roots):
    write(roots.sysfs / "class/thermal/thermal_zone0/type", "acpitz")
    write(roots.sysfs / "class/thermal/thermal_zone0/temp", "27800")
    write(roots.sysfs / "class/thermal/thermal_zone1/type", "x86_pkg_temp")
    write(roots.sysfs / "class/thermal/thermal_zone1/temp", "40000")
    assert machine.temperatures(roots) == {"CPU 0": 40.0}


def test_a_sensor_that_does_not_answer_is_left_out(roots):
    write(roots.sysfs / "class/hwmon/hwmon0/name", "coretemp")
    assert machine.temperatures(roots) == {}


def test_governors_are_named_once(roots):
    assert machine.governors(roots) == []
    for cpu, governor in enumerate(["powersave", "performance", "powersave"]):
        write(roots.sysfs / f"devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor", governor)
    assert machine.governors(roots) == ["performance", "powersave"]


def test_load_of_this_machine_and_of_a_still_one(roots):
    still = machine.load(roots, seconds=0.0)
    assert (still.one_minute, still.cpus, still.busy) == (0.5, 2, 0.0)
    here = machine.load(Roots(), seconds=0.05)
    assert here.cpus >= 1
    assert 0.0 <= here.busy <= 1.0
