"""NVIDIA GPUs: the real pynvml on a simulated driver."""

from __future__ import annotations

import math

import pytest

from energy_measure.meters import Roots
from energy_measure.meters.nvml import NvmlMeter, power_window
from scene import gpu
from waveform import GPUS, Waveform

READ_TWICE = """
import math, time
from energy_measure.meters.nvml import NvmlMeter
meter = NvmlMeter()
meter.open()
start = time.monotonic()
first = meter.read()
time.sleep(0.5)
last = meter.read()
answer = {
    "seconds": time.monotonic() - start,
    "sources": [[s.name, s.kind, s.update_period_s, s.window_s] for s in meter.sources],
    "first": first,
    "last": [None if math.isnan(value) else value for value in last],
    "problems": meter.problems,
    "temperatures": meter.temperatures(),
}
meter.close()
"""

STATE = """
from energy_measure.meters import *
state = available()[2]
answer = [state.usable, state.reason, state.command, state.notes]
"""


def test_the_energy_counter_is_preferred(machine_with, ask_inside):
    scene = machine_with(gpu("NVIDIA A100-SXM4-40GB", Waveform.constant(200.0), noise=0.0))
    seen = ask_inside(scene, READ_TWICE)
    assert seen["sources"] == [["GPU 0", "energy", 0.1, 0.0]]
    assert seen["first"] == [0.0]
    # The counter lags by one update of 100 ms at most, at either end.
    assert 200 * (0.5 - 0.101) <= seen["last"][0] <= 200 * (seen["seconds"] + 0.101)
    assert seen["temperatures"] == {"GPU 0": 41.0}


def test_an_old_gpu_tells_power_and_its_window(machine_with, ask_inside):
    scene = machine_with(
        gpu("NVIDIA GeForce GTX 1080 Ti", Waveform.constant(150.0), tells="power", noise=0.0)
    )
    seen = ask_inside(scene, READ_TWICE)
    assert seen["sources"] == [["GPU 0", "power", 0.02, 0.01]]
    assert seen["first"] == seen["last"] == [150.0]


@pytest.mark.parametrize("model", list(GPUS))
def test_windows_of_known_gpus(model):
    assert power_window(model) == (GPUS[model].update_period, GPUS[model].window)


def test_an_unknown_gpu_gets_the_slowest_window():
    assert power_window("NVIDIA Quadro K2000") == (0.1, 1.0)


def test_several_gpus_and_one_that_vanishes(machine_with, ask_inside, tmp_path):
    wave = Waveform.constant(100.0)
    unplugged = tmp_path / "unplugged"
    scene = machine_with(
        gpu("NVIDIA A100-SXM4-40GB", wave, name="GPU 0"),
        gpu("NVIDIA A100-SXM4-40GB", wave, name="GPU 1").failing(when=unplugged),
        gpu("NVIDIA GeForce GTX 1080 Ti", wave, name="GPU 2", tells="nothing"),
    )
    seen = ask_inside(scene, READ_TWICE.replace("last =", f"open({str(unplugged)!r}, 'w').close()\nlast ="))
    assert [source[0] for source in seen["sources"]] == ["GPU 0", "GPU 1"]
    assert seen["last"][0] > 0
    assert seen["last"][1] is None
    assert seen["problems"][0] == "GPU 2 tells neither energy nor power: Not Supported."
    assert "GPU 1 (NVIDIA A100-SXM4-40GB) stopped answering: GPU is lost" in seen["problems"][1]
    assert len(seen["problems"]) == 2
    assert seen["temperatures"] == {"GPU 0": 41.0}


def test_no_gpu_tells_anything(machine_with, ask_inside):
    scene = machine_with(gpu("NVIDIA GeForce GTX 1080 Ti", Waveform.constant(9.0), tells="nothing"))
    usable, reason, _, _ = ask_inside(scene, STATE)
    assert not usable
    assert reason == "GPU 0 tells neither energy nor power: Not Supported."


def test_a_driver_without_gpus(machine_with, ask_inside):
    assert ask_inside(machine_with(), STATE)[:2] == [False, "the driver is there, but no GPU."]


@pytest.mark.parametrize(
    ("status", "words", "command"),
    [
        (9, "not loaded", "sudo modprobe nvidia"),
        (4, "may not talk", "sudo usermod -aG video,render $USER   # then log in again"),
        (999, "does not answer", ""),
    ],
)
def test_a_driver_that_does_not_start_says_why(machine_with, ask_inside, status, words, command):
    usable, reason, told, _ = ask_inside(machine_with(nvml_init=status), STATE)
    assert not usable
    assert words in reason
    assert told == command


def test_a_card_without_a_driver_is_told_apart_from_no_card(tmp_path):
    without = NvmlMeter.availability(Roots(sysfs=tmp_path))
    device = tmp_path / "bus/pci/devices/0000:01:00.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text("0x10de\n")
    with_card = NvmlMeter.availability(Roots(sysfs=tmp_path))
    if without.usable:
        pytest.skip("this machine has an NVIDIA driver")
    assert without.reason == "there is no NVIDIA GPU"
    assert "driver is not installed" in with_card.reason
    assert with_card.command.startswith("sudo apt install")


def test_a_library_that_cannot_be_loaded(tmp_path):
    broken = tmp_path / "libnvidia-ml.so.1"
    broken.write_text("not a library")
    state = NvmlMeter.availability(Roots(nvml=str(broken)))
    assert not state.usable
    assert "cannot be loaded" in state.reason


def test_a_closed_meter_reads_nothing():
    meter = NvmlMeter()
    assert list(meter.read()) == []
    assert meter.temperatures() == {}
    assert not any(map(math.isnan, meter.read()))
