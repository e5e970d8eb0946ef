"""Text of others acts on no terminal, no CI service and no editor; secrets stay; restricted workspaces stay shut."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from energy_data.untrusted.printable import cell, composed, json_text, one_line, visible
from energy_measure.program.process import command_line

NAME = "a\n::error::x\x1b[31m\x9b1m\u202e##[group]##vso[task]y.py"
FIXABLE = "import tensorflow as tf\ny = tf.pow(tf.ones(2), 2)  # \x1b]0;t\x07 \u202e ##[error]\n"


def energy_lsp(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "energy_lsp", *map(str, arguments)]
    environment = {**os.environ, "ENERGY_LSP_DB": str(cwd / "none.db"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, timeout=100)


def harmless(output: bytes, *, commands: bool = False) -> None:
    text = output.decode("utf-8")
    odd = {c for c in text if not c.isprintable() and c != "\n"}
    assert not odd, text
    assert not re.search(r"##\w*\[", text)
    lines = [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert all(re.match(r"::(notice|warning|error) file=", line) for line in lines)
    assert commands or not lines


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_check_prints_hostile_names_and_lines_harmlessly(tmp_path: Path, form: str) -> None:
    (tmp_path / NAME).write_text(FIXABLE)
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text(FIXABLE)
    (tmp_path / "pyproject.toml").write_text('[tool.energy-lsp]\n"\\u001b[2J\\n::error::" = 1\n')
    done = energy_lsp("check", ".", "--format", form, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    harmless(done.stderr)
    if form in ("text", "github"):
        harmless(done.stdout, commands=form == "github")
    else:
        assert done.stdout.isascii()
        json.loads(done.stdout)
        assert b"Infinity" not in done.stdout
    if form == "sarif":
        assert b"caf%E9.py" in done.stdout


def test_other_commands_print_hostile_names_harmlessly(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(FIXABLE)
    for arguments in (
        ["calls", NAME],
        ["calls", "missing" + NAME],
        ["db", "lookup", NAME],
        ["db", "info", "--db", NAME],
        ["rules", "show", NAME],
        ["report", NAME, "--html", "x.html"],
        ["measure", "missing" + NAME],
        ["db", "merge", NAME],
        ["compare", NAME + "a", NAME],
        ["check", f"--{NAME}"],
        [NAME],
    ):
        done = energy_lsp(*arguments, cwd=tmp_path)
        assert b"Traceback" not in done.stderr, arguments
        harmless(done.stdout + done.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "--price-per-kwh", "inf"],
        ["report", "--pue", "nan"],
        ["check", "p.py", "--budget", "nan"],
        ["measure", "p.py", "--active-watts", "nan"],
        ["tune", "p.py", "--budget", "inf"],
    ],
)
def test_arguments_are_finite_numbers(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "p.py").write_text(FIXABLE)
    done = energy_lsp(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert b"is not a finite number" in done.stderr


def test_text_is_made_fit_to_print() -> None:
    assert cell("=HYPERLINK(1)\n\x1b[2J") == "'=HYPERLINK(1)��[2J"
    assert cell(-1.5) == -1.5
    assert one_line("a\n\x1b[31mb") == "a [31mb"
    assert visible("a\nb\tc") == "a�b c"
    assert composed("::error::x") == ": :error::x"
    assert json.loads(json_text({"a": float("inf"), "b": "caf\udce9"})) == {"a": None, "b": "caf�"}


def test_values_of_arguments_are_not_kept() -> None:
    arguments = [
        "--password",
        "hunter2",
        "--key=hunter2",
        "-phunter2",
        "-v",
        "hunter2",
        "--",
        "-5",
        "[/x]",
        "--=hunter2",
    ]
    shown = command_line(Path("p.py"), arguments)
    assert "hunter2" not in shown
    assert shown == "python p.py --password <2> --key=… -p… -v <6> <7> <8> <9> <10>"
    assert "hunter2" in command_line(Path("p.py"), arguments, keep=True)


def test_tables_take_brackets_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    from energy_lsp.terminal.console import Screen
    from energy_lsp.terminal.table import Column, Table

    table = Table([Column("program", "name")])
    table.add("python p.py [/x] [red]")
    table.add("::error::no command of a CI service")
    table.print(Screen())
    shown = capsys.readouterr().out
    assert "[/x] [red]" in shown
    assert "\n::error" not in shown


def test_a_restricted_workspace_opens_no_settings(tmp_path: Path) -> None:
    from energy_lsp.workspace.folders import Folder

    (tmp_path / "pyproject.toml").write_text('[tool.energy-lsp]\ndatabase = "x.db"\nhotspots = 7\n')
    folder = Folder(tmp_path, trusted=False)
    folder.configure({"database": "/somewhere/else.db", "measurePython": "./evil", "hotspots": 5})
    assert folder.settings.database == ""
    assert folder.settings.measure_python == ""
    assert folder.settings.hotspots == 5


def test_a_restricted_workspace_opens_no_database(tmp_path: Path) -> None:
    from energy_lsp.workspace.folders import Folder

    (tmp_path / ".energy").mkdir()
    (tmp_path / ".energy" / "energy.db").write_text("whoever opens this complains of it")
    trusted, restricted = Folder(tmp_path), Folder(tmp_path, trusted=False)
    assert trusted.database_problems()
    assert not restricted.database_problems()
    assert not restricted.store().problems
    restricted.store().close()


HALVES = (
    *(b"", b"C", b"content-le", b"Content-Length: ", b"Content-Length: 20\r\n"),
    *(
        b"Content-Length: 20\r\n\r\n",
        b'Content-Length: 20\r\n\r\n{"jsonrpc":',
        b"Content-Type: a\r\nContent-",
    ),
)
"""What connections begin with that are no client yet."""


def test_tcp_refuses_a_browser_and_serves_the_client_after_it() -> None:
    command = [sys.executable, "-m", "energy_lsp", "serve", "--tcp", "127.0.0.1:0"]
    body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        port = int(server.stderr.readline().rsplit(b":", 1)[1])
        try:
            for first in (
                b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
                b"GET / HTTP/1.1\r\n\r\n%d",
                b"Content-Type: x\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
                b"Content-Type: text/plain\r\n\r\n%d",
                b"Content-Length: %d\r\n\r\nname=",
                b"Content-Length: " + b"9" * 2000 + b"%d",
            ):
                with socket.create_connection(("127.0.0.1", port), timeout=20) as browser:
                    browser.sendall(first % len(body) + body)
                    with contextlib.suppress(ConnectionResetError):
                        assert browser.recv(1000) == b""
            with contextlib.ExitStack() as stack:
                for first in (*[b""] * 80, *HALVES):
                    silent = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
                    silent.sendall(first)
                client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
                client.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                assert b"capabilities" in client.recv(1000), "whoever says nothing keeps nobody waiting"
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", port), timeout=20)
        finally:
            server.kill()


@pytest.mark.parametrize("length", [b"99999999999", b"9" * 5000])
def test_a_message_that_would_fill_the_memory_ends_the_connection(length: bytes) -> None:
    command = [sys.executable, "-m", "energy_lsp", "serve"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stderr is not None
        server.stdin.write(b"Content-Length: " + length + b"\r\n\r\n{")
        server.stdin.flush()
        assert server.wait(60) == 1, "it does not wait for the rest"
        assert b"stream broke" in server.stderr.read()
