"""Random editing, bounded in time; `ENERGY_LSP_SOAK_STEPS=20000` runs the long version."""

from __future__ import annotations

import os

from soaking import soak


def test_random_editing_ends_like_a_fresh_start() -> None:
    steps = int(os.environ.get("ENERGY_LSP_SOAK_STEPS", "1500"))
    outcome = soak(steps, 15 if steps <= 1500 else 1200, seed=7)
    assert outcome.differences == []
    assert outcome.steps > 20
    if steps > 1500:  # in a short run the caches have not filled before memory counts
        assert outcome.memory_after < outcome.memory_before * 1.10
