"""Under which circumstances a study was run: a line that stands at the head of its page."""

from __future__ import annotations

import datetime
import os
import time


class Circumstances:
    """When a study began and how busy the machine was then; made before anything is measured."""

    def __init__(self) -> None:
        self.load = os.getloadavg()[0]
        self.began = time.monotonic()

    def line(self, *, machine: str, meter: str, estimated: bool, what: str) -> str:
        """Date, what was run, machine, load and meter; `what` such as `12 pairs each`."""
        minutes = (time.monotonic() - self.began) / 60
        kind = ", **estimated from CPU time: there is no energy sensor here**" if estimated else ""
        return (
            f"{datetime.date.today().isoformat()}, {what}, {minutes:.0f} minutes on {machine} at load {self.load:.1f}, "
            f"meter {meter}{kind}."
        )
