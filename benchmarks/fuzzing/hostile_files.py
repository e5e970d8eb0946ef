"""Databases, exports, settings, folders, notebooks and projects made at random: nothing raises, hangs or is changed.

An edit of a notebook or a project gives what a fresh reading gives.

    python benchmarks/fuzzing/hostile_files.py [--seconds 3600] [--seed 1] [--only databases,exports,...]

The test suite runs a few rounds of each. What is wrong is printed with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import re
import shutil
import socket
import sqlite3
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_code.workspace.document import Document
from energy_code.workspace.notebook import Notebook
from energy_code.workspace.project import Project
from energy_data.database.database import Database
from energy_data.model import (
    Environment,
    InputSignature,
    Machine,
    Measurement,
    MeterInfo,
    Quantity,
    Run,
    Trace,
)
from energy_lsp.cli import main as energy_lsp

ODD = [
    None, 0, -1, 1, 2**63 - 1, -(2**63), 1e308, -1e308, 0.5, "", "x", "\x1b[31m", "a\n::error::b", "\u202e", "=1+1",
    "[" * 5000, "{}", "[]", '{"cpu": 1e999}', "null", "9" * 400, "x" * 100_000, b"", b"\xff\xfe", b"\0" * 1000, "2026-05-01",
    "NaN", "../../etc/passwd", "/dev/zero", "[red]", "ATTACH", "'; DROP TABLE runs; --",
]  # fmt: skip
"""Values that nobody measured."""
SOURCE = "import tensorflow as tf\ny = tf.pow(tf.ones(2), 2)\ntf.reduce_sum(tf.square(y))\n"
API = "keras.Sequential.fit"
LONGEST = 60.0
"""Seconds that a command may take."""


def odd(dice: random.Random) -> object:
    return dice.choice(ODD)


def asked(arguments: Sequence[str]) -> str | None:
    """What is wrong with what a command says, if something is."""
    begun = time.process_time()
    done = CliRunner().invoke(energy_lsp, list(arguments))
    taken = time.process_time() - begun
    shown = f"{' '.join(arguments)[:200]!r}"
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        place = done.exc_info[2] if done.exc_info is not None else None
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place is not None else ""
        return f"{shown} raised {done.exception!r:.300} at {where}"
    if done.exit_code not in (0, 1, 2):
        return f"{shown} ended with {done.exit_code}"
    if taken > LONGEST:
        return f"{shown} took {taken:.0f} s"
    is_json = any(word in ("--format=json", "-") for word in arguments)
    odd_ones = {
        c for c in done.stderr + ("" if is_json else done.stdout) if not c.isprintable() and c not in "\n\r"
    }
    if odd_ones or "Traceback" in done.stderr or re.search(r"##\w*\[", done.stderr):
        return f"{shown} printed {sorted(odd_ones)} {done.stderr[:300]!r}"
    return None


# databases ------------------------------------------------------------------------------------------------------


def sound_database(path: Path) -> None:
    machine = Machine("cpu", "", 1, "os", "", (MeterInfo("rapl", ("cpu",), 0.001, 1e-5, estimated=False),))
    run = Run(
        id="run-one", machine=machine, environment=Environment("3.11", "2.21", "3.15"), command="python train.py",
        started="2026-05-01T10:00:00Z", meter="rapl", estimated=False, stable=True, commit="", project="proj",
        temperatures={"cpu": 41.5}, seconds=1.0, joules={"cpu": Quantity(3.0, 0.1)}, unaccounted_joules=1.0,
    )  # fmt: skip
    call = Measurement(
        id="", run_id="", api=API, file="train.py", line=1, signature=InputSignature(("float32[2]",), 8), seconds=1.0,
        joules={"cpu": Quantity(3.0, 0.1)}, count=1, repeats=5, resolved=True, method="in place", text="fit()",
    )  # fmt: skip
    with Database.open(path) as database:
        database.add_run(run, [call], [Trace("", "cpu", (0.0, 1.0), (1.0, 2.0))])
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def spoil_bytes(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(dice.choice([1, 3, 30])):
        place = dice.randrange(len(data)) if dice.random() < 0.5 else dice.randrange(200)
        data[place] = dice.randrange(256)
    if dice.random() < 0.3:
        del data[dice.randrange(len(data)) :]
    path.write_bytes(data)


def spoil_rows(path: Path, dice: random.Random) -> None:
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for _ in range(dice.choice([1, 1, 2, 10])):
        table = dice.choice(tables)
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        with suppress(sqlite3.Error):
            connection.execute(f'UPDATE "{table}" SET "{dice.choice(columns)}" = ?', (odd(dice),))
    connection.commit()
    connection.close()


def spoil_schema(path: Path, dice: random.Random) -> None:
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = dice.choice(tables)
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    column = dice.choice(columns)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    statements = [
        f'DROP TABLE "{table}"',
        f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "x y\x1b"',
        f'ALTER TABLE "{table}" DROP COLUMN "{column}"',
        f'ALTER TABLE "{table}" RENAME TO "{table}2"',
        f'ALTER TABLE "{table}" ADD COLUMN "extra" TEXT DEFAULT \'a\x1b[31m\'',
        f'ALTER TABLE "{table}" ADD COLUMN "more" AS (abs(random()))',
        f"CREATE VIEW v AS {endless}",
        f'CREATE TRIGGER t AFTER INSERT ON "{table}" BEGIN DELETE FROM runs; END',
        f'CREATE INDEX i ON "{table}" ("{column}")',
        f'CREATE UNIQUE INDEX u ON "{table}" ("{column}")',
        'CREATE TABLE "a\n::error::" (x PRIMARY KEY) WITHOUT ROWID',
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        f"PRAGMA user_version = {dice.choice([0, -1, 1, 999, 2**31 - 1])}",
        f"PRAGMA application_id = {dice.choice([0, 1, 252006675])}",
        f"PRAGMA page_size = {dice.choice([512, 65536])}",
        "PRAGMA encoding = 'UTF-16le'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'TEXT', 'BLOB CHECK (abs(1))')",
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 1 + abs(random()) % 9",
        f'INSERT INTO "{table}" SELECT * FROM "{table}"',
    ]
    for statement in dice.sample(statements, dice.choice([1, 1, 2])):
        with suppress(sqlite3.Error):
            connection.executescript(statement)
    connection.close()


def databases(dice: random.Random, folder: Path) -> str | None:
    """A database of a team, or one's own, that somebody has forged."""
    path = folder / ".energy" / "energy.db"
    path.parent.mkdir()
    sound_database(path)
    for spoil in dice.sample([spoil_bytes, spoil_rows, spoil_schema], dice.choice([1, 1, 2])):
        with suppress(sqlite3.Error, UnicodeDecodeError):  # of what the one before has left
            spoil(path, dice)
    if dice.random() < 0.2:
        path.with_name(f"energy.db{dice.choice(['-wal', '-shm', '-journal'])}").write_bytes(
            dice.randbytes(5000)
        )
    (folder / "train.py").write_text(SOURCE)
    before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    for arguments in (
        ["db", "info"],
        ["db", "info", "--db", str(path), "--format=json"],
        ["db", "lookup", API],
        ["db", "merge", str(path)],
        ["check", "."],
        ["rules", "list"],
    ):
        problem = asked(arguments)
        if problem is not None:
            return problem
    after = {one.name: one.read_bytes() for one in path.parent.iterdir()}
    if after != before:
        return f"the checkout's database is changed: {sorted(before)} {sorted(after)}"
    own = folder / "forged.db"
    shutil.copy(path, own)
    for arguments in (
        ["runs", "list", "--db", str(own)],
        ["runs", "show", "latest", "--db", str(own)],
        ["report", "latest", "--db", str(own), "--html", "out.html"],
        ["inside", "latest", "--db", str(own)],
        ["db", "export", "out.jsonl", "--db", str(own)],
        ["db", "lookup", API, "--db", str(own)],
        ["db", "prune", "--keep", "1", "--db", str(own)],
        ["runs", "delete", "run-one", "--yes", "--db", str(own)],
    ):
        problem = asked(arguments)
        if problem is not None:
            return problem
    return None


# exports and archives -------------------------------------------------------------------------------------------


def spoiled_json(value: object, dice: random.Random) -> object:
    """A value with something odd somewhere in it."""
    if isinstance(value, dict) and value and dice.random() < 0.8:
        key = dice.choice(list(value))
        changed = dict(value)
        if dice.random() < 0.1:
            del changed[key]
        else:
            changed[key] = spoiled_json(value[key], dice)
        return changed
    if isinstance(value, list) and value and dice.random() < 0.8:
        place = dice.randrange(len(value))
        return [*value[:place], spoiled_json(value[place], dice), *value[place + 1 :]]
    wrong = odd(dice)
    return wrong.decode("latin-1") if isinstance(wrong, bytes) else wrong


def exports(dice: random.Random, folder: Path) -> str | None:
    """A file to be imported: our own export with something odd in it, or an archive."""
    sound_database(folder / "own.db")
    problem = asked(["db", "export", "out.jsonl", "--db", "own.db"])
    if problem is not None:
        return problem
    lines = (folder / "out.jsonl").read_text().splitlines()
    for _ in range(dice.choice([1, 1, 3])):
        place = dice.randrange(len(lines))
        with suppress(ValueError, RecursionError):
            lines[place] = json.dumps(spoiled_json(json.loads(lines[place]), dice))
        if dice.random() < 0.2:
            lines[place] = dice.choice(
                ["[" * 100_000, '{"a":' * 100_000, "\0", "", "NaN", lines[place][:-3], lines[place] * 2]
            )
    data = "\n".join(lines).encode("utf-8", "replace")
    path = folder / dice.choice(["bad.jsonl", "bad.jsonl.gz", "bad.tar.xz", "bad.zip"])
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(data * dice.choice([1, 100])))
    elif path.suffix == ".xz":
        with tarfile.open(path, "w:xz") as archive:
            for name in ("../../out.json", "/abs.json", "a/b.json", "link"):
                entry = tarfile.TarInfo(name)
                entry.type = tarfile.SYMTYPE if name == "link" else tarfile.REGTYPE
                entry.linkname, entry.size = "/etc/passwd", 0 if name == "link" else 10
                archive.addfile(entry, io.BytesIO(b"0123456789"))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
            bomb.writestr("../out.jsonl", b"0" * 1_000_000)
    else:
        path.write_bytes(data)
    raw = path.read_bytes()
    if dice.random() < 0.3:
        path.write_bytes(raw[: dice.randrange(len(raw))])
    for arguments in (
        ["db", "import", "jsonl", str(path)],
        ["db", "import", "greenlight", str(path)],
        ["db", "merge", str(path)],
        ["db", "export", "again.jsonl"],
        ["db", "info"],
    ):
        problem = asked(arguments)
        if problem is not None:
            return problem
    if (folder / "again.jsonl").exists():  # what was taken in can be taken in again
        done = CliRunner().invoke(energy_lsp, ["db", "import", "jsonl", "again.jsonl", "--db", "fresh.db"])
        if done.exit_code:
            return f"our own export was refused: {done.stderr[:300]!r}"
    return None


# settings and folders -------------------------------------------------------------------------------------------

OPTIONS = [
    "database", "select", "ignore", "exclude", "per-file-ignore", "hotspots", "hotspot-joules", "hotspot-severity",
    "rule-severity", "inlay-hints", "code-lens", "budget", "estimates", "published", "smallest-share", "timeout", "measure",
]  # fmt: skip
VALUES = [
    "inf",
    "-inf",
    "nan",
    "1e400",
    "9" * 400,
    "[" * 3000 + "]" * 3000,
    '"\\u0000"',
    '"~nosuchuser/x"',
    '"/dev/zero"',
    "[]",
    "{}",
    '"\\u001b[2J"',
    '["**/**/**/*"]',
    '["' + "*a" * 40 + '"]',
    "1979-05-27",
    "true",
    '"' + "x" * 10_000 + '"',
    "0x" + "f" * 300,
    "''",
    "-1",
    '[[["a"]]]',
    "{a = {b = {c = 1}}}",
    '"../../.."',
    "1_0.5e-3",
    "+inf",
    '["\\n::error::"]',
]


def settings(dice: random.Random, folder: Path) -> str | None:
    """A `pyproject.toml` that nobody means well with."""
    (folder / "train.py").write_text(SOURCE)
    lines = [f"{name} = {dice.choice(VALUES)}" for name in dice.sample(OPTIONS, dice.randint(1, 5))]
    text = "\n".join(
        [dice.choice(["[tool.energy-lsp]", "[tool]\nenergy-lsp = 1", "[[tool.energy-lsp]]"]), *lines]
    ).encode()
    if dice.random() < 0.3:
        place = dice.randrange(len(text))
        text = text[:place] + dice.randbytes(3) + text[place:]
    (folder / "pyproject.toml").write_bytes(text)
    for arguments in (
        ["check", ".", "--format=json"],
        ["calls", "train.py"],
        ["db", "info"],
        ["measure", "gone.py"],
    ):
        problem = asked(arguments)
        if problem is not None:
            return f"{problem} with {text[:300]!r}"
    return None


def traps(dice: random.Random, folder: Path) -> str | None:
    """Folders of links, pipes, sockets and odd names."""
    outside = folder.parent / f"{folder.name}-outside"
    outside.mkdir()
    (outside / "secret.py").write_text(SOURCE)
    names = [
        "a.py",
        "b.ipynb",
        "pyproject.toml",
        ".energy",
        "sub",
        "sub/c.py",
        "sub/d.ipynb",
        ".gitignore",
        "e\n.py",
        "\udcff.py",
        "f.py",
    ]
    for name in names:
        path = folder / name
        with suppress(OSError):
            path.parent.mkdir(exist_ok=True)
            match dice.randrange(9):
                case 0:
                    path.symlink_to("/dev/zero")
                case 1:
                    os.mkfifo(path)
                case 2:
                    path.symlink_to(path.name)
                case 3:
                    path.symlink_to(outside / "secret.py")
                case 4:
                    path.mkdir()
                case 5:
                    path.symlink_to(folder)
                case 6:
                    place = os.getcwd()
                    with socket.socket(socket.AF_UNIX) as listener:
                        listener.bind(os.path.relpath(path, place))
                case 7:
                    os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 33)
                case _:
                    path.write_text(SOURCE)
    before = (outside / "secret.py").read_text()
    for arguments in (
        ["check", "."], ["check", ".", "--fix"], ["calls", "."], ["predict", "a.py"], ["measure", "a.py", "--list"],
        ["campaign", "find", ".", "--output", "plan.toml"], ["db", "info", "--project", "."], ["debug", "calls", "f.py"],
        ["db", "merge", "a.py"], ["db", "import", "jsonl", "b.ipynb"], ["campaign", "run", "pyproject.toml"],
    ):  # fmt: skip
        problem = asked(arguments)
        if problem is not None:
            return problem
    if (outside / "secret.py").read_text() != before or len(list(outside.iterdir())) > 1:
        return "something outside of the folder was changed"
    return None


# notebooks and projects: edit = fresh ---------------------------------------------------------------------------

LINES = [
    "import tensorflow as tf",
    "from b import *",
    "from a import f as g",
    "import a, b",
    "x = tf.ones(2)",
    "y = f(x)",
    "def f(v):",
    "    return tf.abs(v)",
    "class A(B):",
    "    def m(self, v):",
    "        return tf.square(v)",
    "if x:",
    "    tf.add(x, x)",
    "match x:",
    "    case 1:",
    "        f = tf.exp",
    "f = g",
    "%timeit tf.ones(3)",
    "!ls",
    "%%time",
    "z = [tf.abs(i) for i in x]",
    "A = type('A', (B,), {})",
    "global x",
    "tf.reduce_sum(",
    "'''",
    ")",
    "@tf.function",
    "g = lambda v: tf.exp(v)",
    "del f",
    "from . import a",
    "obj = A()",
    "obj.m(x)",
    "obj.n = tf.ones",
    "obj.n(2)",
]


def some_lines(dice: random.Random) -> list[str]:
    return ["import tensorflow as tf", *dice.choices(LINES, k=dice.randint(1, 10))]


def changed_lines(lines: list[str], dice: random.Random) -> list[str]:
    place = dice.randint(0, len(lines))
    match dice.randrange(3):
        case 0:
            return [*lines[:place], dice.choice(LINES), *lines[place:]]
        case 1:
            return [*lines[:place], *lines[place + 1 :]]
        case _:
            return [*lines[:place], dice.choice(LINES), *lines[place + 1 :]]


def found(document: Document) -> list[tuple[int, int, str]]:
    return [(call.span.start_byte, call.span.end_byte, call.api) for call in document.analyse().calls()]


def notebooks(dice: random.Random, folder: Path) -> str | None:
    """Cells that are edited, moved, added and taken away."""
    cells = [some_lines(dice) for _ in range(dice.randint(1, 4))]

    def written() -> list[tuple[int, str]]:
        return [(number, "\n".join(lines)) for number, lines in enumerate(cells)]

    notebook = Notebook(written())
    for _ in range(8):
        place = dice.randrange(len(cells))
        match dice.randrange(5):
            case 0 if len(cells) > 1:
                cells.insert(dice.randrange(len(cells)), cells.pop(place))
            case 1:
                cells.insert(place, some_lines(dice))
            case 2 if len(cells) > 1:
                del cells[place]
            case _:
                cells[place] = changed_lines(cells[place], dice)
        notebook.update(written())
        now, fresh = found(notebook.document), found(Notebook(written()).document)
        if now != fresh:
            return f"{sorted(set(now) ^ set(fresh))[:3]} in {written()}"
    return None


def projects(dice: random.Random, folder: Path) -> str | None:
    """Files that import each other, edited one after the other."""
    texts = {folder / f"{name}.py": some_lines(dice) for name in "abc"}
    for path, lines in texts.items():
        path.write_text("\n".join(lines))

    def opened() -> dict[Path, list[tuple[int, int, str]]]:
        project = Project(folder)
        project.index()
        documents = {path: project.open(path, "\n".join(lines)) for path, lines in texts.items()}
        return {path: found(document) for path, document in documents.items()}

    project = Project(folder)
    project.index()
    documents = {path: project.open(path, "\n".join(lines)) for path, lines in texts.items()}
    for _ in range(8):
        path = dice.choice(list(texts))
        texts[path] = changed_lines(texts[path], dice)
        documents[path].replace("\n".join(texts[path]))
        path.write_text("\n".join(texts[path]))
        project.index()
        now, fresh = {path: found(document) for path, document in documents.items()}, opened()
        if now != fresh:
            differing = {
                one.name: sorted(set(now[one]) ^ set(fresh[one]))[:3] for one in now if now[one] != fresh[one]
            }
            return f"{differing} in { ({one.name: lines for one, lines in texts.items()}) }"
    return None


Kind = Callable[[random.Random, Path], "str | None"]
KINDS: dict[str, Kind] = {
    "databases": databases,
    "exports": exports,
    "settings": settings,
    "traps": traps,
    "notebooks": notebooks,
    "projects": projects,
}


@contextmanager
def alone() -> Iterator[Path]:
    """A folder of its own, in which the command runs, with a database of its own."""
    before, here = os.environ.get("ENERGY_LSP_DB"), os.getcwd()
    with tempfile.TemporaryDirectory(prefix="fuzz") as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        os.environ["ENERGY_LSP_DB"] = str(folder.parent / "user" / "energy.db")
        try:
            os.chdir(folder)
            yield folder
        finally:
            os.chdir(here)
            if before is None:
                del os.environ["ENERGY_LSP_DB"]
            else:
                os.environ["ENERGY_LSP_DB"] = before


def rounds(kind: str, seeds: Iterator[int] | range) -> list[str]:
    """What is wrong in some rounds, each with its seed."""
    problems = []
    for seed in seeds:
        with alone() as folder:
            problem = KINDS[kind](random.Random(f"{kind} {seed}"), folder)
        if problem is not None:
            problems.append(f"{kind} {seed}: {problem}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(KINDS))
    options = parser.parse_args()
    end, seed, problems, count = time.monotonic() + options.seconds, options.seed, [], 0
    while time.monotonic() < end:
        for kind in options.only.split(","):
            found_wrong = rounds(kind, range(seed, seed + 1))
            count += 1
            for problem in found_wrong:
                print(problem, flush=True)
            problems += found_wrong
        seed += 1
    print(f"{count} rounds, {len(problems)} problems")
    from record import Results

    results = Results(
        "fuzzing/hostile_files", topic="Reader", title="Databases, settings and folders no person would make"
    )
    results.add(f"problems in {count:,} rounds", len(problems), at_most=0)
    results.write()
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
