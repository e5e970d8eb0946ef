"""Watts of processors as published, for machines whose sensors cannot be read. Ranges of a kind, not of one machine.

Cloud Carbon Footprint's coefficients: watts of a logical CPU when idle and at full load, from the SPECpower_ssj2008
results of servers with processors of that architecture (memory, fans and power supply included). What a busy CPU draws
above idle is their difference. The figures of the cloud-carbon-coefficients repository (Apache-2.0), output of May 2023.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SOURCE = "published by Cloud Carbon Footprint from SPECpower results; not of this machine"


@dataclass(frozen=True, slots=True)
class PublishedWatts:
    """Of a logical CPU of one architecture."""

    architecture: str
    idle: float
    full: float

    @property
    def active_watts(self) -> float:
        """What a busy one draws above idle."""
        return round(self.full - self.idle, 2)


SANDY_BRIDGE = PublishedWatts("Intel Sandy Bridge", 2.1694, 8.5754)
IVY_BRIDGE = PublishedWatts("Intel Ivy Bridge", 3.0369, 8.2486)
HASWELL = PublishedWatts("Intel Haswell", 1.9006, 6.0129)
BROADWELL = PublishedWatts("Intel Broadwell", 0.7128, 3.6853)
SKYLAKE = PublishedWatts("Intel Skylake", 0.6446, 4.1934)
CASCADE_LAKE = PublishedWatts("Intel Cascade Lake", 0.6389, 3.9673)
COFFEE_LAKE = PublishedWatts("Intel Coffee Lake", 1.1384, 5.4218)
EPYC_1 = PublishedWatts("AMD EPYC, 1st generation", 0.8227, 2.5531)
EPYC_2 = PublishedWatts("AMD EPYC, 2nd generation", 0.4743, 1.6930)
EPYC_3 = PublishedWatts("AMD EPYC, 3rd generation", 0.4454, 1.8719)

MODELS: dict[tuple[str, int, int], tuple[tuple[range, PublishedWatts], ...]] = {
    ("GenuineIntel", 6, 45): ((range(16), SANDY_BRIDGE),),
    ("GenuineIntel", 6, 62): ((range(16), IVY_BRIDGE),),
    ("GenuineIntel", 6, 63): ((range(16), HASWELL),),
    ("GenuineIntel", 6, 79): ((range(16), BROADWELL),),
    ("GenuineIntel", 6, 85): ((range(5), SKYLAKE), (range(5, 8), CASCADE_LAKE)),
    ("GenuineIntel", 6, 158): ((range(10, 14), COFFEE_LAKE),),
    ("AuthenticAMD", 23, 1): ((range(16), EPYC_1),),
    ("AuthenticAMD", 23, 49): ((range(16), EPYC_2),),
    ("AuthenticAMD", 25, 1): ((range(16), EPYC_3),),
}
"""By vendor, family and model as `/proc/cpuinfo` has them; then by stepping."""


def published_watts(cpuinfo: str) -> PublishedWatts | None:
    """What is published of the processor that a `/proc/cpuinfo` tells of; None where nothing is."""
    listed = {
        name: found[1].strip()
        for name in ("vendor_id", "cpu family", "model", "stepping")
        if (found := re.search(rf"^{name}\s*:(.*)$", cpuinfo, re.MULTILINE))
    }
    numbers = [listed.get(name, "") for name in ("cpu family", "model", "stepping")]
    if not all(text.isdecimal() for text in numbers):
        return None
    family, model, stepping = map(int, numbers)
    choices = MODELS.get((listed.get("vendor_id", ""), family, model), ())
    return next((watts for steppings, watts in choices if stepping in steppings), None)
