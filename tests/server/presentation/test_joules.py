from __future__ import annotations

import pytest

from energy_lsp.presentation.notation.units import (
    bar,
    column_unit,
    duration,
    in_unit,
    interval,
    joules,
    whole,
)


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
        (35_999, "36.0 kJ"),
        (3.6e6, "3600 kJ"),
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


def test_watt_hours_stand_beside_the_joules_of_a_program_from_a_kilojoule_on() -> None:
    assert whole(999.0) == "999 J"
    assert whole(3600.0) == "3.60 kJ (1.00 Wh)"
    assert whole(3.6e7) == "36000 kJ (10000 Wh)"


def test_a_column_has_one_unit_and_says_what_is_less_than_its_digits() -> None:
    values = [3.3, 0.0124, 2e-5, 0.0, -2.35e-5]
    unit = column_unit(values)
    assert unit == "J"
    # What is below zero is the meter's noise about nothing: no figure of its own.
    assert [in_unit(value, unit) for value in values] == ["3.300", "0.012", "< 0.001", "0.000", "≈ 0"]
    assert column_unit([None, 999.7e-6]) == "mJ"
