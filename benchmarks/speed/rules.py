"""What the substitution rules add to the analysis of a file, over the sources of installed packages.

Usage: python benchmarks/speed/rules.py [FOLDER]... [--files N] [--each N]

Prints analysis and rule time per file size, as CPU time of this process, and the share that rules add. Each
file is analysed afresh, the worst case for the rules: an editor's incremental analysis is compared as well.
With `--each N` every file and notebook stands for itself: medians of N readings, the files in turn.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_code import rules
from energy_code.workspace.document import Document
from energy_code.workspace.notebook import program_of
from record import Results

BOUNDS = ((0, 100), (100, 400), (400, 1000), (1000, 100_000))
LIMIT = 0.3
READERS = {".py": bytes, ".ipynb": program_of}
LOADING = (
    "import energy_code.workspace.document, time; from energy_data.catalogue.catalogue import Catalogue; Catalogue.load();"
    "start = time.process_time(); import energy_code.rules; print(time.process_time() - start)"
)


def sources(folders: list[Path], limit: int) -> list[bytes]:
    files = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    texts = [path.read_bytes() for path in files[:: max(1, len(files) // (3 * limit))]]
    return [text for text in texts if b"tensorflow" in text or b"keras" in text][:limit]


def measure(text: bytes) -> tuple[float, float, int]:
    start = time.process_time()
    analysis = Document(text).analyse()
    list(analysis.calls())
    middle = time.process_time()
    found = rules.find(analysis)
    return middle - start, time.process_time() - middle, len(found)


def after_an_edit(text: bytes) -> tuple[float, float]:
    """Analysis and rules after one more character at the end of the file."""
    document = Document(text)
    rules.find(document.analyse())
    end = len(document.source)
    start = time.process_time()
    document.edit(end, end, b"\nx = 1")
    analysis = document.analyse()
    list(analysis.calls())
    middle = time.process_time()
    rules.find(analysis)
    return middle - start, time.process_time() - middle


def one_by_one(folders: list[Path], readings: int) -> None:
    """Print what the rules add to each file of some folders, notebooks included, and to all of them."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in READERS]
    texts = {path: READERS[path.suffix](path.read_bytes()) for path in paths}
    taken: dict[Path, list[tuple[float, float, int]]] = {path: [] for path in texts}
    for _ in range(readings):
        for path, text in texts.items():
            taken[path].append(measure(text))
    shares = []
    for path, rows in taken.items():
        analysis, ruling = (statistics.median(row[which] for row in rows) for which in (0, 1))
        shares.append((ruling / analysis, analysis, ruling, path))
        print(
            f"{path}: analysis {analysis * 1e3:.2f} ms, rules {ruling * 1e3:.2f} ms "
            f"({ruling / analysis:.1%}), {rows[0][2]} places"
        )
    mean, total = statistics.mean(row[0] for row in shares), sum(row[2] for row in shares)
    over = sum(row[0] > LIMIT for row in shares)
    print(
        f"{len(shares)} files: mean {mean:.1%}, of all time {total / sum(row[1] for row in shares):.1%}, "
        f"worst {max(shares)[0]:.1%} ({max(shares)[3].name}), {over} over {LIMIT:.0%}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--each", type=int, metavar="N")
    options = parser.parse_args()
    spec = importlib.util.find_spec("keras")
    installed = [Path(spec.origin).parent] if spec and spec.origin else []
    rules.find(Document("import tensorflow as tf\n").analyse())
    if options.each:
        one_by_one(options.folders or installed, options.each)
        return 0
    texts = sources(options.folders or installed, options.files)
    rows = [(text.count(b"\n"), *measure(text)) for text in texts]
    print(f"{len(rules.ALL)} rules, {len(texts)} files, {sum(row[0] for row in rows)} lines")
    print(f"{'lines':>12} {'files':>6} {'analysis':>10} {'rules':>9} {'added':>7} {'places':>7}")
    for low, high in (*BOUNDS, (0, 100_000)):
        chosen = [row for row in rows if low <= row[0] < high]
        if chosen:
            analysis, ruling = sum(row[1] for row in chosen), sum(row[2] for row in chosen)
            name = "all" if (low, high) == (0, 100_000) else f"{low} to {high}"
            print(
                f"{name:>12} {len(chosen):>6} {analysis * 1e3:>7.0f} ms {ruling * 1e3:>6.1f} ms "
                f"{ruling / analysis:>7.1%} {sum(row[3] for row in chosen):>7}"
            )
    results = Results("speed/rules", topic="Rules", title="What the rules add to reading a file")
    analysis, ruling = sum(row[1] for row in rows), sum(row[2] for row in rows)
    share = 100 * ruling / analysis
    results.add(f"{len(rules.ALL)} rules over {len(texts)} files, of the analysis", share, "%", at_most=30)
    edits = [after_an_edit(text) for text in texts[:40]]
    analysis, ruling = sum(edit[0] for edit in edits), sum(edit[1] for edit in edits)
    share = ruling / analysis
    print(f"after one edit: analysis {analysis * 1e3:.0f} ms, rules {ruling * 1e3:.1f} ms ({share:.1%})")
    command = [sys.executable, "-c", LOADING]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": tempfile.mkdtemp()}
    loads = sorted(
        float(subprocess.run(command, capture_output=True, text=True, env=environment).stdout)
        for _ in range(6)
    )
    results.add("after one edit, a file", 1e3 * ruling / len(edits), "ms")
    results.add("loading all rules, once", 1e3 * loads[2], "ms")
    results.write()
    print(f"loading all rules: {loads[2] * 1e3:.0f} ms (median, compiled once as an installation is)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
