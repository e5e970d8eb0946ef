"""How fast the server answers, beside ruff, pyright, python-lsp-server and jedi-language-server, in one run.

    python benchmarks/servers.py [--servers energy-lsp,ruff,...] [--rounds 20] [--venv FOLDER]

The other servers are installed into a virtual environment that is made for the run and thrown away (unless
--venv names one to keep). The files are TensorFlow code from Keras: one of 240 lines, one of 6,700.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import queue
import statistics
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

OTHERS = {
    "ruff": ["ruff", "server"],
    "pyright": ["pyright-langserver", "--stdio"],
    "pylsp": ["pylsp"],
    "jedi": ["jedi-language-server"],
}
PACKAGES = ["ruff", "pyright[nodejs]", "python-lsp-server[all]", "jedi-language-server"]
PATIENCE = 120.0


class Result(NamedTuple):
    """What one server took for one file, in milliseconds, and its memory in megabytes."""

    server: str
    lines: int
    initialize: float
    first: float
    edit: float
    hover_50: float
    hover_99: float
    memory: float


class Connection:
    """A client that does nothing but talk."""

    def __init__(self, command: list[str], root: Path) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root
        )
        self.incoming: queue.Queue[dict[str, Any]] = queue.Queue()
        self.number = 0
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
            self.incoming.put(json.loads(stream.read(length)))

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

    def diagnostics(self, uri: str, version: int) -> None:
        """Wait for the diagnostics of this version; of a server that tells no version, the first count."""

        def fits(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            params = message["params"]
            told = params.get("version")
            return bool(params["uri"] == uri and (told is None or told >= version))

        self.wait(fits)

    def memory(self) -> float:
        """Resident memory of the server and its children in MB."""
        parent = psutil.Process(self.process.pid)
        return sum(one.memory_info().rss for one in [parent, *parent.children(recursive=True)]) / 1e6


@contextmanager
def connected(command: list[str], root: Path) -> Iterator[Connection]:
    connection = Connection(command, root)
    try:
        yield connection
    finally:
        processes = psutil.Process(connection.process.pid).children(recursive=True)
        connection.process.kill()
        connection.process.wait()
        for process in processes:
            process.kill()


def measure(name: str, command: list[str], root: Path, text: str, rounds: int) -> Result:
    """Everything about one server and one file."""
    path = root / "program.py"
    path.write_text(text)
    uri = path.as_uri()
    lines = text.split("\n")
    begun = time.perf_counter()
    with connected(command, root) as server:
        capabilities = {
            "textDocument": {
                "hover": {"contentFormat": ["markdown"]},
                "publishDiagnostics": {"versionSupport": True},
            }
        }
        folders = [{"uri": root.as_uri(), "name": "bench"}]
        server.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": folders,
                "capabilities": capabilities,
            },
        )
        initialized = time.perf_counter() - begun
        server.send({"method": "initialized", "params": {}})
        begun = time.perf_counter()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        server.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        server.diagnostics(uri, 1)
        first = time.perf_counter() - begun
        time.sleep(2)
        edits = [edit(server, uri, version, len(lines) // 2) for version in range(2, rounds + 2)]
        hovers = [hover(server, uri, place) for place in places(lines, 5 * rounds)]
        memory = server.memory()
    return Result(
        name,
        len(lines) - 1,
        initialized * 1e3,
        first * 1e3,
        statistics.median(edits) * 1e3,
        statistics.median(hovers) * 1e3,
        sorted(hovers)[int(len(hovers) * 0.99)] * 1e3,
        memory,
    )


def edit(server: Connection, uri: str, version: int, row: int) -> float:
    """Type one character (a comment's, in the middle of the file) and wait for the diagnostics."""
    while not server.incoming.empty():
        server.incoming.get()
    start = {"line": row, "character": 0}
    text = "#" if version % 2 else "\n"
    begun = time.perf_counter()
    change = {"range": {"start": start, "end": start}, "text": text}
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


def keras_code(lines: int) -> str:
    """TensorFlow code that ships with Keras, cut to so many lines."""
    spec = importlib.util.find_spec("keras")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "src" / "backend" / "tensorflow"
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
    columns = ["initialize", "first diagnostics", "edit → diagnostics", "hover p50", "hover p99", "memory"]
    print("| server | lines | " + " | ".join(columns) + " |")
    print("|---|---|---|---|---|---|---|---|")
    for one in results:
        figures = (one.initialize, one.first, one.edit, one.hover_50, one.hover_99)
        shown = " | ".join(f"{value:.1f} ms" for value in figures)
        print(f"| {one.server} | {one.lines} | {shown} | {one.memory:.0f} MB |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", default=",".join(["energy-lsp", *OTHERS]))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--lines", default="240,6700")
    parser.add_argument("--venv", type=Path)
    options = parser.parse_args()
    wanted = options.servers.split(",")
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = install(options.venv or Path(scratch) / "venv") if set(wanted) & set(OTHERS) else Path()
        for lines in map(int, options.lines.split(",")):
            for name in wanted:
                command = [str(programs / OTHERS[name][0]), *OTHERS[name][1:]] if name in OTHERS else None
                if command and not Path(command[0]).exists():
                    continue
                root = Path(scratch) / f"{name}-{lines}"
                root.mkdir()
                own = [str(Path(sys.executable).with_name("energy-lsp")), "serve"]
                results.append(measure(name, command or own, root, keras_code(lines), options.rounds))
                print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    print_table(results)


if __name__ == "__main__":
    main()
