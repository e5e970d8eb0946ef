"""How long the server's event loop keeps a client waiting while the worker is busy.

    python benchmarks/speed/loop_lag.py [--lines 6700] [--files 300]

A request that needs no analysis (a hover in a file that is not open) is sent every few milliseconds while a large
file is opened and edited, 10 MB arrive, a whole workspace is read and every hint of a file is asked for. Its answer
comes from the event loop alone, so the time it takes is how long the loop was held up. `idle` is the same with
nothing else to do: what is above it is the server's own. The client neither counts the time it waits to send, nor
decodes long answers, which would hold up its own clock.

On a busy machine these times say little. Two columns hold there too. The longest single step of the server's loop, in
processor time of its thread: meanwhile it answers nobody. And how long a thread of the server that wakes up every
millisecond waits for the interpreter, which the loop has to do as well, without the time that threads of the server
were ready to run and the system ran others (Linux tells it).
"""

from __future__ import annotations

import argparse
import queue
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from record import Results
from servers import PATIENCE, Connection, ended, keras_code, keras_folder

EVERY = 0.002
LONG = 1 << 14
SERVER = """
import sys, threading, time
from asyncio import events
out = open(sys.argv.pop(1), "w", buffering=1)
run = events.Handle._run
def timed(handle):
    begun = time.thread_time()
    run(handle)
    if (taken := time.thread_time() - begun) > 0.0005:
        print("step", time.monotonic(), taken, file=out)
events.Handle._run = timed
files = {}
def unscheduled():
    total = 0
    for thread in threading.enumerate():
        try:
            if thread not in files:
                files[thread] = open(f"/proc/self/task/{thread.native_id}/schedstat", "rb", buffering=0)
            files[thread].seek(0)
            total += int(files[thread].read().split()[1])
        except (OSError, IndexError):  # the thread begins or ends just now
            pass
    return total / 1e9
def wake():
    while True:
        ready, begun = unscheduled(), time.perf_counter()
        time.sleep(0.001)
        taken = time.perf_counter() - begun - 0.001
        print("wait", time.monotonic(), taken - (unscheduled() - ready), file=out)
if sys.platform == "linux":
    threading.Thread(target=wake, daemon=True).start()
from energy_lsp.cli import main
main()
"""
"""The server, which writes down when a step of its loop took more than half a millisecond, and waits for the interpreter."""
CAPABILITIES = {"textDocument": {"diagnostic": {}, "hover": {"contentFormat": ["markdown"]}}}


Pinged = Callable[..., AbstractContextManager[None]]


class Listener(Connection):
    """Of a long answer it learns only whose it is."""

    def decode(self, body: bytes) -> dict[str, Any]:
        """One message of the server."""
        number = re.search(rb'"id": ?(\d+)', body[:80])
        if len(body) < LONG or number is None:
            return super().decode(body)
        return {"id": int(number[1])}


class Client:
    """Lets two threads talk to one server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._number = 0
        self._answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        threading.Thread(target=self._hand_out, daemon=True).start()

    def _hand_out(self) -> None:
        while True:
            message = self._connection.incoming.get()
            if "method" in message:
                if "id" in message:
                    self.send({"id": message["id"], "result": None})
            else:
                self._answers.pop(message["id"]).put(message)

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        with self._lock:
            self._connection.send(message)

    def open(self, uri: str, text: str) -> None:
        """Open a file."""
        with self._lock:
            self._connection.open(uri, text)

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        with self._lock:
            self._number += 1
            number = self._number
        answer = self._answers[number] = queue.Queue()
        self.send({"id": number, "method": method, "params": params})
        return answer.get(timeout=PATIENCE)

    def time(self, method: str, params: Any) -> float:
        """Milliseconds from the moment in which a request can be sent to its answer."""
        with self._lock:
            self._number += 1
            answer = self._answers[self._number] = queue.Queue()
            begun = time.perf_counter()
            self._connection.send({"id": self._number, "method": method, "params": params})
        answer.get(timeout=PATIENCE)
        return (time.perf_counter() - begun) * 1e3


class Pings:
    """Requests that only the event loop answers, from a thread of their own."""

    def __init__(self, server: Client, steps: Path) -> None:
        self._server = server
        self._steps = steps
        self._begun = time.monotonic()
        self.taken: list[float] = []

    def send_until(self, over: threading.Event) -> None:
        """One after the other, with a breath between them."""
        where = {
            "textDocument": {"uri": "file:///not/open.py"},
            "position": {"line": 0, "character": 0},
        }
        while not over.is_set():
            self.taken.append(self._server.time("textDocument/hover", where))
            time.sleep(EVERY)

    def figures(self) -> list[float]:
        """p50, p99 and longest answer, longest step, p99 and longest wait for the interpreter, in ms."""
        taken = sorted(self.taken)
        at = [taken[min(int(len(taken) * share), len(taken) - 1)] for share in (0.5, 0.99, 1.0)]
        at.append(max(self._since("step"), default=0.0))
        waits = sorted(self._since("wait")) or [0.0]
        at += [waits[int(len(waits) * 0.99)], waits[-1]]
        return at

    def _since(self, kind: str) -> list[float]:
        lines = [line.split() for line in self._steps.read_text().splitlines()]
        return [float(line[2]) * 1e3 for line in lines if line[0] == kind and float(line[1]) > self._begun]


@contextmanager
def pinged(server: Client, steps: Path, results: Results, what: str) -> Iterator[None]:
    """Measure the loop while something goes on, and print a row."""
    pings, over = Pings(server, steps), threading.Event()
    thread = threading.Thread(target=pings.send_until, args=(over,))
    thread.start()
    time.sleep(0.05)
    yield
    over.set()
    thread.join()
    at = pings.figures()
    row = " | ".join(f"{value:.1f} ms" for value in at)
    print(f"| {what} | {row} | {len(pings.taken)} |", flush=True)
    results.add(f"{what}: longest step of the loop, CPU", at[3], "ms", at_most=5)
    results.add(f"{what}: longest wait for the interpreter", at[5], "ms", at_most=5)
    results.add(f"{what}: answer, p99", at[1], "ms")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=6700)
    parser.add_argument("--files", type=int, default=300)
    options = parser.parse_args()
    results = Results("speed/loop_lag", topic="Server", title="Whether the event loop stays free")
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for number, path in enumerate(sorted(keras_folder().rglob("*.py"))[: options.files]):
            shutil.copy(path, root / f"part{number}.py")
        (root / "pyproject.toml").write_text("[tool.energy-lsp]\nworkspace-diagnostics = true\n")
        steps = root / "steps.txt"
        command = [sys.executable, "-c", SERVER, str(steps), "serve"]
        with ended(Listener(command, root)) as server:
            measure(
                Client(server), root, keras_code(options.lines), partial(pinged, steps=steps, results=results)
            )
    results.write()


def measure(server: Client, root: Path, text: str, pinged: Pinged) -> None:
    folders = [{"uri": root.as_uri(), "name": "bench"}]
    server.ask(
        "initialize",
        {
            "processId": None,
            "rootUri": root.as_uri(),
            "workspaceFolders": folders,
            "capabilities": CAPABILITIES,
        },
    )
    server.send({"method": "initialized", "params": {}})
    small = root / "small.py"
    server.open(small.as_uri(), "import tensorflow as tf\n")
    server.ask("textDocument/diagnostic", {"textDocument": {"uri": small.as_uri()}})
    columns = ("while", "p50", "p99", "longest", "longest step, CPU", "interpreter p99", "longest", "pings")
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    with pinged(server, what="idle"):
        time.sleep(3)
    uri = (root / "large.py").as_uri()
    large = {"textDocument": {"uri": uri}}
    with pinged(server, what=f"opening {len(text.splitlines()):,} lines"):
        server.open(uri, text)
        server.ask("textDocument/diagnostic", large)
    with pinged(server, what="editing them, 50 times"):
        for number in range(50):
            edit(server, uri, number, text)
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}
    with pinged(server, what="asking for all inlay hints and code lenses, 10 times"):
        for _ in range(10):
            server.ask("textDocument/inlayHint", {**large, "range": everything})
            server.ask("textDocument/codeLens", large)
    with pinged(server, what="reading the workspace"):
        server.ask("workspace/diagnostic", {"previousResultIds": []})
    with pinged(server, what="sending right behind 10 MB"):
        server.open((root / "huge.py").as_uri(), "x = tf.abs(1)  # ten megabytes\n" * 340_000)
        server.ask("textDocument/diagnostic", {"textDocument": {"uri": (root / "huge.py").as_uri()}})


def edit(server: Client, uri: str, number: int, text: str) -> None:
    """Type a line in the middle and wait for the diagnostics."""
    start = {"line": text.count("\n") // 2, "character": 0}
    change = {"range": {"start": start, "end": start}, "text": "#" if number % 2 else "\n"}
    server.send(
        {
            "method": "textDocument/didChange",
            "params": {"textDocument": {"uri": uri, "version": number + 2}, "contentChanges": [change]},
        }
    )
    server.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})


if __name__ == "__main__":
    sys.exit(main())
