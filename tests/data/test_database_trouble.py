"""Files that cannot be used: one sentence that says what to do, status 2, and the file as it was."""

from __future__ import annotations

import ctypes
import random
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from energy_data.database.database import Database
from energy_data.database.migrations import APPLICATION_ID
from energy_data.database.store import EnergyStore
from energy_data.model import Measurement, RuleEvidence, Run
from energy_data.problems import DatabaseProblem

Invoke = Callable[..., Result]

COMMANDS = {
    "info": ["info"],
    "lookup": ["lookup", "tf.constant"],
    "export": ["export"],
    "merge": ["merge", "OTHER"],
    "prune": ["prune", "--keep", "1"],
    "greenlight": ["import", "greenlight", "FOLDER"],
    "jsonl": ["import", "jsonl", "LINES"],
}


@pytest.fixture
def good(tmp_path: Path, run: Callable[..., Run], measurement: Callable[..., Measurement]) -> Path:
    path = tmp_path / "good.db"
    with Database.open(path) as database:
        database.add_run(run(), [measurement(line=line) for line in range(40)])
    return path


def arguments(name: str, folder: Path, good: Path) -> list[str]:
    lines = folder / "lines.jsonl"
    lines.write_text("")
    records = folder / "records"
    records.mkdir(exist_ok=True)
    (records / "a.json").write_text("[]")
    given = {"OTHER": str(good), "FOLDER": str(records), "LINES": str(lines)}
    return [given.get(part, part) for part in COMMANDS[name]]


def in_own_process(*arguments: str, before: Callable[[], None]) -> subprocess.CompletedProcess[str]:
    """The command in a process that has been crippled first."""
    script = "from energy_lsp.cli import main; main()"
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=before, timeout=60)


def assert_one_sentence(stderr: str, *parts: str) -> None:
    assert len(stderr.splitlines()) == 1, stderr
    assert stderr.endswith(".\n")
    for part in parts:
        assert part in stderr


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize(
    "content",
    [b"Dear reader, this is a letter. " * 200, b"SQLite format 3\x00" + b"\xff" * 5000],
    ids=["letter", "damaged"],
)
def test_a_file_that_is_not_a_database(
    tmp_path: Path, good: Path, energy_lsp: Invoke, name: str, content: bytes
) -> None:
    bad = tmp_path / "bad.db"
    bad.write_bytes(content)
    result = energy_lsp("db", *arguments(name, tmp_path, good), "--db", bad)
    assert result.exit_code == 2
    assert_one_sentence(result.stderr, str(bad), "not an energy database", "--db")
    assert bad.read_bytes() == content
    assert not list(tmp_path.glob("bad.db?*"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_database_of_another_program(tmp_path: Path, good: Path, energy_lsp: Invoke, name: str) -> None:
    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE recipes (title)")
    connection.close()
    before = foreign.read_bytes()
    result = energy_lsp("db", *arguments(name, tmp_path, good), "--db", foreign)
    assert result.exit_code == 2
    assert_one_sentence(result.stderr, str(foreign), "not an energy database")
    assert foreign.read_bytes() == before


@pytest.mark.parametrize("name", COMMANDS)
def test_a_newer_schema(tmp_path: Path, good: Path, energy_lsp: Invoke, name: str) -> None:
    newer = tmp_path / "newer.db"
    connection = sqlite3.connect(newer)
    connection.execute("CREATE TABLE runs (id, what_we_do_not_know_yet)")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = newer.read_bytes()
    result = energy_lsp("db", *arguments(name, tmp_path, good), "--db", newer)
    assert result.exit_code == 2
    assert_one_sentence(result.stderr, str(newer), "newer energy-lsp (schema 99", "upgrade energy-lsp")
    assert newer.read_bytes() == before
    store = EnergyStore.open(newer, strict=False)
    assert store.lookup("tf.constant").source == "published"  # type: ignore[union-attr]
    assert len(store.problems) == 1


@pytest.mark.parametrize("content", [b"not a database at all" * 100, None], ids=["letter", "missing"])
def test_merging_a_bad_file_leaves_no_new_database_behind(
    tmp_path: Path, energy_lsp: Invoke, content: bytes | None
) -> None:
    if content:
        (tmp_path / "other.db").write_bytes(content)
    result = energy_lsp("db", "merge", tmp_path / "other.db", "--db", tmp_path / "new.db")
    assert result.exit_code == 2
    assert_one_sentence(result.stderr, "other.db")
    assert not (tmp_path / "new.db").exists()


def test_a_folder_in_place_of_a_file(tmp_path: Path, energy_lsp: Invoke) -> None:
    result = energy_lsp("db", "info", "--db", tmp_path)
    assert result.exit_code == 2
    assert_one_sentence(result.stderr, "is a folder, not a database")


def test_a_locked_database(tmp_path: Path, good: Path, energy_lsp: Invoke) -> None:
    other = tmp_path / "other.db"
    Database.open(other).close()
    before = good.read_bytes()
    holder = sqlite3.connect(good, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    result = energy_lsp("db", "merge", other, "--db", good, "--wait", "0.2")
    holder.execute("ROLLBACK")
    holder.close()
    assert result.exit_code == 2
    assert_one_sentence(result.stderr, f"{good} is locked by another program", "--wait")
    assert good.read_bytes() == before


def as_an_ordinary_user() -> None:
    """Lose root's right to write where permissions forbid it (CAP_DAC_OVERRIDE), as far as we have it."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.parametrize("existing", [True, False], ids=["existing", "new"])
def test_a_read_only_folder(tmp_path: Path, good: Path, existing: bool) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    file = folder / "energy.db"
    if existing:
        file.write_bytes(good.read_bytes())
        file.chmod(0o444)
    folder.chmod(0o555)
    try:
        result = in_own_process("db", "merge", str(good), "--db", str(file), before=as_an_ordinary_user)
        found = in_own_process(
            "db", "lookup", "keras.Sequential.fit", "--db", str(file), before=as_an_ordinary_user
        )
        left = [path.name for path in folder.iterdir()]
    finally:
        folder.chmod(0o755)
    assert result.returncode == 2
    assert_one_sentence(result.stderr, str(file), "read-only", "--db")
    assert left == (["energy.db"] if existing else [])
    assert not existing or file.read_bytes() == good.read_bytes()
    assert found.returncode == 0, "reading needs no permission to write"
    assert ("Measured here" in found.stdout) == existing


@pytest.mark.parametrize("existing", [True, False], ids=["existing", "new"])
def test_a_full_disk(
    tmp_path: Path,
    good: Path,
    run: Callable[..., Run],
    measurement: Callable[..., Measurement],
    existing: bool,
) -> None:
    """A limit on the size of files: writes beyond it fail as they do on a full disk."""
    large, target = tmp_path / "large.db", tmp_path / "target.db"
    with Database.open(large) as database:
        database.add_run(run(id="large"), [measurement(line=line) for line in range(3000)])
    if existing:
        target.write_bytes(good.read_bytes())
    room = 200_000 if existing else 20_000

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    result = in_own_process("db", "merge", str(large), "--db", str(target), before=limited)
    assert result.returncode == 2
    assert_one_sentence(result.stderr, str(target), "disk is full", "try again")
    if existing:
        assert target.read_bytes() == good.read_bytes()
        with Database.open(target) as database:
            assert [run.id for run in database.runs()] == ["run-1"]
    else:
        with Database.open(target) as database:  # there is room again
            assert database.runs() == []


def test_an_export_to_a_full_disk(tmp_path: Path, good: Path) -> None:
    older = tmp_path / "export.jsonl"
    older.write_text("an older export")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    result = in_own_process("db", "export", str(older), "--db", str(good), before=limited)
    assert result.returncode == 2
    assert_one_sentence(result.stderr, str(older), "name another file")
    assert older.read_text() == "an older export"
    assert [path.name for path in tmp_path.glob(".export*")] == []


def test_text_from_a_database_reaches_the_terminal_as_text(
    tmp_path: Path, run: Callable[..., Run], measurement: Callable[..., Measurement], energy_lsp: Invoke
) -> None:
    hostile = "evil\x1b[31m\x1b]8;;command:x\x07 [bold]x[/bold] \u202e\nsecond line"
    machine = run().machine
    bad = type(machine)(hostile, "", 0, "", "")
    with Database.open(tmp_path / "a.db") as database:
        database.add_run(run(machine=bad, meter=hostile), [measurement(api="my." + hostile)])
    outputs = [
        energy_lsp("db", "info", "--db", tmp_path / "a.db").stdout,
        energy_lsp("db", "lookup", "my." + hostile, "--db", tmp_path / "a.db").stdout,
        energy_lsp("db", "lookup", "other." + hostile, "--db", tmp_path / "a.db").stderr,
    ]
    for output in outputs:
        assert "evil" in output
        assert not any(character in output for character in "\x1b\x07\u202e")
        assert "\nsecond" not in output
    assert "[bold]x[/bold]" in outputs[1]


@pytest.mark.parametrize("seed", range(4))
def test_damage_anywhere_in_a_file_is_a_layer_left_out_or_an_answer(
    tmp_path: Path, good: Path, evidence: RuleEvidence, seed: int
) -> None:
    """Bytes overwritten at random: the server's store answers, and the command line says what is wrong."""
    with Database.open(good) as database:
        database.add_evidence([evidence])
    generator = random.Random(seed)
    whole = good.read_bytes()
    problems = 0
    for number in range(40):
        damaged = bytearray(whole)
        for _ in range(generator.randint(1, 30)):
            place = generator.randrange(len(damaged))
            damaged[place : place + 8] = generator.randbytes(8)
        path = tmp_path / f"damaged-{number}.db"
        path.write_bytes(bytes(damaged[: len(whole)]))
        store = EnergyStore.open(path, strict=False)
        assert store.lookup("keras.Sequential.fit", file="train.py", line=12) is not None
        store.evidence(evidence.rule)
        store.close()
        problems += len(store.problems)
        try:
            with Database.read(path) as database:
                for run in database.runs():
                    database.measurements(run.id)
        except DatabaseProblem:
            problems += 1
    assert problems > 0
