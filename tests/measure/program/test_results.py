"""What several runs say together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from energy_data.database.database import Database
from energy_data.model import PHASES, Environment, InputSignature, Machine, Quantity
from energy_measure.attribution.events import Events
from energy_measure.attribution.phases import PhaseShare
from energy_measure.attribution.replay import Replayed
from energy_measure.attribution.site_energy import SiteEnergy
from energy_measure.machine.stability import Stability
from energy_measure.program.call_sites import CallSite
from energy_measure.program.repository import Repository
from energy_measure.results import combine_runs
from energy_measure.run.one_run import Key, OneRun
from energy_measure.sampling.trace import SampledTrace
from energy_measure.statistics import NORMAL_95, Interval
from energy_measure.storage import Storing

SITES = [
    CallSite(f"tensorflow.{name}", "a.py", line, True, f"a.py:{line}") for line, name in enumerate("xyz")
]


def energy(joules: float, stderr: float, count: int = 1, seconds: float = 0.1) -> SiteEnergy:
    interval = Interval(joules - NORMAL_95 * stderr, joules + NORMAL_95 * stderr)
    quantity = Quantity(joules, stderr)
    return SiteEnergy(0, count, seconds, {"cpu": quantity}, quantity, quantity, interval, None, 0.0)


def replayed(joules: float, stderr: float) -> Replayed:
    interval = Interval(joules - NORMAL_95 * stderr, joules + NORMAL_95 * stderr)
    quantity = Quantity(joules, stderr)
    return Replayed(0, 1000, 5, 1e-6, {"cpu": quantity}, quantity, interval)


def run(energies: Mapping[Key, SiteEnergy], total: float = 10.0) -> OneRun:
    return OneRun(
        seconds=2.0,
        status=0,
        whole=True,
        stopped="",
        error="",
        energies=energies,
        firsts={},
        later={},
        phases={name: PhaseShare() for name in PHASES},
        blurred=frozenset(),
        replays={},
        joules={"cpu": Quantity(total, 0.1)},
        outside=4.0,
        events=Events.empty(),
        begin=0,
        traces=(),
        signatures={0: InputSignature(("float32[2]",), 8)},
        environment=Environment("3.11", "2.21", "3.15"),
        stability=Stability(True, {}, {}, ()),
        problems=(),
    )


def test_means_over_runs_with_their_interval() -> None:
    key = Key(0, False)
    program = combine_runs(
        [run({key: energy(joules, 0.01)}, 9 + joules) for joules in (1.0, 1.1, 1.2)], SITES
    )
    (call,) = program.calls
    assert call.total == pytest.approx(1.1)
    assert call.interval.low < 1.0 < 1.2 < call.interval.high, "three runs leave a wide interval"
    assert call.repeats == program.repeats == 3
    assert call.signature.arguments == ("float32[2]",)
    assert program.total == pytest.approx(10.1)
    assert program.unaccounted == 4.0
    assert program.variation == pytest.approx(0.1 / 10.1)


def test_trace_time_is_kept_apart() -> None:
    program = combine_runs([run({Key(1, True): energy(2.0, 0.1), Key(1, False): energy(1.0, 0.1, 3)})], SITES)
    assert [(call.tracing, call.count, call.run_joules) for call in program.calls] == [
        (False, 3, 3.0),
        (True, 1, 2.0),
    ]


def test_a_replay_answers_where_the_meter_could_not() -> None:
    keys = [Key(number, False) for number in range(3)]
    first = run({keys[0]: energy(1.0, 0.1), keys[1]: energy(0.1, 1.0, 5), keys[2]: energy(0.2, 0.3)})
    first = replace(first, replays={0: replayed(9.0, 0.1), 1: replayed(2e-6, 1e-7), 2: replayed(1e-6, 1e-5)})
    calls = {call.site.line: call for call in combine_runs([first], SITES).calls}
    assert (calls[0].method, calls[0].total) == ("in place", 1.0)
    assert (calls[1].method, calls[1].total, calls[1].resolved) == ("replayed", 2e-6, True)
    assert calls[1].as_json()["joules"]["total"] == pytest.approx(1e-5)
    assert (calls[2].method, calls[2].resolved) == ("in place", False)
    assert set(calls[2].as_json()["joules"].values()) == {None}


def test_repeating_does_not_clear_what_is_blurred() -> None:
    key = Key(0, False)
    runs = [replace(run({key: energy(1.0 + n / 100, 0.01)}), blurred=frozenset([key])) for n in range(5)]
    (call,) = combine_runs(runs, SITES).calls
    assert not call.resolved
    assert call.interval.high > 1.0


def test_runs_in_which_the_meter_looked_away_do_not_make_a_call_cheaper() -> None:
    key = Key(0, False)
    seen = [energy(joules, 0.1) for joules in (1.0, 1.2, 1.1)]
    unseen = [replace(energy(0.0, 2.0), seen=0.0)] * 2
    alone, together = (
        combine_runs([run({key: one}) for one in runs], SITES) for runs in (seen, seen + unseen)
    )
    (call,) = together.calls
    assert call.total == pytest.approx(1.1)
    assert call.joules == alone.calls[0].joules
    assert call.exclusive == alone.calls[0].exclusive
    assert (call.repeats, call.interval_runs) == (5, 3)


def test_a_call_that_seems_to_give_energy_back_lies_below_what_chance_allows() -> None:
    key = Key(0, False)
    (call,) = combine_runs([run({key: energy(-0.5, 0.2)})], SITES).calls
    assert not call.resolved
    assert call.interval.high == pytest.approx(NORMAL_95 * 0.2)


def test_power_is_stored_by_the_seconds_since_the_run_began(tmp_path: Path) -> None:
    times = np.array([940_000_000, 1_000_000_000, 1_050_000_000, 1_100_000_000])
    trace = SampledTrace("cpu", times, "energy", np.array([0.0, 6.0, 12.0, 13.0]), 1e-6)
    one = replace(run({}), begin=1_000_000_000, traces=[trace.around(1_010_000_000, 1_020_000_000)])
    storing = Storing(
        tmp_path / "energy.db",
        "r",
        Machine("cpu", "", 1, "Linux", ""),
        "python a.py",
        "2026-01-01T00:00:00Z",
        "rapl",
        False,
        Repository(),
        tmp_path,
        {},
    )
    storing.store(combine_runs([one], SITES), [one], SITES)
    with Database.read(tmp_path / "energy.db") as database:
        (stored,) = database.traces("r")
    assert stored.seconds[-1] == pytest.approx(0.05, abs=1e-5)
    assert stored.watts[-1] == pytest.approx(120.0, rel=1e-3)
