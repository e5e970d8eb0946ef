"""One run looked into: reads what was noted, takes off what looking cost, and accounts for the calls."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from energy_measure.attribution.baseline import Baseline
from energy_measure.attribution.events import Events
from energy_measure.attribution.solver import DeviceAttribution
from energy_measure.inside.account import CallAccount, call_accounts, metered
from energy_measure.inside.overhead import Overhead
from energy_measure.inside.recorded import Recorded, read_profiles, read_recorded
from energy_measure.inside.spans import InsideSpan, spans_inside
from energy_measure.inside.sparse import sparse_similarity
from energy_measure.inside.splitting import Integers
from energy_measure.program.call_sites import relative
from energy_measure.sampling.trace import SampledTrace


@dataclass(frozen=True, slots=True)
class InsideRun:
    """What one run says of the inside of its calls."""

    accounts: Mapping[int, CallAccount] = field(default_factory=dict)
    """By site number of the run's events."""
    flows: frozenset[tuple[str, str]] = frozenset()
    """From which layer's path to which values flow."""
    notes: tuple[str, ...] = ()
    looked_at: float = 0.0
    """Part of the calls' energy that was drawn while the profiler looked."""
    spans: tuple[InsideSpan, ...] = ()
    """Steps and layers along the time of the run."""
    sparse: Mapping[str, float] = field(default_factory=dict)
    """Similarity of the account to one with so many times fewer samples."""


class Looking:
    """The inside of one run while it is being accounted for."""

    def __init__(self, python: Path, folder: Path, end_ns: int) -> None:
        self._problems = read_profiles(python, folder)
        self._processes = read_recorded(folder)
        self._overhead = [
            interval for process in self._processes for interval in process.overhead if interval[1] <= end_ns
        ]

    def overhead(self, events: Events) -> Overhead:
        """What looking cost, beside the program's events."""
        return Overhead(events, self._overhead)

    def account(
        self,
        events: Events,
        devices: Sequence[tuple[SampledTrace, DeviceAttribution, Baseline]],
        places: Mapping[str, tuple[str, int]],
        cwd: Path,
        project: Path,
        tracing: tuple[Integers, Integers],
    ) -> InsideRun:
        """The account; files are named as in the database.

        `places`: of the cells of a notebook; `tracing`: when graphs were built.
        """
        for process in self._processes:
            _rename(process, places, cwd, project)
        meters = [metered(*device) for device in devices]
        accounts = call_accounts(self._processes, events, meters, tracing)
        notes = [*self._problems, *(note for process in self._processes for note in process.notes)]
        total = sum(account.joules for account in accounts.values())
        looked = sum(account.joules * account.looked_at for account in accounts.values())
        return InsideRun(
            accounts,
            frozenset(flow for process in self._processes for flow in process.flow_paths()),
            tuple(dict.fromkeys(notes)),
            looked / total if total else 0.0,
            tuple(span for process in self._processes for span in spans_inside(process)),
            sparse_similarity(self._processes, events, meters, accounts, tracing),
        )


def cell_places(cells: Sequence[Mapping[str, str]], notebook: str) -> dict[str, tuple[str, int]]:
    """For each cell's name the notebook, and the number of lines before the cell."""
    found: dict[str, tuple[str, int]] = {}
    before = 0
    for cell in cells:
        found[cell["name"]] = notebook, before
        before += cell["source"].count("\n") + 1
    return found


def _rename(recorded: Recorded, places: Mapping[str, tuple[str, int]], cwd: Path, project: Path) -> None:
    """Name files as the database does, instead of as Python does."""
    known: dict[str, tuple[str, int]] = {}

    def named(file: str) -> tuple[str, int]:
        if file not in known:
            known[file] = places.get(file) or (relative(Path(os.path.join(cwd, file)), project), 0)
        return known[file]

    recorded.rename(named)
