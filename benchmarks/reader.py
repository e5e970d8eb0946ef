"""How fast the reader is, as ratios measured in one run.

    python benchmarks/reader.py [--files 10000] [--rounds 5]

1. whole analysis of 6,700-line files against `ast.parse` of them (limit: 2): programs of the corpus joined in one file,
   and files of the installed TensorFlow itself, which are mostly documentation. Each in processes of its own, in turn, as
   Python starts them; and once more without Python's collector, which slows `ast.parse` only: the reader pauses it
2. analysis after a one-character edit, anywhere in the file, against the whole analysis (limit: 0.1)
3. index of the installed Keras, first and second start, on one core (limit: 150 files a second)
4. memory of a process that has indexed a project of 10,000 files (limit: 300 MB)
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from energy_code.workspace.document import Document
from energy_code.workspace.project import Project
from record import Results

CORPUS = Path(__file__).parents[1] / "tests" / "code" / "corpus"
LINES = 6_700
LEFT_OUT = ("star_imports.py", "typed_style.py")
"""A star import or a `from __future__` may not stand inside a function."""


def programs() -> list[str]:
    paths = sorted(path for path in CORPUS.glob("*.py") if path.name not in LEFT_OUT)
    return [path.read_text(encoding="utf-8") for path in paths]


def large_file(lines: int = LINES) -> bytes:
    """The programs of the corpus as functions of one file, as often as it takes."""
    parts: list[str] = []
    count, number, sources = 0, 0, programs()
    while count < lines:
        source = sources[number % len(sources)]
        body = "".join(f"    {line}" if line.strip() else line for line in source.splitlines(keepends=True))
        parts.append(f"def program_{number}():\n{body}\n\n")
        count += parts[-1].count("\n")
        number += 1
    return "".join(parts).encode()


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def whole(source: bytes) -> int:
    """Everything: every call found and every `Call` built, arguments and positions included."""
    return len(list(Document(source).analyse().calls()))


def places(source: bytes, count: int) -> list[int]:
    """Places anywhere between plain characters: in words, in blanks, in strings and comments."""
    generator = random.Random(3)
    plain = [i for i in range(1, len(source)) if source[i] < 128 and source[i - 1] < 128]
    return sorted(generator.sample(plain, count))


OWN_FILES = ("python/ops/nn_ops.py", "python/ops/array_ops.py", "python/keras/backend.py")


def own_files() -> list[tuple[str, bytes]]:
    """Files of TensorFlow itself, as far as it is installed; it is not imported."""
    spec = find_spec("tensorflow")
    root = Path(spec.origin).parent if spec is not None and spec.origin is not None else Path()
    return [
        (f"tensorflow/{name}", (root / name).read_bytes()) for name in OWN_FILES if (root / name).exists()
    ]


def edit_times(source: bytes, count: int = 60) -> tuple[list[float], list[float], list[float]]:
    """Seconds after one typed character, at many places, each taken back again; and of the whole, in between.

    First until all calls are known, then with every `Call` of the file built anew as far as it moved.
    """
    document = Document(source)
    list(document.analyse().calls())
    known: list[float] = []
    built: list[float] = []
    fresh: list[float] = []
    for number, place in enumerate(places(source, count)):
        if number % 6 == 0:
            fresh.append(seconds(lambda: whole(source)))
        for end, text in ((place, b"q"), (place + 1, b"")):
            start = time.process_time()
            document.edit(place, end, text)
            calls = document.analyse().calls()
            len(calls)
            known.append(time.process_time() - start)
            list(calls)
            built.append(time.process_time() - start)
    return known, built, fresh


ALONE = """
import ast, gc, statistics, sys, time
from pathlib import Path
source = Path(sys.argv[1]).read_bytes()
if sys.argv[2] == "analysis":
    from energy_code.workspace.document import Document
    action = lambda: len(list(Document(source).analyse().calls()))
else:
    action = lambda: ast.parse(source)
if sys.argv[3] == "without":
    gc.disable()
times = []
for _ in range(6):
    start = time.process_time()
    action()
    times.append(time.process_time() - start)
    gc.collect()
print(statistics.median(times[1:]))
"""


def alone(source: bytes, collector: str, rounds: int) -> tuple[float, float]:
    """Seconds of `ast.parse` and of the analysis, each the median over processes that do nothing else."""
    took: dict[str, list[float]] = {"parse": [], "analysis": []}
    with tempfile.NamedTemporaryFile(suffix=".py") as file:
        file.write(source)
        file.flush()
        for _ in range(rounds):
            for what, times in took.items():
                command = [sys.executable, "-c", ALONE, file.name, what, collector]
                times.append(
                    float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                )
    return statistics.median(took["parse"]), statistics.median(took["analysis"])


def analysis_table(name: str, source: bytes, rounds: int, results: Results) -> None:
    calls = whole(source)
    known, built, fresh = edit_times(source)
    beside = statistics.median(fresh)
    print(f"{name}: {source.count(bytes([10])):,} lines, {len(source):,} bytes, {calls:,} API calls")
    parse, full = alone(source, "with", rounds)
    row("ast.parse", f"{parse * 1000:.1f} ms")
    row("whole analysis", f"{full * 1000:.1f} ms", f"{full / parse:.2f} × ast.parse", "limit 2")
    results.add(f"{name}: whole analysis", full / parse, "× ast.parse", at_most=2)
    bare, bare_full = alone(source, "without", rounds)
    row("  without the collector", f"{bare_full * 1000:.1f} ms", f"{bare_full / bare:.2f} × ast.parse")
    for title, times in (("all calls known", known), ("every Call built", built)):
        median, late = statistics.median(times), sorted(times)[len(times) * 95 // 100]
        row(
            f"one character, {title}",
            f"{median * 1000:.1f} ms",
            f"{median / beside:.3f} × the whole",
            "limit 0.1",
        )
        goal = 0.1 if times is known else None
        results.add(f"{name}: after one character, {title}", median / beside, "× the whole", at_most=goal)
        row("  95th of 100", f"{late * 1000:.1f} ms", f"{late / beside:.3f} × the whole")


def row(*cells: str) -> None:
    print("  {:<34}{:>10}   {:<24}{}".format(*cells, *[""] * (4 - len(cells))).rstrip())


def index_table(results: Results) -> None:
    spec = find_spec("keras")
    assert spec is not None
    assert spec.origin is not None
    root = Path(spec.origin).parent
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "index"
        first = Project(root, store=store)
        files = len(list(first.files()))
        took = seconds(lambda: first.index())
        second = Project(root, store=store)
        again = seconds(lambda: second.index())
    print(f"index of Keras, {files:,} files")
    row("first start", f"{took * 1000:.0f} ms", f"{files / took:.0f} files a second", "limit 150")
    results.add(f"index of Keras, {files:,} files, first start", files / took, "files/s", at_least=150)
    results.add("second start", again / took, "× the first")
    row("second start", f"{again * 1000:.0f} ms", f"{again / took:.2f} × the first")
    some = random.Random(1).sample(sorted(first.files()), min(200, files))
    took = seconds(lambda: [found.calls() for path in some if (found := first.analyse(path)) is not None])
    row(
        f"every call of {len(some)} of them",
        f"{took * 1000:.0f} ms",
        f"{len(some) / took:.0f} files a second",
    )


MEMORY = """
import re, sys
from pathlib import Path
from energy_code.workspace.project import Project
project = Project(Path(sys.argv[1]), store=Path(sys.argv[2]))
project.index()
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())  # of this program alone
print(int(peak[1]) // 1024, len(project.index().entries))
"""


def memory_table(files: int, results: Results) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, sources = Path(folder) / "project", programs()
        for number in range(files):
            package = root / f"package_{number // 100}"
            package.mkdir(parents=True, exist_ok=True)
            text = f"from package_{number % 7} import module_{number % 13}\n{sources[number % len(sources)]}"
            (package / f"module_{number}.py").write_text(text, encoding="utf-8")
        command = [sys.executable, "-c", MEMORY, str(root), str(Path(folder) / "index")]
        start = os.times()
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        end = os.times()
    megabytes, known = map(int, run.stdout.split())
    took = end.children_user + end.children_system - start.children_user - start.children_system
    print(f"index of a project of {known:,} files")
    row("memory of the whole process", f"{megabytes} MB", "", "limit 300")
    results.add(f"index of {known:,} files, memory of the process", megabytes, "MB", at_most=300)
    row("first start, processor time", f"{took:.1f} s", f"{known / took:.0f} files a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    results = Results("reader", topic="Reader", title="Reading a file, an edit, a project")
    for name, source in (("programs of the corpus", large_file()), *own_files()):
        analysis_table(name, source, options.rounds, results)
    index_table(results)
    memory_table(options.files, results)
    results.write()
    loaded = [name for name in ("libcst", "tensorflow", "keras") if name in sys.modules]
    print(f"imported on the way: {', '.join(loaded) or 'neither libcst nor TensorFlow nor Keras'}")


if __name__ == "__main__":
    main()
