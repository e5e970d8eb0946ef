"""Joules as grams of CO₂e and money: converted where they are shown, from what the reader set, and never stored.

Nothing is guessed: no place is looked up, and what is not set is not shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from energy_lsp.presentation.notation.units import JOULES_PER_WH, number

NOT = (
    "That is the energy above idle that was measured, times what you set: not what one run more would change at the "
    "power plants (marginal), not what making the machine took (embodied), and not what it draws idle."
)


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a kilowatt-hour costs where this ran, as somebody set it; 0: not set."""

    grams_per_kwh: float = 0.0
    price_per_kwh: float = 0.0
    currency: str = ""
    pue: float = 0.0
    """Power usage effectiveness of the data centre: the building's energy for each joule of the machine."""

    @property
    def wanted(self) -> bool:
        """Whether there is anything to convert to."""
        return self.grams_per_kwh > 0 or self.price_per_kwh > 0

    def sentences(self, joules: float) -> list[str]:
        """The energy of a whole program in other terms, and what that is not."""
        if not self.wanted:
            return []
        kwh = joules * max(self.pue, 1.0) / JOULES_PER_WH / 1000
        building = f", times {self.pue:g} for the building (PUE)" if self.pue > 1 else ""
        lines = []
        if self.grams_per_kwh > 0:
            grams = _amount(kwh * self.grams_per_kwh)
            lines.append(f"{grams} g CO₂e at {self.grams_per_kwh:g} g/kWh{building}.")
        if self.price_per_kwh > 0:
            unit = f" {self.currency}" if self.currency else ""
            lines.append(
                f"{_amount(kwh * self.price_per_kwh)}{unit} at {self.price_per_kwh:g}{unit}/kWh{building}."
            )
        return [*lines, NOT]


def _amount(value: float) -> str:
    """Three digits; below a thousandth nobody reads digits."""
    return number(value) if value >= 0.001 else "Less than 0.001"


def footprint(settings: Mapping[str, Any]) -> Footprint:
    """From the settings of a project and the options of a command."""
    return Footprint(
        float(settings["grid_gco2_per_kwh"]),
        float(settings["price_per_kwh"]),
        str(settings["price_currency"]),
        float(settings["pue"]),
    )
