from __future__ import annotations

import pytest

from energy_lsp.presentation.units import bar, duration, interval, joules


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 J"),
        (3.2e-8, "0.0320 µJ"),
        (4.56e-6, "4.56 µJ"),
        (999.4e-6, "999 µJ"),
        (999.7e-6, "1.00 mJ"),
        (0.0123, "12.3 mJ"),
        (0.9999, "1.00 J"),
        (1.2, "1.20 J"),
        (123.4, "123 J"),
        (1234, "1.23 kJ"),
        (35_999, "10.0 Wh"),
        (36_000, "10.0 Wh"),
        (3.6e6, "1000 Wh"),
        (-0.25, "-250 mJ"),
    ],
)
def test_unit_fits_the_size(value: float, text: str) -> None:
    assert joules(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ns"),
        (3.4e-7, "340 ns"),
        (9.996e-7, "1.00 µs"),
        (0.00686, "6.86 ms"),
        (27.04, "27.0 s"),
        (3600, "3600 s"),
    ],
)
def test_a_duration_has_the_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_interval_has_one_unit() -> None:
    assert interval(0.9, 1.3) == "0.900 to 1.30 J"
    assert interval(-2e-3, 5e-3) == "-2.00 to 5.00 mJ"


def test_a_narrow_interval_has_the_digits_in_which_its_ends_differ() -> None:
    assert interval(4.7381, 4.7419) == "4.738 to 4.742 J"
    assert interval(0.47381, 0.47384) == "473.81 to 473.84 mJ"
    assert interval(2.0, 2.0) == "2.00 to 2.00 J"


@pytest.mark.parametrize(("share", "filled"), [(0, 0), (0.04, 0), (0.5, 5), (1, 10), (1.7, 10), (-1, 0)])
def test_bar_has_ten_cells(share: float, filled: int) -> None:
    assert bar(share) == "█" * filled + "░" * (10 - filled)
