"""How warm the machine is before a run and gets during it."""

from __future__ import annotations

from collections.abc import Mapping

from energy_measure.machine.describe import temperatures

TEMPERATURE_SECONDS = 5.0
"""Between two looks at the temperatures: a driver may take milliseconds to answer."""


class Warming:
    """How warm the machine gets during a run, looked up now and then; not at all where nothing tells it."""

    def __init__(self, before: Mapping[str, float]) -> None:
        self.series = {device: ((0.0, degrees),) for device, degrees in before.items()}
        self._next = TEMPERATURE_SECONDS

    def look(self, seconds: float) -> None:
        """Note the temperatures if it is time to."""
        if not self.series or seconds < self._next:
            return
        self._next = seconds + TEMPERATURE_SECONDS
        for device, degrees in warmth().items():
            self.series[device] = (*self.series.get(device, ()), (round(seconds, 3), degrees))


def warmth() -> dict[str, float]:
    """The warmest processor and the warmest GPU, in degrees Celsius."""
    found: dict[str, float] = {}
    for name, degrees in temperatures().items():
        device = name.split()[0].lower()
        found[device] = max(degrees, found.get(device, degrees))
    return found
