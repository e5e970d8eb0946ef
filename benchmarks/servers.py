"""How fast the server answers, beside ruff, pyright, python-lsp-server and jedi-language-server, in one run.

    python benchmarks/servers.py [--servers energy-lsp,ruff,...] [--lines 240,1000,6300] [--starts 5] [--json FILE]
    python benchmarks/servers.py --builds before="OTHER/.venv/bin/energy-lsp serve" --part before

ruff is the one of this environment. Other servers are installed into a virtual environment that is made for the run and
thrown away (unless --venv names one to keep). The files are TensorFlow code from Keras. The servers take turns: each is
started in every round of starts, and each gets every key and every hover right after the others, so that what else the
machine does meets all of them alike.

Typing: nine lines of ordinary code, key by key, each key after the diagnostics of the one before and a pause. Brackets and
quotes are closed by whoever types; at one place also by the editor. Typed at the start, in the middle between two
statements, in the body of a function, and at the end; the last keys are taken back one by one, then all at once, then the
lines are pasted and taken back. A second file of the largest size is made of classes, Keras' layers: there the code is typed
between two classes and in the body of a method, where `self` is asked what it holds. p50, p90 and p99 are over all keys
until their diagnostics; with every fifth key a hover is asked for at once. CPU is what the server took from a key to the
next one, by the scheduler's clock.
With --pull diagnostics are asked for right behind the key, of servers that can be asked. With --builds other builds of this
server take part, each under a name: what a change costs or saves is seen in one run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import queue
import re
import shlex
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

from subjects.keystrokes import CLASS_PLACES, PLACES, Key, keys, position

ENERGY_LSP = [str(Path(sys.executable).with_name("energy-lsp")), "serve"]
RUFF = [str(Path(sys.executable).with_name("ruff")), "server"]
OTHERS = {
    "pyright": ["pyright-langserver", "--stdio"],
    "pylsp": ["pylsp"],
    "jedi": ["jedi-language-server"],
}
PACKAGES = ["pyright[nodejs]", "python-lsp-server[all]", "jedi-language-server"]
PATIENCE = 120.0
PAUSE = 0.01
"""Seconds between the diagnostics of a key and the next one: what a server puts off until then counts as its CPU time."""
HOVER_EVERY = 5
"""With so many keys one hover."""
LARGE = 6_300
"""From so many lines on a file of classes is typed into, too."""
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
    hover_50: float
    hover_99: float
    memory: float


class Typed(NamedTuple):
    """What one server took for the keys of one file, in milliseconds."""

    server: str
    lines: int
    what: str
    keys: int
    p50: float
    p90: float
    p99: float
    worst: float
    hover_50: float
    hover_99: float
    cpu_50: float
    cpu_90: float
    cpu_99: float
    cpu_worst: float


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

    def both(self, uri: str, version: int, place: tuple[int, int], begun: float) -> tuple[float, float]:
        """Ask for a hover and wait for it and for the diagnostics; how long each took since a moment."""
        self.number += 1
        number, taken = self.number, {}
        where = {"textDocument": {"uri": uri}, "position": {"line": place[0], "character": place[1]}}
        asked = time.perf_counter()
        self.send({"id": number, "method": "textDocument/hover", "params": where})
        if self.pulls:
            self.diagnostics(uri, version)
            taken["key"] = time.perf_counter() - begun

        def both(message: dict[str, Any]) -> bool:
            if message.get("id") == number:
                taken["hover"] = time.perf_counter() - asked
            elif message.get("method") == "textDocument/publishDiagnostics":
                told = message["params"].get("version")
                if message["params"]["uri"] == uri and (told is None or told >= version):
                    taken.setdefault("key", time.perf_counter() - begun)
            return len(taken) == 2

        if len(taken) < 2:
            self.wait(both)
        return taken["key"], taken["hover"]

    def processor_time(self) -> float:
        """Seconds of processor time that the server and its children have taken."""
        parent = psutil.Process(self.process.pid)
        return sum(processor_time(one) for one in [parent, *parent.children(recursive=True)])

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


def processor_time(process: psutil.Process) -> float:
    """Seconds of processor time of one process: in nanoseconds where Linux tells them, else in steps of its clock."""
    threads = Path(f"/proc/{process.pid}/task")
    try:
        told = [(thread / "schedstat").read_text().split()[0] for thread in threads.iterdir()]
        return sum(map(int, told)) / 1e9
    except (OSError, IndexError):
        times = process.cpu_times()
        return float(times.user + times.system)


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
        self.version = 1
        self.before: float | None = None
        self.taken: dict[str, list[float]] = {what: [] for what in ("initialize", "first", "ready", "hover")}
        self.typed: dict[str, dict[str, list[float]]] = {}

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

    def press(self, text: str, key: Key, what: str, hover: tuple[int, int] | None) -> None:
        """One key, and what it took until its diagnostics; a hover is asked for right behind it."""
        server = self.server
        assert server is not None
        taken = self.typed.setdefault(what, {"key": [], "hover": [], "cpu": []})
        while not server.incoming.empty():
            server.incoming.get()
        self.version += 1
        before = server.processor_time()
        begun = time.perf_counter()
        start, end = position(text, key.start), position(text, key.end)
        change = {"range": {"start": start._asdict(), "end": end._asdict()}, "text": key.text}
        document = {"uri": self.uri, "version": self.version}
        server.send(
            {
                "method": "textDocument/didChange",
                "params": {"textDocument": document, "contentChanges": [change]},
            }
        )
        if hover is None:
            server.diagnostics(self.uri, self.version)
            taken["key"].append(time.perf_counter() - begun)
        else:
            key_taken, hover_taken = server.both(self.uri, self.version, hover, begun)
            taken["key"].append(key_taken)
            taken["hover"].append(hover_taken)
        time.sleep(PAUSE)
        taken["cpu"].append(server.processor_time() - before)

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
            middle["hover"],
            hovers[int(len(hovers) * 0.99)] * 1e3,
            self.server.memory(),
        )

    def typing(self) -> list[Typed]:
        """The figures of the keys: at each place, and over all of them."""
        everything = {
            what: [one for taken in self.typed.values() for one in taken[what]]
            for what in ("key", "hover", "cpu")
        }
        lines = len(self.text.splitlines())
        return [
            Typed(
                self.name,
                lines,
                what,
                len(taken["key"]),
                *[part(taken["key"], share) for share in (0.5, 0.9, 0.99, 1)],
                *[part(taken["hover"], share) for share in (0.5, 0.99)],
                *[part(taken["cpu"], share) for share in (0.5, 0.9, 0.99, 1)],
            )
            for what, taken in [*self.typed.items(), ("all", everything)]
        ]


def part(times: list[float], share: float) -> float:
    """The time, in milliseconds, that a share of some times does not exceed."""
    return sorted(times)[min(int(len(times) * share), len(times) - 1)] * 1e3 if times else float("nan")


def contest(
    contestants: list[Contestant], rounds: int, starts: int, runs: list[tuple[str, bool]]
) -> tuple[list[Result], list[Typed]]:
    """Everything about some servers and one file, in turns."""
    text = contestants[0].text
    lines = text.split("\n")
    try:
        for number in range(starts):
            for one in contestants[:: -1 if number % 2 else 1]:
                one.start()
                print(".", end="", flush=True, file=sys.stderr)
        time.sleep(2)
        for place in places(lines, 5 * rounds):
            for one in contestants:
                one.hover(place)
        [hovered] = places(lines[: len(lines) // 4], 1) or [(0, 0)]
        for where, closing in runs:
            what = f"{where}, closed by the editor" if closing else where
            for number, key in enumerate(keys(text, where, closing)):
                for one in contestants:
                    one.press(text, key, what, hovered if number % HOVER_EVERY == 0 else None)
                text = key.applied(text)
            print(",", end="", flush=True, file=sys.stderr)
        return [one.result() for one in contestants], [row for one in contestants for row in one.typing()]
    finally:
        for one in contestants:
            one.end()


def places(lines: list[str], count: int) -> list[tuple[int, int]]:
    """Positions on names behind `tf.` or `ops.`, spread over the half of the file above the edits."""
    names = [
        (row, re.search(r"\b(?:tf|ops)\.", line)) for row, line in enumerate(lines[: len(lines) // 2 - 1])
    ]
    found = [(row, match.end() + 1) for row, match in names if match is not None]
    step = max(1, len(found) // count)
    if not found:
        return []
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
    names = ["numpy", "nn", "math", "image", "core", "linalg", "random", "rnn"] if lines > 500 else ["linalg"]
    text = "\n".join((folder / f"{name}.py").read_text("utf-8") for name in names)
    return "\n".join(text.split("\n")[:lines]) + "\n"


def keras_layers(lines: int) -> str:
    """Layers of Keras, one class behind the other, cut behind the last whole one within so many lines."""
    folder = keras_folder() / "src" / "layers"
    text = ""
    for path in sorted(folder.glob("*/*.py")):
        more = path.read_text("utf-8")
        if path.name.startswith("__") or path.stem.endswith("_test") or not more.isascii():
            continue
        if text.count("\n") + more.count("\n") <= lines:
            text += more
    return text


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


def print_table(rows: list[Result] | list[Typed]) -> None:
    """Figures as a Markdown table, in milliseconds and megabytes."""
    columns = [name.replace("_", " ") for name in rows[0]._fields]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for row in rows:
        print("| " + " | ".join(f"{one:.1f}" if isinstance(one, float) else str(one) for one in row) + " |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = ["energy-lsp", "ruff", *OTHERS]
    parser.add_argument("--servers", default="energy-lsp,ruff", help=f"of {', '.join(known)}")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--lines", default="240,1000,6300")
    parser.add_argument("--places", default=",".join(PLACES), help="where to type")
    parser.add_argument("--venv", type=Path)
    parser.add_argument("--pull", action="store_true")
    parser.add_argument("--builds", nargs="+", default=[], metavar="NAME=COMMAND", help="other builds")
    parser.add_argument("--part", default="", help="keep the figures under a name of their own")
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    options = parser.parse_args()
    if options.pull:
        CAPABILITIES["textDocument"]["diagnostic"] = {}
    wanted = options.servers.split(",")
    builds = {
        name: shlex.split(command) for name, _, command in (one.partition("=") for one in options.builds)
    }
    if unknown := set(wanted) - set(known):
        parser.error(f"unknown server {', '.join(sorted(unknown))}: choose from {', '.join(known)}.")
    runs = [(where, False) for where in options.places.split(",")]
    if "middle" in options.places:
        runs.append(("middle", True))
    results: list[Result] = []
    typed: list[Typed] = []
    with tempfile.TemporaryDirectory() as scratch:
        programs = install(options.venv or Path(scratch) / "venv") if set(wanted) & set(OTHERS) else Path()
        commands = {name: [str(programs / command[0]), *command[1:]] for name, command in OTHERS.items()}
        commands |= {"energy-lsp": ENERGY_LSP, "ruff": RUFF, **builds}
        installed = [name for name in (*wanted, *builds) if Path(commands[name][0]).exists()]
        sizes = [int(lines) for lines in options.lines.split(",")]
        texts = [(f"{lines}", keras_code(lines), runs) for lines in sizes]
        if max(sizes) >= LARGE:
            in_classes = [(where, False) for where in CLASS_PLACES]
            texts.append(("classes", keras_layers(max(sizes)), in_classes))
        for title, text, there in texts:
            contestants = []
            for name in installed:
                root = Path(scratch) / f"{name}-{title}"
                root.mkdir()
                contestants.append(Contestant(name, commands[name], root, text))
            found, keys_found = contest(contestants, options.rounds, options.starts, there)
            results += found
            typed += keys_found
    print(file=sys.stderr)
    print_table(results)
    print_table(typed)
    from record import (
        Results,  # tests and other benchmarks load this module where record.py is not beside them
    )

    kept = Results("servers", topic="Server", title="Language servers beside each other", part=options.part)
    for row in results:
        kept.add(f"{row.server}, {row.lines:,} lines: start → diagnostics", row.ready, "ms")
        kept.add(f"{row.server}, {row.lines:,} lines: memory", row.memory, "MB")
    for row in typed:
        for name, value in (
            ("p50", row.p50),
            ("p99", row.p99),
            ("hover p99", row.hover_99),
            ("CPU p99", row.cpu_99),
            ("CPU of the costliest key", row.cpu_worst),
        ):
            subject = f"{row.server}, {row.lines:,} lines, {row.what}"
            kept.add(f"{subject}: {name}", value, "ms", detail=row.what != "all")
    kept.write()
    if options.json is not None:
        figures = {"servers": [row._asdict() for row in results], "typing": [row._asdict() for row in typed]}
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
