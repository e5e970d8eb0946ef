"""Processor time of loading the API catalogue against `json.load` of the same content, in fresh processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_data.catalogue.catalogue import Catalogue
from record import Results

CATALOGUE = """
import time, typing, functools  # which every program of ours has loaded
start = time.process_time()
from energy_data.catalogue.catalogue import Catalogue
catalogue = Catalogue.load()
assert catalogue.find("tensorflow.keras.layers.Dense").name == "keras.layers.Dense"
print(time.process_time() - start)
"""
JSON = """
import time, json
start = time.process_time()
with open({path!r}) as file:
    assert json.load(file)["keras.layers.Dense"]
print(time.process_time() - start)
"""


def seconds(code: str) -> float:
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return float(printed)


def main() -> None:
    results = Results("speed/catalogue", topic="Database", title="Loading the API catalogue")
    catalogue = Catalogue.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "catalogue.json"
        path.write_text(json.dumps({name: catalogue.find(name) for name in catalogue.names()}))
        pairs = [(seconds(CATALOGUE), seconds(JSON.format(path=str(path)))) for _ in range(15)]
    ours = statistics.median(pair[0] for pair in pairs)
    theirs = statistics.median(pair[1] for pair in pairs)
    print(f"import, load and first look-up {ours * 1000:6.1f} ms")
    print(f"json.load of the same content  {theirs * 1000:6.1f} ms")
    print(f"ratio                          {ours / theirs:6.2f}")
    results.add("import, load and first look-up, CPU time", ours * 1000, "ms", at_most=30)
    results.add("json.load of the same content", theirs * 1000, "ms")
    results.write()


if __name__ == "__main__":
    main()
