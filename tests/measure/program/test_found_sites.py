"""What is recorded beside instrumented calls: where it stands, what it is called, in every process the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from energy_measure.attribution.events import Events
from energy_measure.attribution.firsts import among_calls, firsts_and_later
from energy_measure.attribution.phases import Children, Kind, phases_of
from energy_measure.attribution.python_time import OutsideTime
from energy_measure.attribution.solver import DeviceAttribution
from energy_measure.program.call_sites import Instrumented
from energy_measure.program.compiled_steps import called_with, steps_by_hand
from energy_measure.program.found_sites import FoundSites

PROGRAM = """\
class Trainer:
    def fit(self):
        for x in data:
            a = step(x); b = step(x)
"""


def place(number: int, column: int, end: int) -> str:
    found = {"kind": "compiled", "name": "step", "file": "FILE", "line": 4, "end_line": 4, "function": "fit"}
    return json.dumps({"number": number, **found, "column": column, "end_column": end})


def test_two_calls_on_one_line_are_two_sites_in_all_processes_alike(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    first, second = (place(*where).replace("FILE", str(file)) for where in ((7, 16, 23), (8, 29, 36)))
    (tmp_path / "places-1.jsonl").write_text(f"{first}\n{second}\n")
    (tmp_path / "places-2.jsonl").write_text(second.replace('"number": 8', '"number": 7') + "\n{cut off")
    found = FoundSites(Instrumented(project=str(tmp_path)))
    numbers = found.read(tmp_path)
    assert numbers["events-1.bin"][8] == numbers["events-2.bin"][7] != numbers["events-1.bin"][7]
    one, other = (found.sites[numbers["events-1.bin"][number]] for number in (7, 8))
    assert (one.column, other.column) == (17, 30)
    assert (one.file, one.line, one.function, one.text, one.kind) == (
        "train.py",
        4,
        "Trainer.fit",
        "step(x)",
        "compiled",
    )


def test_an_iteration_is_what_the_loop_goes_over_not_what_stands_in_it(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    where = {"file": str(file), "line": 3, "end_line": 4, "column": 8, "end_column": 36, "function": "fit"}
    written = {"number": 0, "kind": "iteration", "name": "BatchDataset", "listed": True, **where}
    (tmp_path / "places-1.jsonl").write_text(json.dumps(written))
    found = FoundSites(Instrumented(project=str(tmp_path)))
    found.read(tmp_path)
    assert (found.sites[0].column, found.sites[0].text, found.sites[0].api) == (18, "data", "BatchDataset")


def test_a_python_that_knows_no_columns_finds_the_call_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    line = place(0, -1, -1).replace("FILE", str(file)).replace('"end_line": 4', '"end_line": 0')
    (tmp_path / "places-1.jsonl").write_text(line)
    found = FoundSites(Instrumented(project=str(tmp_path)))
    found.read(tmp_path)
    assert (found.sites[0].column, found.sites[0].text) == (17, "step(x)")


def test_steps_by_hand_and_what_a_strategy_runs() -> None:
    source = b"class GAN(Model):\n    def train_step(self, x): pass\n\nGAN().fit(x)\ngan.train_step(batch)\n"
    (step,) = steps_by_hand(source, set())
    assert (step.api, source[step.span.start_byte : step.span.end_byte]) == (
        "GAN.train_step",
        b"gan.train_step(batch)",
    )
    assert steps_by_hand(source, {(step.span.start_byte, step.span.end_byte)}) == []
    assert called_with(b"strategy.run(self.step, args=(x,))", "Trainer.epoch") == "Trainer.step"
    assert called_with(b"strategy.run(fn=step)", "") == "step"


def attributed(own: list[float], events: Events, total: float) -> DeviceAttribution:
    nothing = np.zeros(len(own))
    inclusive = np.array(own)
    for row in range(len(own) - 1, -1, -1):
        if events.parent[row] >= 0:
            inclusive[events.parent[row]] += inclusive[row]
    outside = total - sum(own)
    return DeviceAttribution(
        "cpu",
        inclusive,
        nothing,
        np.array(own),
        nothing,
        nothing,
        nothing * np.nan,
        nothing,
        nothing + 1,
        total,
        0.0,
        outside,
    )


KINDS = [
    Kind("imports", "numpy"),
    Kind("calls", "fit"),
    Kind("tracing", "graph"),
    Kind("callbacks", "History"),
]


def test_every_joule_is_in_one_phase() -> None:
    # An import; a call with a graph built in it, in which a package is imported and an API called; a callback.
    events = Events.of(
        site=[0, 1, 2, 0, 1, 3],
        start=[0, 100, 110, 120, 130, 160],
        end=[50, 200, 150, 125, 140, 170],
        tracing=[False, False, False, False, True, False],
    )
    part = attributed([5.0, 3.0, 2.0, 1.0, 0.5, 0.25], events, 20.0)
    found = phases_of(
        events, KINDS, [part], 1.0, OutsideTime(python=0.5, process=1.0), Children(0.2, 0.4), 4.0
    )
    assert found["imports"].joules == 6.0
    assert found["tracing"].joules == 2.5
    assert found["tracing"].detail == {"graph": 2.5}
    assert (found["calls"].joules, found["callbacks"].joules) == (3.0, 0.25)
    assert (found["children"].joules, found["children"].seconds) == (pytest.approx(8.25 * 0.2), 0.4)
    # Half of the CPU time is that of threads that go on by themselves; a thread draws 4 W and no more, Python's too.
    assert found["python"].detail == pytest.approx({"Python": 2.0, "threads of libraries": 2.0})
    assert found["python"].joules == pytest.approx(4.0)
    assert found["unexplained"].joules == pytest.approx(8.25 * 0.8 - 4.0)
    assert sum(share.joules for share in found.values()) == pytest.approx(20.0)
    calls = among_calls(events, part, events.site == 1)
    assert calls.outside_joules == pytest.approx(20.0 - 6.75)


def test_the_first_call_stands_apart() -> None:
    events = Events.of(site=[0, 0, 0, 1], start=[0, 10, 20, 30], end=[8, 11, 21, 40])
    part = attributed([8.0, 1.0, 2.0, 5.0], events, 16.0)
    firsts, later = firsts_and_later(events, [part])
    assert set(firsts) == set(later) == {0}, "a single call is no first one"
    assert firsts[0].joules == 8.0
    assert later[0].total.value == 1.5
