"""Export, import and merge keep every measurement once, whatever the way and the order."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from energy_data.database.database import Database
from energy_data.database.store import EnergyStore
from energy_data.exchange.interchange import BadLine, export_lines, import_lines, merge
from energy_data.model import CallSpan, Measurement, Quantity, RuleEvidence, Run, Trace

MakeRun = Callable[..., Run]
MakeMeasurement = Callable[..., Measurement]
Invoke = Callable[..., Result]

APIS = ("keras.Sequential.fit", "tensorflow.constant", "tensorflow.linalg.matmul")


@pytest.fixture
def filled(tmp_path: Path, run: MakeRun, measurement: MakeMeasurement, evidence: RuleEvidence) -> Path:
    path = tmp_path / "filled.db"
    with Database.open(path) as database:
        odd = measurement(file='dir/ünïcode "quoted".py', joules={"cpu": Quantity(1 / 3, 1e-17)})
        trace = Trace("", "cpu", (0.0, 0.1), (1.5, 2.5))
        span = CallSpan("", "keras.Sequential.fit", "train.py", 12, 1, 0.0, 1.0)
        database.add_run(run(), [measurement(), odd], [trace], [span])
        database.add_run(run(id="run-2", stable=None, joules={}), [measurement(resolved=False)])
        database.add_evidence([evidence])
    return path


def lines_of(path: Path) -> list[str]:
    with Database.read(path) as database:
        return list(export_lines(database))


def answers(path: Path) -> list[object]:
    store = EnergyStore.open(path)
    places: list[dict[str, object]] = [{}, {"file": "a.py", "line": 1}, {"file": "b.py", "line": 2}]
    return [store.lookup(api, **place) for api in APIS for place in places]  # type: ignore[arg-type]


def test_an_export_comes_back_the_same(filled: Path, tmp_path: Path, energy_lsp: Invoke) -> None:
    exported = tmp_path / "all.jsonl"
    assert energy_lsp("db", "export", exported, "--db", filled).exit_code == 0
    result = energy_lsp("db", "import", "jsonl", exported, "--db", tmp_path / "copy.db")
    assert result.stdout == "Added 2 runs, 3 measurements, 1 power trace, 1 comparison of rules.\n"
    assert lines_of(tmp_path / "copy.db") == lines_of(filled) == exported.read_text().splitlines()
    assert answers(tmp_path / "copy.db") == answers(filled)
    again = energy_lsp("db", "import", "jsonl", "-", "--db", tmp_path / "copy.db", input=exported.read_text())
    assert again.stdout == "Added 0 runs, 0 measurements, 0 power traces, 0 comparisons of rules.\n"


def test_an_export_to_standard_output_is_the_same(filled: Path, energy_lsp: Invoke) -> None:
    assert energy_lsp("db", "export", "--db", filled).stdout.splitlines() == lines_of(filled)


def spoiled(lines: Sequence[str], table: str, **changes: object) -> list[str]:
    """The export with one row of a table changed."""
    number = next(i for i, line in enumerate(lines) if json.loads(line)["table"] == table)
    return [*lines[:number], json.dumps({**json.loads(lines[number]), **changes}), *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda lines: [], "it is empty"),
        (lambda lines: lines[1:], "line 1: it does not begin as an export"),
        (lambda lines: [*lines, "{"], "line 12 is not a row of an export"),
        (lambda lines: [*lines, "[]"], "line 12 is not a row of an export"),
        (lambda lines: [*lines, '{"table": "sqlite_master"}'], "line 12: it does not hold the columns"),
        (lambda lines: spoiled(lines, "measurements", seconds="long"), "'seconds' is not a number"),
        (lambda lines: spoiled(lines, "measurements", api=None), "'api' is not a text"),
        (lambda lines: spoiled(lines, "measurements", extra=1), "it does not hold the columns"),
        (lambda lines: spoiled(lines, "measurements", arguments="["), "is not a row of an export"),
        (
            lambda lines: spoiled(lines, "measurements", seconds=float("nan")),
            "'seconds' is not a finite number",
        ),
        (lambda lines: spoiled(lines, "measurements", line=2**70), "a value cannot be stored"),
        (lambda lines: spoiled(lines, "measurements", file="\ud800"), "a value cannot be stored"),
        (lambda lines: spoiled(lines, "machines", meters="[5]"), "is not a row of an export"),
        (lambda lines: spoiled(lines, "runs", joules="[1, 2]"), "is not a row of an export"),
        (lambda lines: spoiled(lines, "measurements", run_id="nowhere"), "points at a machine"),
        (lambda lines: spoiled(lines, "traces", watts="%%"), "is not a row of an export"),
        (lambda lines: spoiled(lines, "traces", watts="QUJD"), "is not a row of an export"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(
    filled: Path, tmp_path: Path, spoil: Callable[[list[str]], list[str]], reason: str
) -> None:
    with Database.open(tmp_path / "copy.db") as database:
        with pytest.raises(BadLine, match=reason):
            import_lines(database, spoil(lines_of(filled)))
        assert set(database.counts().values()) == {0}


def test_a_bad_file_is_one_sentence_and_status_2(tmp_path: Path, energy_lsp: Invoke) -> None:
    (tmp_path / "bad.jsonl").write_text("hello")
    result = energy_lsp("db", "import", "jsonl", tmp_path / "bad.jsonl")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        f"{tmp_path}/bad.jsonl was not imported: line 1 is not a row of an export"
    )
    assert len(result.stderr.splitlines()) == 1


def test_merging_keeps_every_measurement_once(filled: Path, tmp_path: Path, energy_lsp: Invoke) -> None:
    before = filled.read_bytes()
    first = energy_lsp("db", "merge", filled, "--db", tmp_path / "all.db")
    again = energy_lsp("db", "merge", filled, "--db", tmp_path / "all.db")
    assert first.stdout == "Added 2 runs, 3 measurements, 1 power trace, 1 comparison of rules.\n"
    assert again.stdout == "Added 0 runs, 0 measurements, 0 power traces, 0 comparisons of rules.\n"
    assert lines_of(tmp_path / "all.db") == lines_of(filled)
    assert filled.read_bytes() == before


runs_of_files = st.lists(
    st.lists(  # one database: its runs, by number, each after some repeats and with some measurements
        st.tuples(
            st.integers(0, 5),
            st.integers(1, 3),
            st.lists(
                st.tuples(
                    st.sampled_from(APIS),
                    st.sampled_from((("a.py", 1), ("b.py", 2))),
                    st.floats(0, 100),
                    st.booleans(),
                ),
                max_size=4,
            ),
        ),
        max_size=4,
        unique_by=lambda numbered: numbered[0],
    ),
    min_size=2,
    max_size=3,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=runs_of_files, data=st.data())
def test_the_order_of_merging_does_not_matter(
    files: list[list[tuple[int, int, list[tuple[str, tuple[str, int], float, bool]]]]],
    data: st.DataObject,
    run: MakeRun,
    measurement: MakeMeasurement,
) -> None:
    """Files may share runs, in the same state or in states of fewer and more repeats."""
    contents: dict[tuple[int, int], list[Measurement]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, runs in enumerate(files):
            with Database.open(folder / f"{number}.db") as database:
                for run_number, repeats, calls in runs:
                    made = [
                        measurement(
                            api=api,
                            file=file,
                            line=line,
                            joules={"cpu": Quantity(joules, 0.5)},
                            resolved=resolved,
                            repeats=repeats,
                        )
                        for api, (file, line), joules, resolved in calls
                    ]
                    same = contents.setdefault((run_number, repeats if made else 0), made)
                    started = f"2026-05-0{1 + run_number % 3}T00:00:00Z"
                    database.add_run(run(id=f"run-{run_number}", started=started), same)
        orders = list(permutations(range(len(files))))
        results = {merged(folder, order) for order in data.draw(st.permutations(orders))[:3]}
        latest = {run_number: max(r for n, r in contents if n == run_number) for run_number, _ in contents}
        everything = sum(len(contents[state]) for state in latest.items())
        assert len(results) == 1
        assert results.pop()[0].count('"table": "measurements"') == everything


def merged(folder: Path, order: Iterable[int]) -> tuple[str, str]:
    """All files merged in this order: their content and what look-ups then say."""
    path = folder / ("all-" + "-".join(map(str, order)) + ".db")
    with Database.open(path) as database:
        for number in order:
            merge(database, folder / f"{number}.db")
            merge(database, folder / f"{number}.db")
    return "\n".join(lines_of(path)), repr(answers(path))


def test_what_was_merged_answers_as_if_it_had_been_measured_in_one_file(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    runs = [run(id=f"run-{day}", started=f"2026-05-0{day}T00:00:00Z") for day in (1, 2, 3)]
    calls = [
        measurement(api=APIS[0], file="a.py", line=1, joules={"cpu": Quantity(d, 0.1)})
        for d in (1.0, 2.0, 3.0)
    ]
    with Database.open(tmp_path / "one.db") as one:
        for number, (a_run, call) in enumerate(zip(runs, calls, strict=True)):
            one.add_run(a_run, [call])
            with Database.open(tmp_path / f"part-{number}.db") as part:
                part.add_run(a_run, [call])
    with Database.open(tmp_path / "all.db") as database:
        for number in (2, 0, 1):
            merge(database, tmp_path / f"part-{number}.db")
    assert answers(tmp_path / "all.db") == answers(tmp_path / "one.db")
