"""No call draws more than the machine can, and nothing is lost by that."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from energy_measure.attribution.power_limit import within_limit

spans = st.lists(st.tuples(st.floats(-2.0, 20.0), st.floats(0.0, 3.0)), min_size=1, max_size=30)


@given(spans, st.floats(-1.0, 5.0))
def test_all_stay_within_their_limit_and_the_sum_stays(values: list[tuple[float, float]], gap: float) -> None:
    joules = np.array([joules for joules, _ in values] + [gap])
    seconds = np.array([seconds for _, seconds in values] + [1.0])
    found = within_limit(joules, seconds, np.arange(len(values), dtype=np.float64), 5.0)
    assert np.all(found[:-1] >= -1e-9)
    assert np.all(found[:-1] <= 5.0 * seconds[:-1] + 1e-9)
    assert np.isclose(found.sum(), joules.sum())


@given(spans, st.floats(-1.0, 5.0))
def test_what_noise_takes_below_nothing_stays_there(values: list[tuple[float, float]], gap: float) -> None:
    joules = np.array([joules for joules, _ in values] + [gap])
    seconds = np.array([seconds for _, seconds in values] + [1.0])
    found = within_limit(joules, seconds, np.arange(len(values), dtype=np.float64), 5.0, noisy=True)
    assert np.all(found[:-1] >= np.minimum(joules[:-1], 0.0) - 1e-9)
    assert np.all(found[:-1] <= 5.0 * seconds[:-1] + 1e-9)
    assert np.isclose(found.sum(), joules.sum())


def test_the_neighbour_in_time_gets_what_is_beyond() -> None:
    joules, seconds = np.array([0.1, 3.0, 0.2, 0.0, 0.0]), np.array([1.0, 0.1, 1.0, 1.0, 0.0])
    found = within_limit(joules, seconds, np.array([0.0, 1.0, 2.0, 3.0]), 2.0)
    assert np.allclose(found, [0.1, 0.2, 2.0, 1.0, 0.0])
