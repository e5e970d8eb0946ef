"""The same counters through perf events."""

from __future__ import annotations

from energy_measure.meters import Roots
from energy_measure.meters.perf import PerfMeter, find_events
from scene import power_event
from waveform import RaplModel, Waveform

EXACT = RaplModel(noise=0.0)


def wave(watts: float) -> Waveform:
    return Waveform.constant(watts)


def test_package_and_memory_of_each_socket_are_read_and_nothing_else(machine_with):
    scene = machine_with(
        power_event("energy-pkg", 0, wave(30)),
        power_event("energy-ram", 0, wave(3)),
        power_event("energy-pkg", 18, wave(40)),
        power_event("energy-ram", 18, wave(4)),
        power_event("energy-psys", 0, wave(200)),
        power_event("energy-cores", 0, wave(20)),
    )
    events = [(event.name, event.device, event.cpu) for event in find_events(Roots(sysfs=scene.sysfs))]
    assert events == [
        ("package-0", "cpu", 0),
        ("dram-0", "ram", 0),
        ("package-1", "cpu", 18),
        ("dram-1", "ram", 18),
    ]


def test_joules_are_counts_times_scale(machine_with, ask_inside):
    scene = machine_with(
        power_event("energy-pkg", 0, wave(30), EXACT), power_event("energy-ram", 0, wave(3), EXACT)
    )
    seconds, (package, memory) = ask_inside(
        scene,
        "import time\nfrom energy_measure.meters.perf import PerfMeter\n"
        "meter = PerfMeter()\nstart = time.monotonic()\nmeter.open()\ntime.sleep(0.3)\n"
        "joules = meter.read()\nanswer = [time.monotonic() - start, joules]\nmeter.close()",
    )
    # Bounds, not tolerances of time: the counter lags by two updates at most, the clock was read around it.
    assert 30 * (0.3 - 0.003) <= package <= 30 * (seconds + 0.003)
    assert 3 * (0.3 - 0.003) <= memory <= 3 * (seconds + 0.003)


def test_closed_events_name_the_setting_that_opens_them(machine_with, ask_inside):
    scene = machine_with(power_event("energy-pkg", 0, wave(30)), perf_denied=True)
    usable, reason, command = ask_inside(
        scene,
        "from energy_measure.meters import *\nstate = available()[1]\n"
        "answer = [state.usable, state.reason, state.command]",
    )
    assert not usable
    assert "perf_event_paranoid" in reason
    assert command == "sudo sysctl -w kernel.perf_event_paranoid=0"


def test_an_event_that_vanishes_is_named(machine_with, ask_inside):
    scene = machine_with(
        power_event("energy-pkg", 0, wave(30)), power_event("energy-pkg", 8, wave(30)).failing(at=0.0)
    )
    unknown, problems = ask_inside(
        scene,
        "import math\nfrom energy_measure.meters.perf import PerfMeter\nmeter = PerfMeter()\nmeter.open()\n"
        "meter.read()\nanswer = [[math.isnan(value) for value in meter.read()], meter.problems]",
    )
    assert unknown == [False, True]
    assert problems == ["package-1 stopped answering: No such device; its energy is unknown since."]


def test_no_power_events_on_bare_metal_names_the_module(tmp_path):
    (tmp_path / "proc").mkdir()
    state = PerfMeter.availability(Roots(tmp_path / "sys", tmp_path / "proc"))
    assert not state.usable
    assert "modprobe" in state.command
