"""Traces: cutting them, finding updates, adding up sockets."""

from __future__ import annotations

import numpy as np
import pytest

from energy_measure.sampling.trace import SampledTrace, per_device


def trace(device="cpu", times=(0, 10, 20, 30), values=(0.0, 1.0, 1.0, 4.0), **options):
    return SampledTrace(
        device, np.array(times, np.int64), options.pop("kind", "energy"), np.array(values), 1e-3, **options
    )


def test_times_and_values_have_to_match():
    with pytest.raises(ValueError, match="3 times for 2 readings of cpu"):
        trace(times=(1, 2, 3), values=(1.0, 2.0))


def test_between_includes_both_ends():
    cut = trace(quantum=0.5, source="package-0", estimated=True).between(10, 20)
    assert cut.times_ns.tolist() == [10, 20]
    assert (cut.quantum, cut.source, cut.estimated) == (0.5, "package-0", True)


def test_around_reaches_over_both_ends():
    assert trace().around(12, 15).times_ns.tolist() == [10, 20]
    assert trace().around(10, 20).times_ns.tolist() == [10, 20]
    assert trace().around(-5, 50).times_ns.tolist() == [0, 10, 20, 30]


def test_changes_keeps_the_first_and_each_update():
    assert trace().changes().times_ns.tolist() == [0, 10, 30]
    assert len(trace(times=(), values=()).changes()) == 0


def test_sockets_add_up_where_both_answered():
    first = trace(quantum=3.0, source="package-0")
    second = trace(times=(0, 10, 30), values=(0.0, 5.0, 6.0), quantum=4.0, source="package-1")
    memory = trace("ram", source="dram-0")
    cpu, ram = per_device([first, memory, second])
    assert cpu.times_ns.tolist() == [0, 10, 30]
    assert cpu.values.tolist() == [0.0, 6.0, 10.0]
    assert (cpu.quantum, cpu.source) == (5.0, "package-0 + package-1")
    assert ram is memory


def test_counters_and_power_are_never_added():
    traces = per_device([trace("gpu", kind="power", window_s=1.0), trace("gpu")])
    assert [t.kind for t in traces] == ["energy", "power"]
