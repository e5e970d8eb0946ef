"""Benchmarks: each keeps its figures as JSON, and the page is made from them."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def record() -> ModuleType:
    return load(BENCHMARKS / "record.py")


@pytest.fixture(scope="module")
def build(record: ModuleType) -> ModuleType:
    return load(ROOT / "tools" / "build_benchmarks.py")


def test_the_page_is_what_the_results_say(build: ModuleType) -> None:
    assert (BENCHMARKS / "README.md").read_text("utf-8") == build.page(), "run make docs"


def test_the_study_of_smaragdines_tables_is_what_its_results_say() -> None:
    study = load(BENCHMARKS / "studies" / "smaragdine.py")
    run = json.loads((BENCHMARKS / "results" / "bert_study.json").read_text("utf-8"))
    page = study.page(run)
    assert (BENCHMARKS / "studies" / "smaragdine.md").read_text("utf-8") == page, "run make study-smaragdine"
    assert "not run" not in page, "a figure that the page has a row for is not in the results"


@pytest.mark.parametrize("path", sorted((BENCHMARKS / "results").rglob("*.json")), ids=lambda path: path.stem)
def test_a_result_says_what_was_found_where_and_when(record: ModuleType, path: Path) -> None:
    run = json.loads(path.read_text("utf-8"))
    assert (BENCHMARKS / f"{run['benchmark']}.py").exists() or (
        BENCHMARKS / f"{run['benchmark']}.mjs"
    ).exists()
    assert run["topic"] in record.TOPICS
    assert run["title"]
    assert run["date"].count("-") == 2
    assert run["commit"]
    assert {"cpu", "cpus", "load"} <= set(run["machine"])
    assert run["figures"]
    for figure in run["figures"]:
        assert record.Figure(**figure).name


def test_a_figure_is_held_against_its_goal(record: ModuleType) -> None:
    figure = record.Figure
    assert figure("time", 49.0, at_most=50).met is True
    assert figure("time", 51.0, at_most=50).met is False
    assert figure("share", 92.0, at_least=93, at_most=97).met is False
    assert figure("share", 95.0, at_least=93, at_most=97).met is True
    assert figure("not run", None, at_most=50).met is False
    assert figure("for comparison", 3.0).met is None


def test_a_run_becomes_a_row(
    record: ModuleType, build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks/example.py", "--rounds", "3", "/home/someone/files"])
    results = record.Results("example", topic="Reader", title="An example")
    results.add("whole file", 12.34567, "ms", at_most=10)
    results.add("line 7", 3.0, "ms", detail=True)
    results.add("line 8", 30.0, "ms", at_most=10, detail=True)
    results.write(tmp_path / "results")
    text = build.page(tmp_path)
    assert "| **An example**: `python benchmarks/example.py --rounds 3 PATH` |" in text
    assert "| whole file | 12.3 ms | ≤ 10 ms | **no** | |" in text
    assert "someone" not in text
    assert "line 7" not in text
    assert "| 1 more in [the file](results/example.json) |" in text
    assert "| line 8 | 30 ms | ≤ 10 ms | **no** | |" in text, "a goal that is missed is always shown"


def test_a_topic_that_no_table_has_is_refused(record: ModuleType) -> None:
    with pytest.raises(ValueError, match="'Weather' is no topic"):
        record.Results("example", topic="Weather", title="An example")


def test_every_benchmark_keeps_its_figures() -> None:
    scripts = [
        path
        for path in BENCHMARKS.rglob("*.py")
        if not {"studies", "tune_programs", "predicted_programs"} & set(path.parts)
    ]
    texts = {path: path.read_text("utf-8") for path in scripts if path.name != "record.py"}
    printing = [
        path for path, text in texts.items() if "def main(" in text and "from record import" not in text
    ]
    assert not printing


def test_the_folder_shows_what_is_where() -> None:
    """Benchmarks of the whole tool at the top, those of a part in a folder that says what they ask."""
    folders = [BENCHMARKS, *(path for path in BENCHMARKS.iterdir() if path.is_dir())]
    scripts = {folder.name: len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: count for name, count in scripts.items() if count > 15} == {}
