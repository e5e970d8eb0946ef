"""A database or an export of others is data: it ends in one sentence, and nothing in it is computed or changed."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from energy_data.database.database import Database
from energy_data.database.guard import is_plain
from energy_data.database.store import EnergyStore
from energy_data.exchange import checking, interchange
from energy_data.exchange.interchange import BadLine, export_lines, import_lines, merge
from energy_data.model import (
    Environment,
    InputSignature,
    Machine,
    Measurement,
    MeterInfo,
    Part,
    Phase,
    Quantity,
    Run,
    Trace,
)
from energy_data.problems import DatabaseProblem
from energy_lsp.cli import main

API = "keras.Sequential.fit"
FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def a_run(name: str = "run", **changes: object) -> Run:
    fields: dict[str, object] = {
        "id": name,
        "machine": Machine(
            "cpu", "", 1, "os", "", (MeterInfo("rapl", ("cpu",), 0.001, 1e-5, estimated=False),)
        ),
        "environment": Environment("3.11", "2.21", "3.15"),
        "command": "python train.py",
        "started": "2026-05-01T10:00:00Z",
        "meter": "rapl",
        "estimated": False,
        "stable": True,
        "commit": "",
        "project": "proj",
        "temperatures": {"cpu": 41.5},
        "seconds": 1.0,
        "joules": {"cpu": Quantity(3.0, 0.1)},
        "unaccounted_joules": 1.0,
    }
    return Run(**{**fields, **changes})  # type: ignore[arg-type]


def a_measurement(api: str = API, file: str = "train.py", joules: float = 3.0, text: str = "") -> Measurement:
    signature = InputSignature(("float32[2]",), 8)
    return Measurement(
        id="", run_id="", api=api, file=file, line=1, signature=signature, seconds=1.0,
        joules={"cpu": Quantity(joules, 0.1)}, count=1, repeats=5, resolved=True, method="in place", text=text,
    )  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "energy.db"
    with Database.open(path) as database:
        database.add_run(a_run(), [a_measurement()], [Trace("", "cpu", (0.0, 1.0), (1.0, 2.0))])
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return path


@pytest.fixture
def team(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database that a checkout brings along."""
    monkeypatch.setenv("ENERGY_LSP_DB", str(tmp_path / "own.db"))
    path = tmp_path / "proj" / ".energy" / "energy.db"
    path.parent.mkdir(parents=True)
    shutil.copy(sound, path)
    return path


def spoil(path: Path, *statements: str, **values: object) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement, values)
    connection.commit()
    connection.close()


def rewrite_schema(path: Path, table: str, old: str, new: str) -> None:
    """Forge the text of a table's schema, as nobody's CREATE would store it."""
    spoil(
        path,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}') WHERE name = '{table}'",
    )


def refused_everywhere(team: Path) -> str:
    """What each reader says of a team's file; the file and its folder stay as they are."""
    before, folder = team.read_bytes(), sorted(team.parent.iterdir())
    project = team.parent.parent
    said = []
    for arguments in (
        ["db", "info", "--project", project],
        ["db", "info", "--db", team],
        ["db", "merge", team],
    ):
        done = CliRunner().invoke(main, [str(argument) for argument in arguments])
        assert done.exit_code == 2, (arguments, done.output, done.exception)
        assert done.stderr.count("\n") == 1
        said.append(done.stderr)
    store = EnergyStore.open(None, project, strict=False)
    found = store.lookup(API, file="train.py", line=1)
    assert found is None or found.source == "published"
    store.close()
    assert team.read_bytes() == before
    assert sorted(team.parent.iterdir()) == folder
    return said[-1]


HIDDEN = "-- '\n , \"evil\" INTEGER AS (1) -- '\n"


@pytest.mark.parametrize(
    ("statements", "what"),
    [
        ([f"CREATE VIEW extra AS {FOREVER}"], "a view"),
        (["DROP TABLE summaries", f"CREATE VIEW summaries AS {FOREVER}"], "a view"),
        (["CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM machines; END"], "a trigger"),
        (["CREATE VIRTUAL TABLE f USING fts5(x)"], "a virtual table"),
        (["ALTER TABLE runs ADD COLUMN x INTEGER AS (abs(seconds))"], "computes something"),
        ([f'CREATE TABLE "x" ("a" INTEGER {HIDDEN})'], "computes something"),
        (['CREATE TABLE "x" ("a" INTEGER CHECK ("a"))'], "computes something"),
        (['CREATE TABLE "x" ("a" INTEGER DEFAULT (1 + 1))'], "computes something"),
        (['CREATE INDEX "i" ON "runs" ("seconds" + 1)'], "computes something"),
        (['CREATE INDEX "i" ON "runs" ("seconds") WHERE "seconds"'], "computes something"),
        ([f"CREATE TABLE x{number} (a)" for number in range(201)], "more tables"),
    ],
)  # fmt: skip
def test_a_schema_that_computes_is_refused(team: Path, statements: list[str], what: str) -> None:
    spoil(team, *statements)
    assert what in refused_everywhere(team)


@pytest.mark.parametrize("damage", ["CREATE VIEW v AS SELECT 1", "half"])
def test_checking_with_a_database_that_is_refused_is_one_warning(
    sound: Path, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "other.db"
    content = sound.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "half" else content)
    if damage != "half":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(damage)
    (tmp_path / "train.py").write_text("import tensorflow as tf\ntf.square(3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "energy_lsp", "check", "train.py", "--db", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert path.name in done.stderr


def test_a_quote_in_a_comment_hides_nothing() -> None:
    assert not is_plain("CREATE TABLE [t] ([a] TEXT, -- '\n [b] INTEGER AS (1) -- '\n)")
    assert not is_plain("CREATE TABLE [t] ([a] TEXT, /* ' */ [b] INTEGER AS (1) /* ' */)")
    assert is_plain("CREATE TABLE [t] ([a] TEXT DEFAULT '--', [b] INTEGER DEFAULT -1)")


def test_a_forged_schema_is_refused(team: Path) -> None:
    rewrite_schema(team, "runs", "[id] TEXT", "[id] TEXT COLLATE evil")
    rewrite_schema(team, "runs", '"id" TEXT', '"id" TEXT COLLATE evil')
    assert refused_everywhere(team)


def test_an_older_file_is_not_migrated_in_place(team: Path) -> None:
    spoil(team, "PRAGMA user_version = 1")  # it claims to be older than its tables
    before = team.read_bytes()
    for arguments in (["db", "info", "--project", str(team.parent.parent)], ["db", "merge", str(team)]):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code in (0, 2), done.exception
    assert team.read_bytes() == before
    assert os.listdir(team.parent) == ["energy.db"]


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("runs SET joules = :value", "[" * 100_000),
        ("runs SET started = :value", b"\xff\x00"),
        ("runs SET seconds = :value", float("inf")),
        ("runs SET project = :value", "x" * 2_000_000),
        ("measurements SET line = :value", "many"),
        ("measurements SET arguments = :value", '{"a": ['),
        ("measurements SET covers = :value", "everything"),
        ("measurements SET cpu_stderr = :value", 1e308),
        ("measurements SET api = CAST(:value AS TEXT)", b"\xff\xfe"),
        ("machines SET meters = :value", "[[1]]"),
        ("traces SET watts = :value", zlib.compress(bytes(200_000_000), 1)),
        ("traces SET watts = :value", b"no zlib"),
        ("runs SET machine_id = :value", "nowhere"),
    ],
)
def test_rows_that_nobody_measured_are_not_merged(
    team: Path, tmp_path: Path, change: str, value: object
) -> None:
    spoil(team, f"UPDATE {change}", value=value)
    before = team.read_bytes()
    with Database.open(tmp_path / "own.db") as own:
        with pytest.raises(DatabaseProblem, match=r"not merged|damaged|cannot be used"):
            merge(own, team)
        assert not any(own.counts().values())
    assert team.read_bytes() == before


def test_rows_of_a_file_do_not_point_into_ones_own_runs(team: Path, sound: Path, tmp_path: Path) -> None:
    shutil.copy(sound, tmp_path / "own.db")
    spoil(
        team,
        "PRAGMA foreign_keys = OFF",
        "UPDATE measurements SET id = id || 'x'",
        "DELETE FROM runs",
    )
    with Database.open(tmp_path / "own.db") as own:
        before = own.counts()
        with pytest.raises(
            DatabaseProblem, match="points at a machine, environment or run that is not there"
        ):
            merge(own, team)
        assert own.counts() == before


def test_more_columns_with_odd_names_are_not_merged(team: Path, tmp_path: Path) -> None:
    spoil(team, 'ALTER TABLE runs ADD COLUMN "a""; DROP TABLE runs; --" TEXT')
    with (
        Database.open(tmp_path / "own.db") as own,
        pytest.raises(DatabaseProblem, match="columns of a known"),
    ):
        merge(own, team)


def test_a_question_has_a_deadline(team: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("energy_data.database.source_database.LOOKUP_SECONDS", -1.0)
    monkeypatch.setattr("energy_data.database.guard.STEPS", 1)
    store = EnergyStore.open(None, team.parent.parent, strict=False)
    found = store.lookup(API, file="train.py", line=1)
    assert found is None or found.source == "published"
    assert any("too long" in str(problem) for problem in store.problems)
    store.close()


@pytest.mark.parametrize("ending", ["-wal", "-journal", "-shm"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_what_stands_beside_a_file_leads_nowhere(team: Path, tmp_path: Path, ending: str, kind: str) -> None:
    beside = team.with_name(team.name + ending)
    outside = tmp_path / "outside"
    outside.write_text("mine")
    if kind == "pipe":
        os.mkfifo(beside)
    else:
        beside.symlink_to(outside)
    assert "no regular file" in refused_everywhere(team)
    assert outside.read_text() == "mine"


def test_looking_leaves_nothing_beside_a_file(team: Path) -> None:
    spoil(team, "PRAGMA journal_mode = WAL")
    assert os.listdir(team.parent) == ["energy.db"]
    for arguments in (["--project", str(team.parent.parent)], ["--db", str(team)]):
        assert CliRunner().invoke(main, ["db", "info", *arguments]).exit_code == 0
        assert os.listdir(team.parent) == ["energy.db"]


HEAD = json.dumps({"table": "format", "format": interchange.FORMAT}) + "\n"


@pytest.mark.parametrize(
    "line",
    [
        "[" * 200_000,
        '{"table": "runs", "id": ' + "[" * 200_000,
        '{"table": ' + '{"a":' * 100_000,
        "1" * 5000,
        '{"table": ["runs"]}',
        '{"table": "runs", "id": 1e999}',
        "\x1b[2J",
    ],
)
def test_a_hostile_line_is_one_sentence(tmp_path: Path, line: str) -> None:
    export = tmp_path / "evil.jsonl"
    export.write_text(HEAD + line + "\n")
    done = CliRunner().invoke(main, ["db", "import", "jsonl", str(export), "--db", str(tmp_path / "own.db")])
    assert done.exit_code == 2, done.exception
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 1000
    assert "line 2" in done.stderr
    assert done.stderr.strip().isprintable()


def test_a_line_is_not_read_further_than_one_can_be_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("energy_data.exchange.interchange.LONGEST_LINE", 1000)
    monkeypatch.setattr("energy_lsp.cli.results.db.LONGEST_LINE", 1000)
    export = tmp_path / "long.jsonl"
    export.write_text(HEAD + "x" * 5_000_000)
    done = CliRunner().invoke(main, ["db", "import", "jsonl", str(export), "--db", str(tmp_path / "own.db")])
    assert done.exit_code == 2
    assert "longer than a row can be" in done.stderr


def test_a_bomb_in_an_export_is_refused(sound: Path) -> None:
    with Database.read(sound) as database:
        lines = list(export_lines(database))
    bomb = base64.b64encode(zlib.compress(bytes(200_000_000), 1)).decode()
    spoiled = [
        json.dumps({**json.loads(line), "watts": bomb}) if json.loads(line)["table"] == "traces" else line
        for line in lines
    ]
    with Database.scratch() as own:
        with pytest.raises(BadLine, match="longer than one can be"):
            import_lines(own, spoiled)
        assert not any(own.counts().values())


def test_gzip_is_no_export(tmp_path: Path) -> None:
    import gzip

    export = tmp_path / "all.jsonl.gz"
    export.write_bytes(gzip.compress(bytes(50_000_000), 1))
    done = CliRunner().invoke(main, ["db", "import", "jsonl", str(export), "--db", str(tmp_path / "own.db")])
    assert done.exit_code == 2
    assert "was not imported" in done.stderr


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.floats(min_value=-1e30, max_value=1e30)
amounts = st.floats(min_value=0, max_value=1e12)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts, texts, texts, amounts, st.lists(numbers, max_size=5), st.booleans())
def test_an_own_export_can_always_be_imported(
    text: str, api: str, file: str, joules: float, series: list[float], stable: bool
) -> None:
    names = {"command": text, "project": file, "error": text, "settings": {text: api}}
    series_of = {"temperature_series": {text: tuple((float(i), value) for i, value in enumerate(series))}}
    run = a_run(text, stable=stable or None, seconds=joules, **names, **series_of)
    trace = Trace("", "cpu", tuple(map(float, range(len(series)))), tuple(series))
    part = Part("", "", text, api, "forward", file, 1, joules, joules, 1, 1, None, None)  # type: ignore[call-arg]
    with tempfile.TemporaryDirectory() as folder, Database.scratch() as copy:
        with Database.open(Path(folder) / "a.db") as database:
            with database.transaction():
                database.put_run(
                    run,
                    [a_measurement(api, file, joules, text)],
                    [trace],
                    phases=[Phase("", text, joules, joules, {text: joules})],
                    parts=[part],
                )
            lines = list(export_lines(database))
        import_lines(copy, lines)
        assert list(export_lines(copy)) == lines
        with Database.open(Path(folder) / "b.db") as other:
            merge(other, Path(folder) / "a.db")
            assert list(export_lines(other)) == lines


def test_a_long_series_can_be_imported(tmp_path: Path) -> None:
    days = {"cpu": tuple((float(second), 41.5) for second in range(150_000))}
    with Database.open(tmp_path / "a.db") as database, Database.scratch() as copy:
        database.add_run(a_run(temperature_series=days))
        lines = list(export_lines(database))
        assert max(map(len, lines)) > checking.LONGEST_TEXT
        import_lines(copy, lines)
        assert list(export_lines(copy)) == lines


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "nothing"])
def test_an_export_is_a_regular_file(tmp_path: Path, kind: str) -> None:
    export = tmp_path / "all.jsonl"
    if kind == "pipe":
        os.mkfifo(export)
    elif kind == "device":
        export.symlink_to("/dev/zero")
    elif kind == "folder":
        export.mkdir()
    own = tmp_path / "own.db"
    done = CliRunner().invoke(main, ["db", "import", "jsonl", str(export), "--db", str(own)])
    assert done.exit_code == 2, done.exception
    assert "is not imported" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not own.exists()


def test_an_export_may_come_through_standard_input(sound: Path, tmp_path: Path) -> None:
    export = CliRunner().invoke(main, ["db", "export", "--db", str(sound)]).stdout
    command = ["db", "import", "jsonl", "-", "--db", str(tmp_path / "own.db")]
    done = CliRunner().invoke(main, command, input=export)
    assert done.exit_code == 0, done.output
    assert "1 run" in done.stdout
