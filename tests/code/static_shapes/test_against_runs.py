"""Programs in the manner of tutorials run with real TensorFlow: the shapes read from their source are those of the run."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAMS = sorted(path for path in (HERE / "programs").iterdir() if path.name != "__pycache__")


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
def test_shapes_read_from_the_source_are_those_of_the_run(tmp_path, monkeypatch):
    runs = tmp_path / "runs.json"
    subprocess.run(
        [sys.executable, str(HERE / "shapes_of_runs.py"), str(runs), *map(str, PROGRAMS)],
        check=True,
        capture_output=True,
        timeout=900,
    )
    monkeypatch.syspath_prepend(str(HERE))
    found = importlib.import_module("compare_with_runs").compared(runs)
    assert found.failures == []
    assert found.wrong == []
    assert found.right > 60
    assert found.right / (found.right + len(found.unknown)) > 0.9
