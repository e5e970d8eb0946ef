"""Whatever a workspace holds in the place of a source file, readers neither hang nor fill the memory nor leave it."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from energy_data.untrusted.parsing import MOST_VALUES, parse_json
from energy_data.untrusted.reading import NotRead, read_bytes
from energy_data.untrusted.walking import walk

CALL = "import tensorflow as tf\n\ny = tf.matmul(tf.ones((2, 2)), tf.ones((2, 2)))\n"
SECONDS = 60
MEMORY = 2 * 1024**3


def energy_lsp(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that may take neither long nor much."""
    command = [sys.executable, "-m", "energy_lsp", *map(str, arguments)]
    environment = {**os.environ, "ENERGY_LSP_DB": str(cwd / "none.db"), "XDG_CACHE_HOME": str(cwd / ".cache")}

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=SECONDS, preexec_fn=little
    )


def plant(folder: Path, name: str, kind: str) -> None:
    """Put something else where a file is expected."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            os.chdir(folder)  # their names are short
            bound.bind(name)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(40 * 1024**3)
    elif kind == "circle":
        path.symlink_to(path.name)
    else:
        path.symlink_to(kind)


KINDS = (
    "pipe",
    "socket",
    "huge",
    "circle",
    "/dev/zero",
    "/dev/tty",
    "/proc/kcore",
    "/etc/hosts",
    "../../secret.py",
)


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    workspace = tmp_path / "home" / "workspace"
    workspace.mkdir(parents=True)
    (tmp_path / "secret.py").write_text("import tensorflow as tf\nSECRET = tf.pow(1.0, 2)\n")
    (workspace / ".git").mkdir()
    (workspace / "good.py").write_text("import other\n" + CALL)
    for number, kind in enumerate(KINDS):
        plant(workspace, f"b{number}.py", kind)
    plant(workspace, "n.ipynb", "pipe")
    (workspace / "other").symlink_to("../../..")
    return workspace


@pytest.mark.parametrize("command", ["check", "calls"])
def test_a_folder_of_traps_is_read_to_its_end(hostile: Path, command: str) -> None:
    done = energy_lsp(command, ".", cwd=hostile)
    assert "Traceback" not in done.stderr
    assert "MemoryError" not in done.stderr
    assert "SECRET" not in done.stdout + done.stderr, "a file outside of the workspace was opened"
    if command == "calls":
        assert "good.py:4:4: tensorflow.linalg.matmul" in done.stdout
    for number in range(len(KINDS)):
        assert f"b{number}.py" in done.stderr, f"{KINDS[number]} is not named"
    assert "leads out of workspace" in done.stderr


def test_a_trap_that_was_named_is_told(hostile: Path) -> None:
    for command in ("check", "calls", "measure"):
        done = energy_lsp(command, "b0.py", cwd=hostile)
        assert done.returncode in (1, 2)
        assert "regular file" in done.stderr, command


def test_a_program_that_is_too_large_is_told(tmp_path: Path) -> None:
    plant(tmp_path, "huge.py", "huge")
    (tmp_path / "project").mkdir()
    plant(tmp_path, "project/main.py", "huge")
    for arguments in (
        ["measure", "huge.py"],
        ["measure", "project", "--entry", "main.py"],
        ["compare", "huge.py", "huge.py"],
        ["tune", "huge.py"],
        ["sweep", "huge.py", "--vary", "N=1,2"],
        ["predict", "huge.py"],
        ["debug", "tree", "huge.py"],
    ):
        done = energy_lsp(*arguments, cwd=tmp_path)
        assert done.returncode == 2, (arguments, done.stderr)
        assert "larger than 16 MB" in done.stderr, arguments
        assert "Traceback" not in done.stderr, arguments


def test_a_file_that_ends_its_reader_is_told_and_the_others_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from energy_lsp.checking import run

    files = [tmp_path / f"f{number}.py" for number in range(run.FEW + 1)]
    for file in files:
        file.write_text(CALL)
    read = run.read_reports

    def ended(folder: object, path: Path, client: object) -> object:
        if path.name == "f7.py":
            os.kill(os.getpid(), signal.SIGKILL)
        return read(folder, path, client)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "read_reports", ended)
    results = run.check_files(
        files, {"database": str(tmp_path / "none.db")}, run.CheckScope(), lambda *_: None
    )
    assert [one.file for one in results if one.problem] == [run.shown_path(tmp_path / "f7.py")]
    assert len(results) == len(files)


def test_a_link_that_was_named_is_read(hostile: Path) -> None:
    done = energy_lsp("calls", f"b{KINDS.index('../../secret.py')}.py", cwd=hostile)
    assert "tensorflow.math.pow" in done.stdout


@pytest.mark.parametrize("kind", ["/dev/zero", "pipe", "huge", "folder", "circle", "/etc/hosts"])
def test_settings_and_databases_that_are_no_files(tmp_path: Path, kind: str) -> None:
    (tmp_path / "good.py").write_text(CALL)
    plant(tmp_path, "pyproject.toml", kind)
    plant(tmp_path, ".energy/energy.db", kind)
    done = energy_lsp("check", "good.py", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)
    assert "1 file" in done.stdout
    assert energy_lsp("db", "info", cwd=tmp_path).returncode in (0, 2)
    assert sorted(os.listdir(tmp_path / ".energy")) == ["energy.db"]


def test_a_plan_and_its_table_that_are_no_files(tmp_path: Path) -> None:
    plant(tmp_path, "pipe.csv", "pipe")
    plant(tmp_path, "pipe.toml", "pipe")
    (tmp_path / "plan.toml").write_text('[campaign]\nprojects = "pipe.csv"\n')
    for arguments in (
        ["campaign", "plan.toml"],
        ["campaign", "pipe.toml"],
        ["compare", "--matrix", "pipe.toml"],
    ):
        done = energy_lsp(*arguments, cwd=tmp_path)
        assert done.returncode == 2, (arguments, done.stderr)
        assert "pipe." in done.stderr
        assert "Traceback" not in done.stderr


def test_a_size_that_grows_and_one_that_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert len(read_bytes(path, 100)) == 100
    with pytest.raises(NotRead, match="larger"):
        read_bytes(path, 99)
    with pytest.raises(NotRead, match="larger"):
        read_bytes(Path("/proc/cpuinfo"), 20)
    with pytest.raises(NotRead, match="null character"):
        read_bytes(tmp_path / "a\0b", 20)


def test_a_file_that_grows_in_memory_is_refused(tmp_path: Path) -> None:
    """Each `{},` takes seventy bytes once it is parsed: this notebook would take three gigabytes."""
    (tmp_path / "n.ipynb").write_bytes(b'{"cells": [' + b"{}," * 40_000_000 + b"{}]}")
    (tmp_path / "good.py").write_text(CALL)
    done = energy_lsp("calls", ".", cwd=tmp_path)
    assert "n.ipynb" in done.stderr
    assert "MemoryError" not in done.stderr
    assert "good.py:3:4: tensorflow.linalg.matmul" in done.stdout
    with pytest.raises(ValueError, match="values"):
        parse_json("[" + "0," * MOST_VALUES + "0]")


def test_deep_folders_are_walked(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    depth = 1500
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        found = sum(1 for _ in walk(tmp_path, lambda folder, name: False))
    finally:
        subprocess.run(
            ["rm", "-rf", str(tmp_path / "d")], check=True
        )  # pytest's own way ends in a RecursionError
    assert found >= 1000, "to where the system's own limit of a path lies"


VALUES = {
    "hotspot-joules": ["inf", "nan", "-inf", "1e400", "9" * 400, '"\\u0000"', "[[1]]"],
    "hotspots": ["inf", "nan", "9" * 400, "1.5", "9" * 5000, "true"],
    "budget": ["nan", "inf", "1" + "0" * 400],
    "database": ['"~nosuchuser/x.db"', '"a\\u0000b"', f'"{"a" * 5000}"', "1", '"/dev/zero"'],
    "exclude": ["[" * 5000 + "]" * 5000, '["a\\u0000"]', "[1]"],
    "select": ['["\\u0000"]', "{a = 1}"],
    "inlay-percent": ["nan", "[[[]]]"],
    "smallest-share": ["inf", "{a = {b = 1}}"],
    "grid-gco2-per-kwh": ["9" * 400, "1979-05-27"],
    "price-per-kwh": ["-inf", "true"],
    "pue": ["nan", "[1.4]"],
    "per-file-ignore": ['["' + "*a" * 2000 + ':pow2"]'],
}


@pytest.mark.parametrize(
    ("option", "value"), [(option, value) for option in VALUES for value in VALUES[option]]
)
def test_odd_values_are_named_and_the_default_is_used(tmp_path: Path, option: str, value: str) -> None:
    from energy_lsp.workspace.folders import Folder
    from energy_lsp.workspace.settings import DEFAULTS, snake

    (tmp_path / "pyproject.toml").write_text(f"[tool.energy-lsp]\n{option} = {value}\n")
    folder = Folder(tmp_path)
    folder.configure()
    if option in ("per-file-ignore",) or value == '"/dev/zero"':
        problems = folder.database_problems()
        assert all("Traceback" not in problem for problem in problems)
        return
    assert getattr(folder.settings, snake(option)) == getattr(DEFAULTS, snake(option))
    assert len(folder.problems) == 1
    if len(value) != 5000:  # Python takes no number of so many digits: the file as a whole is left out
        assert f"`{option}`" in folder.problems[0]
    assert len(folder.problems[0]) < 400


@pytest.mark.parametrize(
    "value",
    [
        "timeout = inf",
        "timeout = nan",
        "active-watts = inf",
        "active-watts = nan",
        "period-ms = " + "9" * 400,
        'python = "~nosuchuser/x"',
    ],
)
def test_odd_values_for_measuring_are_named_too(tmp_path: Path, value: str) -> None:
    from energy_measure.request import MeasureOptions, read_options

    (tmp_path / "pyproject.toml").write_text(f"[tool.energy-lsp.measure]\n{value}\n")
    notes: list[str] = []
    assert read_options(tmp_path, note=notes.append) == MeasureOptions()
    assert len(notes) == 1
    assert value.split(" ")[0] in notes[0]


def test_a_file_of_thousands_of_options_is_soon_told(tmp_path: Path) -> None:
    from energy_lsp.workspace.settings import read_pyproject

    lines = "".join(f"option-{number}{'x' * 20} = 1\n" for number in range(20_000))
    (tmp_path / "pyproject.toml").write_text(f"[tool.energy-lsp]\n{lines}")
    options, problems = read_pyproject(tmp_path)
    assert not options
    assert len(problems) == 21


@pytest.mark.parametrize(
    "command", [["compare", "x.py"], ["tune"], ["sweep", "--vary", "n=1,2"], ["predict"]]
)
def test_a_pipe_or_device_in_the_place_of_a_program_is_refused(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "x.py").write_text("print(1)\n")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    for name in ("pipe.py", "zero.py"):
        done = energy_lsp(*command, name, cwd=tmp_path)
        assert done.returncode == 2
        assert "is a device or a pipe" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the kernel shows no files here")
@pytest.mark.parametrize(
    "words",
    [
        ["db", "info", "--db", "kernel"],
        ["db", "merge", "kernel", "--db", "own.db"],
        ["measure", "kernel.py", "--quick"],
        ["compare", "kernel.py", "kernel.py"],
        ["sweep", "kernel.py", "--vary", "n=1,2"],
        ["tune", "kernel.py"],
    ],
)
def test_files_of_the_kernel_are_neither_programs_nor_databases(words: list[str], tmp_path: Path) -> None:
    """They say that they are regular and empty; some (`kmsg`) keep who reads them waiting for ever."""
    for name in ("kernel", "kernel.py"):
        (tmp_path / name).symlink_to("/proc/self/environ")
    done = energy_lsp(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "file of the kernel" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_would_keep_its_reader_waiting_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `/proc/kmsg`, which is a regular file by what the kernel says of it."""
    (tmp_path / "file.py").write_text("")
    silent, kept_open = os.pipe()
    os.set_blocking(silent, False)
    regular = os.stat(tmp_path / "file.py")
    monkeypatch.setattr(os, "open", lambda *_, **__: silent)
    monkeypatch.setattr(os, "fstat", lambda _: regular)
    with pytest.raises(NotRead, match="kernel"):
        read_bytes(tmp_path / "file.py", 1000)
    monkeypatch.undo()
    os.close(kept_open)


NO_PRIVILEGE = """
import ctypes, os, sys
for capability in (1, 2):  # DAC_OVERRIDE, DAC_READ_SEARCH: root may open what its mode forbids
    ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "energy_lsp", *sys.argv[1:]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="capabilities are Linux's")
@pytest.mark.parametrize(
    "words",
    [
        ["check", "."],
        ["check", "mine.py", "--db", "locked/energy.db"],
        ["calls", "."],
        ["compare", "locked/train.py", "mine.py"],
        ["report", "locked/train.py", "--db", "locked/energy.db"],
    ],
)
def test_what_may_not_be_opened_is_a_sentence(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CALL)
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "train.py").write_text(CALL)
    (tmp_path / "locked").chmod(0)
    try:
        done = subprocess.run(
            [sys.executable, "-c", NO_PRIVILEGE, *words],
            cwd=tmp_path,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / ".cache")},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr
