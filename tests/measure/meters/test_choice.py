"""Which meters are taken."""

from __future__ import annotations

import pytest

from energy_measure.meters import MeterProblem, Roots, choose, find
from scene import dram, gpu, package, power_event
from waveform import Waveform

WAVE = Waveform.constant(10.0)
CHOSEN = "from energy_measure.meters import *\nanswer = [[m.name, list(m.info.devices)] for m in choose()]"


@pytest.mark.parametrize(
    ("sensors", "chosen"),
    [
        ([package(0, WAVE), dram(0, WAVE)], [["rapl", ["cpu", "ram"]]]),
        ([package(0, WAVE).denied(), power_event("energy-pkg", 0, WAVE)], [["perf", ["cpu"]]]),
        (
            [package(0, WAVE), power_event("energy-pkg", 0, WAVE), gpu("NVIDIA H100 PCIe", WAVE)],
            [["rapl", ["cpu"]], ["nvml", ["gpu"]]],
        ),
        ([gpu("NVIDIA H100 PCIe", WAVE)], [["cpu-time", ["cpu"]], ["nvml", ["gpu"]]]),
        ([], [["cpu-time", ["cpu"]]]),
    ],
    ids=["powercap", "perf where powercap is closed", "with a GPU", "a GPU without RAPL", "no sensor"],
)
def test_auto_takes_the_best_for_each_device(machine_with, ask_inside, sensors, chosen):
    assert ask_inside(machine_with(*sensors), CHOSEN) == chosen


def test_meters_by_name_are_joined(machine_with, ask_inside):
    scene = machine_with(package(0, WAVE), gpu("NVIDIA H100 PCIe", WAVE), power_event("energy-pkg", 0, WAVE))
    code = """
from energy_measure.meters import *
answer = [[m.name for m in choose("perf+nvml")]]
for wanted in ("rapl+perf", "rapl+cpu-time"):
    try:
        choose(wanted)
    except MeterProblem as problem:
        answer.append(str(problem))
"""
    assert ask_inside(scene, code) == [
        ["perf", "nvml"],
        "rapl and perf both read the cpu; take one of them.",
        "rapl and cpu-time both read the cpu; take one of them.",
    ]


def test_a_meter_that_does_not_exist_lists_those_that_do():
    with pytest.raises(MeterProblem, match="take auto, rapl, perf, nvml, cpu-time"):
        find("wattmeter")


def test_a_closed_meter_asked_for_by_name_gives_the_command(machine_with, ask_inside):
    scene = machine_with(package(0, WAVE).denied())
    code = """
from energy_measure.meters import *
try:
    choose("rapl")
except MeterProblem as problem:
    answer = str(problem)
"""
    message = ask_inside(scene, code)
    assert message.startswith(
        "The meter rapl cannot be used: energy_uj may be read by root alone. Run: echo "
    )


def test_nothing_at_all_gives_every_reason(tmp_path, monkeypatch):
    monkeypatch.setenv("ENERGY_LSP_ACTIVE_WATTS", "none")
    with pytest.raises(MeterProblem, match=r"No meter can be used here \(rapl: .*perf: .*nvml: .*cpu-time: "):
        choose("auto", Roots(tmp_path, tmp_path, str(tmp_path / "missing.so")))
