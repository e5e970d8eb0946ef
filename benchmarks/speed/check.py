"""`energy-lsp check` on 10,000 files: how long, with which memory, and that the progress is shown.

    python benchmarks/speed/check.py [--files 10000]

The files are Keras' own and this repository's examples and corpus, copied into one project as often as it takes. The
command runs in a terminal of its own (a pseudo-terminal), as progress is only shown to people.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from record import Results
from servers import ENVIRONMENT, keras_folder

ROOT = Path(__file__).resolve().parents[2]


def make_project(root: Path, count: int) -> int:
    """Copy sources until there are so many; the number of lines."""
    folders = [ROOT / "examples", ROOT / "tests" / "code" / "corpus", keras_folder()]
    sources = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    texts = [path.read_bytes() for path in sources]
    (root / "pyproject.toml").write_text("")
    for number, text in enumerate(islice(cycle(texts), count)):
        folder = root / f"part{number // 100}"
        folder.mkdir(exist_ok=True)
        (folder / f"file{number}.py").write_bytes(text)
    return sum(text.count(b"\n") for text in islice(cycle(texts), count))


def run_in_terminal(root: Path) -> tuple[float, int, float, list[tuple[int, int]]]:
    """Seconds, exit code, largest memory of all processes in MB, and the progress that was seen."""
    terminal, other = pty.openpty()
    command = [str(Path(sys.executable).with_name("energy-lsp")), "check", ".", "--format", "json"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=other, env=ENVIRONMENT)
    os.close(other)
    shown, largest, looked = b"", 0.0, 0.0
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not data:
            break
        shown += data
        if time.perf_counter() - looked > 0.5:
            looked = time.perf_counter()
            largest = max(largest, memory(process.pid))
    code = process.wait()
    taken = time.perf_counter() - begun
    counts = [(int(done), int(total)) for done, total in re.findall(rb"(\d+)/(\d+)", shown)]
    return taken, code, largest, counts


def memory(pid: int) -> float:
    """Resident memory of a process and its children in MB."""
    try:
        parent = psutil.Process(pid)
        return sum(one.memory_info().rss for one in [parent, *parent.children(recursive=True)]) / 1e6
    except psutil.NoSuchProcess:
        return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    results = Results("speed/check", topic="Server", title=f"`check` of {options.files:,} files")
    with tempfile.TemporaryDirectory() as scratch:
        lines = make_project(Path(scratch), options.files)
        for which in ("first run", "second run"):
            taken, code, largest, counts = run_in_terminal(Path(scratch))
            last = f"{counts[-1][0]:,} of {counts[-1][1]:,}" if counts else "nothing"
            print(
                f"{which}: {options.files:,} files, {lines:,} lines in {taken:.1f} s "
                f"({options.files / taken:.0f} files a second), exit {code}, {largest:.0f} MB; "
                f"progress shown {len(counts)} times, at last {last}",
                flush=True,
            )
            results.add(f"{which}, {lines:,} lines", taken, "s")
            results.add(f"{which}, memory of all processes", largest, "MB")
    results.write()


if __name__ == "__main__":
    main()
