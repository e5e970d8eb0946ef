"""RAPL through powercap: which domains count, wrap-around, and every way in which it can be closed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from energy_measure.meters import MeterProblem, Roots
from energy_measure.meters.counter import UnwrappedCounter
from energy_measure.meters.rapl import RaplMeter
from scene import core, dram, mmio, package, psys
from waveform import Waveform

WAVE = Waveform.constant(20.0)


def set_counter(roots: Roots, zone: str, microjoules: int) -> None:
    (roots.sysfs / "class/powercap" / zone / "energy_uj").write_text(f"{microjoules}\n")


@pytest.fixture
def two_sockets(machine_with):
    """A server as powercap shows it, with everything that must not be added up."""
    scene = machine_with(
        package(0, WAVE),
        core(0, WAVE),
        dram(0, WAVE),
        package(1, WAVE),
        dram(1, WAVE),
        psys(2, WAVE),
        mmio(0, WAVE),
    )
    return Roots(sysfs=scene.sysfs)


def test_packages_and_their_memory_are_read_and_nothing_else(two_sockets):
    with RaplMeter(two_sockets) as meter:
        names = [(source.name, source.device) for source in meter.sources]
    assert names == [("package-0", "cpu"), ("dram-0", "ram"), ("package-1", "cpu"), ("dram-1", "ram")]


def test_the_most_that_a_package_may_draw_is_what_its_constraints_say(two_sockets):
    zone = two_sockets.sysfs / "class/powercap/intel-rapl:0"
    (zone / "constraint_0_power_limit_uw").write_text("65000000\n")
    (zone / "constraint_1_power_limit_uw").write_text("117000000\n")
    (zone / "constraint_1_max_power_uw").write_text("0\n")
    with RaplMeter(two_sockets) as meter:
        assert [source.limit_watts for source in meter.sources] == [117.0, 0.0, 0.0, 0.0]


def test_joules_count_from_the_first_reading(two_sockets):
    with RaplMeter(two_sockets) as meter:
        set_counter(two_sockets, "intel-rapl:0", 5_000_000)
        set_counter(two_sockets, "intel-rapl:1:1", 7_000_000)
        assert list(meter.read()) == [0.0, 0.0, 0.0, 0.0]
        set_counter(two_sockets, "intel-rapl:0", 5_250_000)
        set_counter(two_sockets, "intel-rapl:1:1", 7_000_061)
        assert list(meter.read()) == pytest.approx([0.25, 0.0, 0.0, 0.000061])


def test_wrap_around_loses_nothing(two_sockets):
    top = int((two_sockets.sysfs / "class/powercap/intel-rapl:0/max_energy_range_uj").read_text())
    with RaplMeter(two_sockets) as meter:
        for raw in (top - 300_000, top - 100_000, 150_000):
            set_counter(two_sockets, "intel-rapl:0", raw)
            joules = meter.read()[0]
        assert joules == pytest.approx(0.45)
        assert meter.problems == []


def test_a_reset_is_told_and_adds_no_energy():
    counter = UnwrappedCounter(wraps_at=262_143_328_850, unit_joules=1e-6)
    counter.add(200_000_000_000, now_ns=0)
    assert counter.add(200_000_500_000, now_ns=10_000_000) == pytest.approx(0.5)
    # Back to zero: read as wrap-around this would be 62 kJ in 10 ms.
    assert counter.add(100, now_ns=20_000_000) == pytest.approx(0.5)
    assert counter.resets == 1
    assert counter.add(200_100, now_ns=30_000_000) == pytest.approx(0.7)


def test_a_counter_without_range_never_goes_backwards():
    counter = UnwrappedCounter(wraps_at=0, unit_joules=1e-3)
    readings = [counter.add(raw, now_ns=tick * 10**9) for tick, raw in enumerate([100, 300, 50, 80])]
    assert readings == pytest.approx([0.0, 0.2, 0.2, 0.23])
    assert counter.resets == 1


def test_a_domain_that_says_nonsense_becomes_unknown_once(two_sockets):
    with RaplMeter(two_sockets) as meter:
        (two_sockets.sysfs / "class/powercap/intel-rapl:1/energy_uj").write_text("")
        readings = [meter.read(), meter.read()]
        assert [math.isnan(value) for value in readings[1]] == [False, False, True, False]
        assert len(meter.problems) == 1
        assert meter.problems[0].startswith("package-1 stopped answering")


def test_amd_and_old_processors_show_a_package_without_memory(machine_with):
    scene = machine_with(package(0, WAVE), core(0, WAVE))
    with RaplMeter(Roots(sysfs=scene.sysfs)) as meter:
        assert meter.info.devices == ("cpu",)
        assert meter.info.resolution_seconds == 0.001
        assert not meter.info.estimated


def test_psys_alone_is_not_a_processor(machine_with):
    scene = machine_with(psys(0, WAVE))
    procfs = scene.folder / "proc"
    procfs.mkdir()
    state = RaplMeter.availability(Roots(sysfs=scene.sysfs, procfs=procfs))
    assert not state.usable
    assert "none for a processor package" in state.reason


def test_closed_counters_name_the_udev_rule(machine_with, ask_inside):
    scene = machine_with(package(0, WAVE).denied(), dram(0, WAVE).denied())
    usable, reason, command = ask_inside(
        scene,
        "from energy_measure.meters import *\n"
        "state = available()[0]\nanswer = [state.usable, state.reason, state.command]",
    )
    assert not usable
    assert "root" in reason
    assert "/etc/udev/rules.d/" in command
    assert 'SUBSYSTEM=="powercap"' in command
    assert "energy_uj" in command


def test_closed_memory_leaves_the_package_and_says_so(machine_with, ask_inside):
    scene = machine_with(package(0, WAVE), dram(0, WAVE).denied())
    names, problems, joules = ask_inside(
        scene,
        "import time\nfrom energy_measure.meters.rapl import RaplMeter\n"
        "meter = RaplMeter()\nmeter.open()\nmeter.read()\ntime.sleep(0.1)\n"
        "answer = [[s.name for s in meter.sources], meter.problems, meter.read()]",
    )
    assert names == ["package-0"]
    assert problems == ["dram-0 cannot be read: Permission denied"]
    assert joules[0] > 1.0


def test_a_package_that_vanishes_is_named(machine_with, ask_inside):
    scene = machine_with(package(0, WAVE), package(1, WAVE).failing(at=0.0))
    state = ask_inside(
        scene,
        "from energy_measure.meters import *\n"
        "state = available()[0]\nanswer = [state.usable, state.notes, [s.name for s in state.sources]]",
    )
    assert state == [True, ["package-1 cannot be read: No such device"], ["package-0"]]


def make_procfs(folder: Path, flags: str) -> Path:
    folder.mkdir()
    (folder / "cpuinfo").write_text(f"processor\t: 0\nmodel name\t: Test\nflags\t\t: {flags}\n")
    return folder


def test_no_tree_on_bare_metal_names_the_module(tmp_path):
    roots = Roots(tmp_path / "sys", make_procfs(tmp_path / "proc", "fpu vme"))
    state = RaplMeter.availability(roots)
    assert not state.usable
    assert "modprobe" in state.command
    with pytest.raises(MeterProblem, match="RAPL cannot be read"):
        RaplMeter(roots).open()


def test_no_tree_in_a_virtual_machine_says_so_and_names_no_command(tmp_path):
    roots = Roots(tmp_path / "sys", make_procfs(tmp_path / "proc", "fpu vme hypervisor"))
    state = RaplMeter.availability(roots)
    assert "virtual machine" in state.reason
    assert state.command == ""
