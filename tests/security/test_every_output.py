"""Every output of every command, with text of others in every place that it can come from: names, source, settings,
arguments, rows of a database. Nothing of it acts on a terminal, a CI service, a spreadsheet or a browser.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

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
from energy_lsp.cli import main

NAME = "=a\n::error::x\r\x1b[31m\x9b1m\x1b]8;;u\x07l\u202e\u2066\u200b\ufeff##[group]##vso[t][red]**b**`c`<img src=x>|"
"""As much as the name of a file can hold."""
TEXT = f"{NAME}[/x][l](command:x)\t\u2028\x00".replace("\x00", "")
API = "keras.Sequential.fit"
SOURCE = (
    "import tensorflow as tf\n"
    f"y = tf.pow(tf.ones(2), 2)  # {NAME!r} \x1b]0;t\x07 \u202e ##[error] [/x]\n"
    "x = '\u202e [red] <img src=x>'; tf.reduce_sum(tf.square(y))\n"
)


def a_run(name: str) -> Run:
    return Run(
        id=name,
        machine=Machine(
            f"cpu {TEXT}", f"gpu {TEXT}", 1, f"os {TEXT}", f"d {TEXT}",
            (MeterInfo(f"rapl {TEXT}", ("cpu",), 0.001, 1e-5, estimated=False),),
        ),
        environment=Environment(f"3.11 {TEXT}", f"2.21 {TEXT}", f"3.15 {TEXT}"),
        command=f"python {TEXT}",
        started="2026-05-01T10:00:00Z",
        meter=f"rapl {TEXT}",
        estimated=False,
        stable=True,
        commit=TEXT,
        project=f"proj {TEXT}",
        temperatures={f"cpu {TEXT}": 41.5},
        seconds=1.0,
        joules={"cpu": Quantity(3.0, 0.1)},
        unaccounted_joules=1.0,
    )  # fmt: skip


def a_measurement() -> Measurement:
    return Measurement(
        id="", run_id="", api=API, file=f"{NAME}.py", line=2, signature=InputSignature((f"f[2] {TEXT}",), 8), seconds=1.0,
        joules={"cpu": Quantity(3.0, 0.1)}, count=1, repeats=5, resolved=True, method="in place", text=f"t{TEXT}",
    )  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose every name and text is somebody else's."""
    folder = tmp_path_factory.mktemp("made")
    (folder / f"{NAME}.py").write_text(SOURCE)
    (folder / f"{NAME}quiet.py").write_text("x = 1\n")
    cells = [{"cell_type": "code", "source": SOURCE, "metadata": {TEXT: TEXT}, "outputs": []}]
    notebook = {"cells": cells, "metadata": {"title": TEXT}, "nbformat": 4, "nbformat_minor": 5}
    (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook))
    (folder / f"{NAME}.toml").write_text(f"{json.dumps(NAME)} = 1\n[[projects]]\npath = {json.dumps(TEXT)}\n")
    (folder / f"{NAME}.jsonl").write_text(json.dumps({"format": TEXT, TEXT: TEXT}) + "\n")
    options = (
        f"{json.dumps(NAME)} = 1\nselect = [{json.dumps(NAME)}]\nhotspot-severity = {json.dumps(TEXT)}\n"
    )
    (folder / "pyproject.toml").write_text(f"[tool.energy-lsp]\n{options}")
    with Database.open(folder / "own.db") as database:
        for name in ("run-one", "run-two"):
            database.add_run(a_run(name), [a_measurement()], [Trace("", "cpu", (0.0, 1.0), (1.0, 2.0))])
    spoil_texts(folder / "own.db")
    return folder


def spoil_texts(path: Path) -> None:
    """Put the text behind all others, but those by which rows are found or which say what kind a row is."""
    kept = re.compile(
        r"id$|_id$|^started$|^status$|^kind$|^method$|^source$|^api$|^name$|^mode$|^_sqlite|^measured$"
    )
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        for _, column, kind, *_ in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
            if kind.upper() == "TEXT" and not kept.search(column) and not table.startswith("_"):
                connection.execute(
                    f'UPDATE OR IGNORE "{table}" SET "{column}" = "{column}" || ?'
                    f""" WHERE substr("{column}", 1, 1) NOT IN ('[', '{{')""",
                    (TEXT,),
                )
    connection.commit()
    connection.close()


@pytest.fixture
def project(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "p"
    shutil.copytree(made, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ENERGY_LSP_DB", str(folder / "own.db"))
    monkeypatch.setenv("ENERGY_LSP_LOCK_FOLDER", str(tmp_path))
    return folder


QUIET = f"{NAME}quiet.py"
FILE, NOTEBOOK, PLAN, LINES, MISSING = (
    f"{NAME}{end}" for end in (".py", ".ipynb", ".toml", ".jsonl", ".missing")
)
COMMANDS: dict[str, list[list[str]]] = {
    "check": [[form, ".", "--budget", "1", "--predicted", "--statistics"] for form in
              ("--format=text", "--format=json", "--format=sarif", "--format=github")]
             + [[MISSING], [FILE, "--fix"], [NOTEBOOK], [".", "--select", NAME], [f"--{NAME}"], [".", "--db", NAME]],
    "measure": [[MISSING], [QUIET, "--quick", "--", "[/x]", f"--k={TEXT}"], [FILE, "--python", NAME], [FILE, "--meter", NAME], [".", "--list"],
                [f"--{NAME}"], [PLAN]],
    "report": [["run-one"], ["run-one", "--html", "out.html"], [NAME], ["latest", "--price-currency", NAME], ["latest", "--links", NAME],
               ["latest", "--edd", "out.csv"], ["latest", "--of", NAME], [FILE]],
    "runs compare": [["run-one", "run-two"], ["run-one", "run-two", "--format=json"], [NAME, TEXT]],
    "runs delete": [[NAME, "--yes"], ["run-one", "--yes"]],
    "runs history": [[FILE], [FILE, "--format=json"], [FILE, "--call", NAME], [NAME]],
    "runs list": [[], ["--format=json"], [NAME]],
    "runs open": [[NAME]],
    "runs show": [["run-one"], [NAME]],
    "inside": [["run-one"], ["run-one", "--format=json"], [NAME], ["latest", "--of", NAME], ["latest", "--by", NAME]],
    "compare": [[MISSING, FILE], [FILE, FILE, "--python", NAME], [NAME], ["--matrix", PLAN], [FILE, FILE, "--meter", NAME]],
    "tune": [[MISSING], [FILE, "--only", NAME], [FILE, "--python", NAME], [FILE, "--line", NAME]],
    "calibrate": [["--python", NAME], ["--meter", NAME]],
    "predict": [[FILE], [FILE, "--format=json"], [NOTEBOOK], [MISSING], [FILE, "--python", NAME]],
    "calls": [[FILE], [FILE, "--format=json"], [FILE, "--shapes"], [NOTEBOOK], [MISSING], ["."]],
    "rules list": [["--db", NAME], ["--format=json"], []],
    "rules measure": [[NAME], ["--meter", NAME], ["--size", NAME]],
    "rules show": [[NAME], ["pow2"]],
    "doctor": [[], ["--format=json"]],
    "db export": [["out.jsonl"], ["out.csv", "--format=csv"], [NAME], ["--title", TEXT, "--format=csv"]],
    "db import greenlight": [[MISSING], [FILE]],
    "db import jsonl": [[LINES], [MISSING]],
    "db info": [[], ["--format=json"], ["--project", NAME], ["--db", NAME]],
    "db lookup": [[API], [API, "--format=json"], [NAME], [API, "--file", FILE, "--line", "2"]],
    "db merge": [["own.db"], [MISSING], [FILE]],
    "db prune": [["--before", NAME], ["--keep", "1", "--dry-run"], ["--keep", "1"]],
    "sweep": [[MISSING, "--vary", "n=1,2"], [FILE, "--vary", NAME], [FILE, "--python", NAME]],
    "campaign find": [["."], [NAME], [".", "--output", f"{NAME}/x"]],
    "campaign run": [[PLAN], [MISSING], [PLAN, "--scheduler", NAME]],
    "serve": [["--tcp", NAME], [f"--{NAME}"], ["--log-level", NAME]],
    "debug": [["calls", FILE], [NAME, FILE], ["calls", MISSING]],
}  # fmt: skip
"""Arguments of every command; what runs programs is asked for such as are not there, or with options that are none."""


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from leaves(below, (*path, name))
    else:
        yield " ".join(path), command


def test_every_command_is_walked() -> None:
    assert {name for name, _ in leaves(main)} == set(COMMANDS)


def harmless(text: str, *, commands: bool = False) -> None:
    odd = {c for c in text if not c.isprintable() and c not in "\n\r"}
    assert not odd, (odd, text)
    assert "\r" not in text.replace("\r\n", "\n").lstrip("\r"), text
    assert not re.search(r"##\w*\[", text), text
    lines = [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert all(commands and re.match(r"::(notice|warning|error) file=", line) for line in lines), lines


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (*texts_in(key), *texts_in(item))
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    ("name", "arguments"), [(name, each) for name in COMMANDS for each in COMMANDS[name]]
)
def test_hostile_text_acts_on_nothing(project: Path, name: str, arguments: list[str]) -> None:
    done = CliRunner().invoke(main, [*name.split(), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    assert "Traceback" not in done.stderr
    harmless(done.stderr)
    form = next((option.partition("=")[2] for option in arguments if option.startswith("--format=")), "text")
    if form in ("json", "sarif"):
        assert done.stdout.isascii()
        if done.stdout:
            json.loads(done.stdout)
    elif form == "csv":
        assert not [
            cell for row in csv.reader(done.stdout.splitlines()) for cell in row if cell[:1] in tuple("=+@")
        ]
    else:
        harmless(done.stdout, commands=form == "github")
    page = project / "out.html"
    if page.exists():
        assert "<img src=x" not in page.read_text()
        assert 'href="command:' not in page.read_text()
    table = project / "out.csv"
    if table.exists() and table.is_file():
        cells = [cell for row in csv.reader(table.read_text().splitlines()) for cell in row]
        assert not [cell for cell in cells if cell[:1] in tuple("=+@")]
    assert not [path for path in os.listdir(project.parent) if path.endswith("x")]
