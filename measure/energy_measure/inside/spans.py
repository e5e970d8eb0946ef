"""Steps and layers along a run's time, for its report: what is seen when its power is zoomed into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from energy_data.model import LAYER_SPAN, STEP_SPAN
from energy_measure.injected.inside import reader
from energy_measure.inside.origins import Origin, Origins
from energy_measure.inside.recorded import Integers, Recorded
from energy_measure.inside.splitting import joined
from energy_measure.inside.strata import Stratum

MOST_STEPS = 2000
MOST_LAYERS = 6000
STEPS_OPENED = 6
"""Steps of each function whose layers are kept: a page carries them all."""
JOINED_NS = 20_000
"""Operations of a layer that follow each other so soon are one span."""
_FUNCTION = re.compile(r"^__(?:inference|forward|backward)_(.+?)(?:_\d+)?$")


@dataclass(frozen=True, slots=True)
class InsideSpan:
    """When a step ran, or operations of a layer in one; nanoseconds of the monotonic clock."""

    name: str
    file: str
    line: int
    thread: int
    start: int
    end: int


def spans_inside(recorded: Recorded) -> list[InsideSpan]:
    """Steps, those that were looked at first, and the layers in some of them."""
    sessions = joined([(one.opened, one.closing) for one in recorded.sessions])
    steps = recorded.steps
    looked = [
        Stratum(number, steps[steps[:, 0] == number]).seen(sessions)
        for number in np.unique(steps[:, 0]).tolist()
    ]
    seen = {int(start) for rows in looked for start in rows[:, 1]}
    order = sorted(steps.tolist(), key=lambda step: step[1] not in seen)[:MOST_STEPS]
    found = [
        InsideSpan(f"{STEP_SPAN}{_short(recorded.functions.get(number, ''))}", "", 0, thread, start, end)
        for number, start, end, thread, _ in order
    ]
    layers: list[InsideSpan] = []
    origins = Origins(recorded)
    for rows in looked:
        for index in np.unique(np.linspace(0, len(rows) - 1, STEPS_OPENED).astype(int)) if len(rows) else ():
            if len(layers) < MOST_LAYERS:
                layers += _layers_in(recorded, origins, rows[index])
    return found + layers[:MOST_LAYERS]


def _layers_in(recorded: Recorded, origins: Origins, step: Integers) -> Iterator[InsideSpan]:
    """The layers of one step, each where it worked without a break."""
    function, start, end = (int(value) for value in step[:3])
    rows = recorded.rows
    here = rows[(rows[:, 4] >= start) & (rows[:, 4] < end) & (rows[:, 2] != reader.INPUT)]
    running = recorded.functions.get(function, "")
    times: dict[Origin, list[tuple[int, int]]] = {}
    for name in np.unique(here[:, 1]).tolist():
        origin = origins.of(recorded.names[name], running).origin
        own = here[here[:, 1] == name][:, 4:6].tolist()
        times.setdefault(origin, []).extend((began, min(ended, end)) for began, ended in own)
    for origin, intervals in times.items():
        if origin.stage == "runtime":
            continue
        shown = f"{LAYER_SPAN}{origin.path}"
        shown += f" · {origin.stage}" if origin.stage != origin.path else ""
        near = joined([(began, ended + JOINED_NS) for began, ended in intervals])
        for began, ended in zip(*near, strict=True):
            yield InsideSpan(shown, origin.file, origin.line, 0, int(began), int(ended) - JOINED_NS)


def _short(function: str) -> str:
    """A function's name without what TensorFlow puts around it."""
    found = _FUNCTION.match(function)
    return found[1] if found else function
