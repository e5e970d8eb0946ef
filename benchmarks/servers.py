"""How fast the server answers, beside ruff, pyright, python-lsp-server and jedi-language-server, in one run.

    python benchmarks/servers.py [--servers energy-lsp,ruff,...] [--rounds 20] [--starts 5] [--venv FOLDER] [--pull]

The other servers are installed into a virtual environment that is made for the run and thrown away (unless
--venv names one to keep). The files are TensorFlow code from Keras: one of 240 lines, one of 6,700. The servers
take turns: each is started in every round of starts, and each gets every edit and every hover right after the
others, so that what else the machine does meets all of them alike. The processor time of an edit is the mean over
all of them, in steps of the system's clock (10 ms over all edits); it says something on a busy machine too. An edit is
a character of a comment or a new line; an edit of code a letter more of a variable's name. With --pull
diagnostics are asked for right behind the edit, of servers that can be asked.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import queue
import re
import statistics
import string
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ENERGY_LSP = [str(Path(sys.executable).with_name("energy-lsp")), "serve"]
OTHERS = {
    "ruff": ["ruff", "server"],
    "pyright": ["pyright-langserver", "--stdio"],
    "pylsp": ["pylsp"],
    "jedi": ["jedi-language-server"],
}
PACKAGES = ["ruff", "pyright[nodejs]", "python-lsp-server[all]", "jedi-language-server"]
PATIENCE = 120.0
LETTERS = 8
"""Of a word that is typed."""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""Installed servers have their modules compiled; one that runs from its sources may keep what it compiles."""
CAPABILITIES: dict[str, dict[str, Any]] = {
    "textDocument": {
        "hover": {"contentFormat": ["markdown"]},
        "publishDiagnostics": {"versionSupport": True},
    }
}


class Result(NamedTuple):
    """What one server took for one file, in milliseconds, and its memory in megabytes."""

    server: str
    lines: int
    initialize: float
    first: float
    ready: float
    edit: float
    code: float
    edit_cpu: float
    hover_50: float
    hover_99: float
    memory: float


class Connection:
    """A client that does nothing but talk."""

    def __init__(self, command: list[str], root: Path) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env=ENVIRONMENT,
        )
        self.incoming: queue.Queue[dict[str, Any]] = queue.Queue()
        self.number = 0
        self.pulls = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if not line:
                return
            self.incoming.put(self.decode(stream.read(length)))

    def decode(self, body: bytes) -> dict[str, Any]:
        """One message of the server."""
        message: dict[str, Any] = json.loads(body)
        return message

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def wait(self, wanted: Any) -> dict[str, Any]:
        """The next message that satisfies; requests of the server are answered meanwhile."""
        end = time.perf_counter() + PATIENCE
        while True:
            message = self.incoming.get(timeout=max(0.1, end - time.perf_counter()))
            if "id" in message and "method" in message:
                count = (
                    len(message["params"]["items"]) if message["method"] == "workspace/configuration" else 0
                )
                self.send({"id": message["id"], "result": [None] * count if count else None})
            elif wanted(message):
                return message

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self.number += 1
        number = self.number
        self.send({"id": number, "method": method, "params": params})
        return self.wait(lambda message: message.get("id") == number)

    def open(self, uri: str, text: str) -> None:
        """Open a file in version 1."""
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def diagnostics(self, uri: str, version: int) -> None:
        """Wait for the diagnostics of this version; of a server that tells no version, the first count."""
        if self.pulls:
            self.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
            return

        def fits(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            params = message["params"]
            told = params.get("version")
            return bool(params["uri"] == uri and (told is None or told >= version))

        self.wait(fits)

    def processor_time(self) -> float:
        """Seconds of processor time that the server and its children have taken."""
        parent = psutil.Process(self.process.pid)
        times = [one.cpu_times() for one in [parent, *parent.children(recursive=True)]]
        return sum(one.user + one.system for one in times)

    def memory(self) -> float:
        """Resident memory of the server and its children in MB."""
        parent = psutil.Process(self.process.pid)
        return sum(one.memory_info().rss for one in [parent, *parent.children(recursive=True)]) / 1e6

    def end(self) -> None:
        """End the server and what it started."""
        processes = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        self.process.wait()
        for process in processes:
            process.kill()


@contextmanager
def ended(connection: Connection) -> Iterator[Connection]:
    """Ends the server in any case."""
    try:
        yield connection
    finally:
        connection.end()


class Contestant:
    """One server with one file open, and what it took so far, in seconds."""

    def __init__(self, name: str, command: list[str], root: Path, text: str) -> None:
        self.name = name
        self.command = command
        self.root = root
        self.text = text
        path = root / "program.py"
        path.write_text(text)
        self.uri = path.as_uri()
        self.server: Connection | None = None
        self.edits_cpu = 0.0
        self.taken: dict[str, list[float]] = {
            what: [] for what in ("initialize", "first", "ready", "edit", "code", "hover")
        }

    def start(self) -> None:
        """Start afresh and open the file."""
        self.end()
        begun = time.perf_counter()
        self.server = server = Connection(self.command, self.root)
        folders = [{"uri": self.root.as_uri(), "name": "bench"}]
        parameters = {
            "processId": None,
            "rootUri": self.root.as_uri(),
            "workspaceFolders": folders,
            "capabilities": CAPABILITIES,
        }
        offered = server.ask("initialize", parameters)["result"]["capabilities"]
        server.pulls = "diagnostic" in CAPABILITIES["textDocument"] and "diagnosticProvider" in offered
        initialized = time.perf_counter()
        self.taken["initialize"].append(initialized - begun)
        server.send({"method": "initialized", "params": {}})
        server.open(self.uri, self.text)
        server.diagnostics(self.uri, 1)
        self.taken["first"].append(time.perf_counter() - initialized)
        self.taken["ready"].append(time.perf_counter() - begun)

    def end(self) -> None:
        """End the server, if it runs."""
        if self.server is not None:
            self.server.end()
            self.server = None

    def edit(self, version: int, row: int) -> None:
        """One edit."""
        assert self.server is not None
        begun = self.server.processor_time()
        self.taken["edit"].append(type_remark(self.server, self.uri, version, row))
        self.edits_cpu += self.server.processor_time() - begun

    def edit_code(self, version: int, place: tuple[int, int]) -> None:
        """One edit of code."""
        assert self.server is not None
        number = len(self.taken["code"])
        self.taken["code"].append(type_letter(self.server, self.uri, version, place, number))

    def hover(self, place: tuple[int, int]) -> None:
        """One hover."""
        assert self.server is not None
        self.taken["hover"].append(hover(self.server, self.uri, place))

    def result(self) -> Result:
        """The figures of the table."""
        assert self.server is not None
        middle = {what: statistics.median(times) * 1e3 for what, times in self.taken.items()}
        hovers = sorted(self.taken["hover"])
        return Result(
            self.name,
            len(self.text.splitlines()),
            middle["initialize"],
            middle["first"],
            middle["ready"],
            middle["edit"],
            middle["code"],
            self.edits_cpu / len(self.taken["edit"]) * 1e3,
            middle["hover"],
            hovers[int(len(hovers) * 0.99)] * 1e3,
            self.server.memory(),
        )


def contest(contestants: list[Contestant], rounds: int, starts: int) -> list[Result]:
    """Everything about some servers and one file, in turns."""
    lines = contestants[0].text.split("\n")
    try:
        for number in range(starts):
            for one in contestants[:: -1 if number % 2 else 1]:
                one.start()
                print(".", end="", flush=True, file=sys.stderr)
        time.sleep(2)
        for version in range(2, rounds + 2):
            for one in contestants:
                one.edit(version, len(lines) // 2)
        for version in range(rounds + 2, 2 * rounds + 2):
            for one in contestants:
                one.edit_code(version, assigned_name(lines))
        for place in places(lines, 5 * rounds):
            for one in contestants:
                one.hover(place)
        return [one.result() for one in contestants]
    finally:
        for one in contestants:
            one.end()


def type_remark(server: Connection, uri: str, version: int, row: int) -> float:
    """Type one character (a comment's, in the middle of the file) and wait for the diagnostics."""
    start = {"line": row, "character": 0}
    return edit(server, uri, version, start, start, "#" if version % 2 else "\n")


def type_letter(server: Connection, uri: str, version: int, place: tuple[int, int], number: int) -> float:
    """Type a letter more behind a name, which makes a text that was never seen before, and wait for the diagnostics.

    Of numbered letters each word takes some, and the first of the next word replaces them.
    """
    row, column = place
    word, typed = divmod(number, LETTERS)
    letter = string.ascii_lowercase[(7 * word + typed) % 26]
    replaced = {"line": row, "character": column + (typed or (LETTERS if word else 0))}
    start = {"line": row, "character": column + typed}
    return edit(server, uri, version, start, replaced, letter)


def assigned_name(lines: list[str]) -> tuple[int, int]:
    """Where the name of a variable ends that a function assigns a call to, above the middle of the file."""
    middle = len(lines) // 2
    named = re.compile(r" +\w+(?= = \w+\()")
    found = ((row, named.match(lines[row])) for row in range(middle - 1, 0, -1))
    return next((row, name.end()) for row, name in found if name is not None)


def edit(server: Connection, uri: str, version: int, start: Any, end: Any, text: str) -> float:
    """The time from an edit to its diagnostics."""
    while not server.incoming.empty():
        server.incoming.get()
    begun = time.perf_counter()
    change = {"range": {"start": start, "end": end}, "text": text}
    server.send(
        {
            "method": "textDocument/didChange",
            "params": {"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]},
        }
    )
    server.diagnostics(uri, version)
    taken = time.perf_counter() - begun
    time.sleep(0.05)
    return taken


def places(lines: list[str], count: int) -> list[tuple[int, int]]:
    """Positions on names behind `tf.`, spread over the half of the file above the edits."""
    found = [
        (row, line.index("tf.") + 4) for row, line in enumerate(lines[: len(lines) // 2 - 1]) if "tf." in line
    ]
    step = max(1, len(found) // count)
    chosen = found[::step]
    return [chosen[index % len(chosen)] for index in range(count)]


def hover(server: Connection, uri: str, place: tuple[int, int]) -> float:
    begun = time.perf_counter()
    position = {"line": place[0], "character": place[1]}
    server.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})
    return time.perf_counter() - begun


def keras_folder() -> Path:
    """Where Keras is installed."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def keras_code(lines: int) -> str:
    """TensorFlow code that ships with Keras, cut to so many lines."""
    folder = keras_folder() / "src" / "backend" / "tensorflow"
    names = (
        ["numpy", "nn", "math", "image", "core", "linalg", "random", "rnn"] if lines > 1000 else ["linalg"]
    )
    text = "\n".join((folder / f"{name}.py").read_text("utf-8") for name in names)
    return "\n".join(text.split("\n")[:lines]) + "\n"


def install(folder: Path) -> Path:
    """A virtual environment with the other servers; what cannot be installed is left out."""
    programs = folder / "bin"
    if not (programs / "python").exists():
        venv.create(folder, with_pip=True)
    for package in PACKAGES:
        done = subprocess.run(
            [programs / "python", "-m", "pip", "install", "--quiet", package], capture_output=True
        )
        if done.returncode != 0:
            print(f"{package} could not be installed and is left out.", file=sys.stderr)
    return programs


def print_table(results: list[Result]) -> None:
    columns = [
        "initialize",
        "open → diagnostics",
        "start → diagnostics",
        "edit → diagnostics",
        "edit of code → diagnostics",
        "CPU of an edit",
        "hover p50",
        "hover p99",
        "memory",
    ]
    print("| server | lines | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for one in results:
        figures = (
            one.initialize,
            one.first,
            one.ready,
            one.edit,
            one.code,
            one.edit_cpu,
            one.hover_50,
            one.hover_99,
        )
        shown = " | ".join(f"{value:.1f} ms" for value in figures)
        print(f"| {one.server} | {one.lines} | {shown} | {one.memory:.0f} MB |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ["energy-lsp", *OTHERS]
    parser.add_argument("--servers", default=",".join(known))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--lines", default="240,6700")
    parser.add_argument("--venv", type=Path)
    parser.add_argument("--pull", action="store_true")
    options = parser.parse_args()
    if options.pull:
        CAPABILITIES["textDocument"]["diagnostic"] = {}
    wanted = options.servers.split(",")
    if unknown := set(wanted) - set(known):
        parser.error(f"unknown server {', '.join(sorted(unknown))}: choose from {', '.join(known)}.")
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = install(options.venv or Path(scratch) / "venv") if set(wanted) & set(OTHERS) else Path()
        commands = {name: [str(programs / command[0]), *command[1:]] for name, command in OTHERS.items()}
        commands["energy-lsp"] = ENERGY_LSP
        installed = [name for name in wanted if Path(commands[name][0]).exists()]
        for lines in map(int, options.lines.split(",")):
            contestants = []
            for name in installed:
                root = Path(scratch) / f"{name}-{lines}"
                root.mkdir()
                contestants.append(Contestant(name, commands[name], root, keras_code(lines)))
            results += contest(contestants, options.rounds, options.starts)
    print(file=sys.stderr)
    print_table(results)


if __name__ == "__main__":
    main()
