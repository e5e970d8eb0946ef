"""A bounded run of benchmarks/fuzzing/reader.py: programs and edits made at random."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def _fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "fuzz_reader", ROOT / "benchmarks" / "fuzzing" / "reader.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_reader"] = module
    spec.loader.exec_module(module)
    return module


fuzz = _fuzz()


@pytest.mark.parametrize("seed", range(4))
def test_edits_at_random_give_what_a_fresh_reading_gives(seed: int) -> None:
    sources = sorted(fuzz.corpus(), key=len)[:10]
    assert fuzz.run(seed, lambda number: number >= 40, sources) == []


def test_steps_grow_in_proportion_to_the_text() -> None:
    dice = random.Random(5)
    for _ in range(8):
        piece = fuzz.program(dice) + b"\n"
        few, many = fuzz.steps_of(piece * 15), fuzz.steps_of(piece * 60)
        assert many <= 5 * few + 2000, piece
        assert many <= 200 * len(piece * 60) + 5000, piece
