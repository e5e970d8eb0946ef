"""A bounded run of benchmarks/fuzzing/hostile_files.py: databases, exports, settings, folders, notebooks and projects at random."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "fuzzing"))

from hostile_files import rounds


@pytest.mark.parametrize(
    ("kind", "count"),
    [("databases", 40), ("exports", 30), ("settings", 60), ("traps", 3), ("notebooks", 60), ("projects", 40)],
)
def test_nothing_raises_and_nothing_differs(kind: str, count: int) -> None:
    assert rounds(kind, range(count)) == []
