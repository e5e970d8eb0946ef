"""Energy of a call is split among what ran in it, and nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from energy_measure.attribution.events import Events
from energy_measure.attribution.solver import DeviceAttribution
from energy_measure.injected.inside import reader
from energy_measure.inside.account import CallAccount, Metered, call_accounts
from energy_measure.inside.looking import InsideRun
from energy_measure.inside.overhead import Overhead
from energy_measure.inside.parts import combine_parts, inside_note
from energy_measure.inside.recorded import LayerRecord, OperationRecord, Place, Recorded, Session
from energy_measure.inside.sparse import sparse_similarity
from energy_measure.inside.splitting import Activity, Density, is_loaded, joined

MS = 1_000_000
SECOND = 1000 * MS


def attribution(joules: list[float]) -> DeviceAttribution:
    values = np.array(joules)
    nothing = np.zeros_like(values)
    return DeviceAttribution(
        "cpu",
        values,
        nothing,
        values,
        nothing,
        nothing,
        nothing,
        nothing,
        nothing + 1.0,
        sum(joules),
        0.0,
        0.0,
    )


def recorded(
    rows: list[tuple[int, ...]], steps: list[tuple[int, ...]], until: int, cpu_ns: int = 0
) -> Recorded:
    """Two layers, `a` and `b`, each with one operation; a window up to `until`."""
    found = Recorded()
    found.layers = {
        1: LayerRecord("Dense", Place("model.py", 3, "<module>"), "net/a"),
        2: LayerRecord("Dense", Place("model.py", 4, "<module>"), "net/b"),
    }
    found.graphs = ["__inference_step_1"]
    found.operations = {
        "net/a/MatMul": [OperationRecord(0, 1, "", "", -1)],
        "net/b/MatMul": [OperationRecord(0, 2, "", "", -1)],
        "gradient_tape/net/a/MatMul": [OperationRecord(0, 1, "net/a/MatMul", "backward", -1)],
    }
    found.names = ["net/a/MatMul:MatMul", "net/b/MatMul:MatMul", "gradient_tape/net/a/MatMul:MatMul"]
    found.functions = {0: "__inference_step_1"}
    found.sessions = [Session(0, 0, until, until, cpu_ns)]
    found.rows = np.array(rows, np.int64)
    found.steps = np.array(steps, np.int64)
    return found


def row(name: int, instance: int, start: int, end: int, kind: int = reader.OPERATION) -> tuple[int, ...]:
    return 0, name, kind, instance, start * MS, end * MS, 0


def step(start: int, end: int) -> tuple[int, ...]:
    return 0, start * MS, end * MS, 1, 1


def level(watts: list[float], each: int = 100) -> Density:
    return Density(np.arange(len(watts) + 1) * each * MS, np.array(watts))


def test_each_window_is_split_among_what_is_active_in_it() -> None:
    # Window of 100 ms at 10 W: a alone; window at 20 W: a and b together for half of it, then nothing.
    rows = [row(0, 1, 0, 100), row(0, 2, 100, 150), row(1, 3, 100, 150)]
    process = recorded(rows, [step(0, 200)], 200 * MS)
    events = Events.of([0], [0], [200 * MS])
    account = call_accounts([process], events, [Metered(attribution([3.0]), level([10.0, 20.0]))])[0]
    found = {part.origin.path: part.joules for part in account.parts.values()}
    assert found["net/a"] == pytest.approx(1.0 + 0.5)
    assert found["net/b"] == pytest.approx(0.5)
    assert found["TensorFlow runtime and Python"] == pytest.approx(1.0)
    assert sum(found.values()) == pytest.approx(3.0, rel=1e-12)


def test_threads_that_work_for_an_operation_do_not_count_twice() -> None:
    rows = [
        row(0, 1, 0, 100),
        row(0, 1, 0, 100, reader.WORKER),
        row(0, 1, 50, 100, reader.WORKER),
        row(1, 2, 0, 100),
    ]
    process = recorded(rows, [step(0, 100)], 100 * MS)
    events = Events.of([0], [0], [100 * MS])
    parts = call_accounts([process], events, [Metered(attribution([1.0]), level([10.0]))])[0].parts
    assert parts["net/a", "forward"].joules == pytest.approx(parts["net/b", "forward"].joules)


def test_windows_stand_for_the_steps_that_were_not_looked_at() -> None:
    # Steps of 100 ms; three of ten are looked at. The first one is only a, later ones half a, half b.
    rows = [row(0, 1, 0, 100)]
    for number in (1, 2):
        rows += [
            row(0, 10 + number, number * 100, number * 100 + 50),
            row(1, 20 + number, number * 100 + 50, number * 100 + 100),
        ]
    process = recorded(rows, [step(n * 100, n * 100 + 100) for n in range(10)], 300 * MS)
    events = Events.of([0], [0], [SECOND])
    account = call_accounts([process], events, [Metered(attribution([10.0]), level([10.0] * 10))])[0]
    a, b = account.parts["net/a", "forward"], account.parts["net/b", "forward"]
    assert a.joules == pytest.approx(1.0 + 4.5)
    assert b.joules == pytest.approx(4.5)
    assert (a.count, a.observed) == (10, 3)
    assert account.looked_at == pytest.approx(0.3)


def test_on_a_loaded_machine_the_least_time_of_an_operation_weighs() -> None:
    # a takes 10 ms, and once 90 because others had the CPU; b takes 10 always. The process got 40 ms of CPU.
    rows = [row(0, 1, 0, 10), row(1, 2, 10, 20), row(0, 3, 100, 190), row(1, 4, 190, 200)]
    events = Events.of([0], [0], [200 * MS])
    device = Metered(attribution([2.0]), level([10.0, 10.0]))
    for cpu_ns, calm in ((200 * MS, True), (40 * MS, False)):
        process = recorded(rows, [step(0, 20), step(100, 200)], 200 * MS, cpu_ns)
        account = call_accounts([process], events, [device])[0]
        ratio = account.parts["net/a", "forward"].joules / account.parts["net/b", "forward"].joules
        assert account.loaded is not calm
        assert (ratio > 3.0) is calm
        assert sum(part.joules for part in account.parts.values()) == pytest.approx(2.0)


def test_gradients_are_the_layers_backward_pass_at_its_line() -> None:
    process = recorded([row(0, 1, 0, 40), row(2, 2, 40, 100)], [step(0, 100)], 100 * MS)
    account = call_accounts(
        [process], Events.of([0], [0], [100 * MS]), [Metered(attribution([1.0]), level([10.0]))]
    )[0]
    part = account.parts["net/a", "backward"]
    assert part.joules == pytest.approx(0.6)
    assert (part.origin.file, part.origin.line) == ("model.py", 3)


def test_parts_of_several_runs_add_up_to_the_call() -> None:
    process = recorded([row(0, 1, 0, 40), row(1, 2, 40, 70)], [step(0, 100)], 100 * MS)
    events = Events.of([0], [0], [100 * MS])
    runs = [
        call_accounts([process], events, [Metered(attribution([joules]), level([10.0]))])[0]
        for joules in (0.9, 1.0, 1.3)
    ]
    parts = combine_parts(runs, 1.05, 0.1)
    assert sum(part.joules for part in parts) == pytest.approx(1.05, rel=1e-12)
    assert sum(part.share for part in parts) == pytest.approx(1.0)
    assert all(part.interval.low <= part.joules <= part.interval.high for part in parts)


def test_what_looking_cost_is_no_part_of_the_call() -> None:
    events = Events.of([4, 8], [0, 2 * SECOND], [SECOND, 3 * SECOND])
    overhead = Overhead(events, [(100 * MS, 300 * MS)])
    assert len(overhead.events) == 3
    place = int(np.flatnonzero(overhead.events.parent >= 0)[0])
    joules = np.where(overhead.events.parent >= 0, 2.0, 10.0)
    found = overhead.without(replace(attribution(joules.tolist()), program_joules=25.0))
    assert overhead.events.parent[place] == 0
    assert found.joules.tolist() == [8.0, 10.0]
    assert found.program_joules == 23.0
    assert overhead.corrected().busy.tolist() == [800 * MS, SECOND]


def test_a_run_that_could_not_be_looked_into_says_why() -> None:
    run = InsideRun(notes=("The program uses TensorFlow's profiler itself.",))
    assert inside_note("auto", [run]) == "The program uses TensorFlow's profiler itself."
    assert "off" in inside_note("off", [])
    looked = InsideRun({0: CallAccount(1.0, {}, 1.0, loaded=False, whole=True)})
    assert inside_note("auto", [looked]) == "Every step was profiled: the run was short."
    assert "came to its end" in inside_note("auto", [looked], listed=False)


def test_lines_of_a_notebook_are_those_of_the_cell() -> None:
    process = recorded([], [], 0)
    process.layers = {1: LayerRecord("Dense", Place("<study.ipynb cell 4>", 2, "<module>"), "net/a")}
    process.rename(lambda file: ("study.ipynb", 10))
    place = process.layers[1].place
    assert place is not None
    assert (place.line, place.as_json()) == (12, {"file": "study.ipynb", "line": 2, "cell": 4})


def test_sparser_samples_keep_the_energy_and_lose_the_detail() -> None:
    power = level([10.0, 0.0, 10.0, 0.0, 5.0])
    fewer = power.sparser(2)
    assert fewer.joules() == pytest.approx(power.joules())
    assert fewer.watts.tolist() == [5.0, 5.0, 5.0]
    rows = [row(0, 1, 0, 100), row(1, 2, 100, 200)]
    process, events = recorded(rows, [step(0, 400)], 400 * MS), Events.of([0], [0], [400 * MS])
    devices = [Metered(attribution([1.0]), level([10.0, 1.0, 10.0, 1.0]))]
    accounts = call_accounts([process], events, devices)
    found = sparse_similarity([process], events, devices, accounts)
    assert found["2"] < 0.99


def test_what_comes_before_a_first_step_is_not_taken_for_what_lies_between_steps() -> None:
    # 400 ms of building a graph, then steps of 100 ms with gaps of 100 ms in which the input pipeline works.
    rows = [row(0, n, start, start + 100) for n, start in enumerate((400, 600, 800))]
    rows += [row(3, 10 + n, start, start + 100, reader.INPUT) for n, start in enumerate((500, 700))]
    process = recorded(rows, [step(400, 500), step(600, 700), step(800, 900)], 900 * MS)
    process.names.append("Iterator::Root::Map")
    process.sessions = [replace(process.sessions[0], began=400 * MS, opened=400 * MS)]
    events = Events.of([0], [0], [SECOND])
    account = call_accounts([process], events, [Metered(attribution([10.0]), level([10.0] * 10))])[0]
    assert account.parts["tf.data/Map", "input"].joules == pytest.approx(2.0)
    assert account.parts["TensorFlow runtime and Python", "runtime"].joules == pytest.approx(5.0)
    assert (account.parts["tf.data/Map", "input"].count, account.whole) == (2, True)
    traced = call_accounts(
        [process],
        events,
        [Metered(attribution([10.0]), level([10.0] * 10))],
        joined([(100 * MS, 400 * MS), (650 * MS, 660 * MS)]),
    )[0]
    assert traced.parts["building graphs (tracing)", "runtime"].joules == pytest.approx(3.0)
    assert traced.parts["TensorFlow runtime and Python", "runtime"].joules == pytest.approx(2.0)


def test_layers_with_loops_are_counted_by_what_is_outside_of_the_loop() -> None:
    process = recorded(
        [row(0, 1, 0, 10), *(row(1, 2 + n, 10 + n, 11 + n) for n in range(12))], [step(0, 100)], 100 * MS
    )
    process.operations = {
        "net/a/transpose": [OperationRecord(0, 1, "", "", -1)],
        "net/a/while/MatMul": [OperationRecord(0, 1, "", "", -1)],
    }
    process.names = ["net/a/transpose:Transpose", "net/a/while/body/_9/net/a/while/MatMul:MatMul"]
    events = Events.of([0], [0], [100 * MS])
    parts = call_accounts([process], events, [Metered(attribution([1.0]), level([10.0]))])[0].parts
    assert parts["net/a", "forward"].count == 1


def test_raw_operations_of_different_lines_are_told_apart() -> None:
    process = recorded([row(0, 1, 0, 50), row(1, 2, 50, 100)], [step(0, 100)], 100 * MS)
    process.places = {0: Place("model.py", 7, "f"), 1: Place("model.py", 9, "f")}
    process.operations = {
        "MatMul": [OperationRecord(0, 0, "", "", 0)],
        "MatMul_1": [OperationRecord(0, 0, "", "", 1)],
    }
    process.names = ["MatMul:_MklMatMul", "MatMul_1:_MklMatMul"]
    events = Events.of([0], [0], [100 * MS])
    parts = call_accounts([process], events, [Metered(attribution([1.0]), level([10.0]))])[0].parts
    lines = {part.origin.path: part.origin.line for part in parts.values() if part.origin.line}
    assert lines == {"f/line 7/MatMul": 7, "f/line 9/MatMul": 9}


def test_executions_that_wait_now_and_then_tell_a_busy_machine_though_operations_have_little_of_its_time() -> (
    None
):
    """Ten short operations of one name; two of them were kept waiting. The process used far more CPU time beside them."""

    def rows(lengths: list[int]) -> np.ndarray:
        starts = np.cumsum([0, *lengths[:-1]]) + 1000 * np.arange(len(lengths))
        found = [
            [0, 0, reader.OPERATION, number, start, start + length]
            for number, (start, length) in enumerate(zip(starts.tolist(), lengths, strict=True))
        ]
        return np.array([row + [0] * (len(reader.COLUMNS) - len(row)) for row in found])

    def loaded(lengths: list[int]) -> bool:
        found = rows(lengths)
        return is_loaded(found, Activity.of(found, np.zeros(len(found), np.int64)), 10_000.0)

    assert not loaded([10] * 10)
    assert loaded([10] * 8 + [100, 200])
    assert not loaded([1000] + [10] * 9), "an operation's first execution says nothing"
    assert not loaded([10, 10, 500]), "nor do a few"
