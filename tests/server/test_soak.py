"""Random editing, bounded in time; `ENERGY_LSP_SOAK_STEPS=20000` runs the long version."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


def test_random_editing_ends_like_a_fresh_start() -> None:
    spec = importlib.util.spec_from_file_location("soaking", Path(__file__).with_name("soaking.py"))
    assert spec is not None
    assert spec.loader is not None
    soaking = importlib.util.module_from_spec(spec)
    sys.modules["soaking"] = soaking
    spec.loader.exec_module(soaking)
    steps = int(os.environ.get("ENERGY_LSP_SOAK_STEPS", "1500"))
    outcome = soaking.soak(steps, 15 if steps <= 1500 else 1200, seed=7)
    assert outcome.differences == []
    assert outcome.steps > 20
    if steps > 1500:  # in a short run the caches have not filled before memory counts
        assert outcome.memory_after < outcome.memory_before * 1.10
