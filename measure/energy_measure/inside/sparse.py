"""How much an account depends on how often the meter is read: accounting similarity with sparser samples (ASSS)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from energy_measure.attribution.events import Events
from energy_measure.inside.account import NEVER, CallAccount, Metered, call_accounts
from energy_measure.inside.recorded import Recorded
from energy_measure.inside.splitting import Integers

FACTORS = (2, 4, 8)
MOST_ROWS = 300_000
"""More are not gone through again: it would take longer than the account itself."""


def sparse_similarity(
    processes: Sequence[Recorded],
    events: Events,
    devices: Sequence[Metered],
    accounts: Mapping[int, CallAccount],
    tracing: tuple[Integers, Integers] = NEVER,
) -> dict[str, float]:
    """Pearson's correlation of the account with those from so many times fewer samples."""
    if not accounts or sum(len(process.rows) for process in processes) > MOST_ROWS:
        return {}
    found = {}
    for factor in FACTORS:
        if all(len(device.power.watts) < 2 * factor for device in devices):
            continue
        fewer = [replace(device, power=device.power.sparser(factor)) for device in devices]
        found[str(factor)] = _similarity(accounts, call_accounts(processes, events, fewer, tracing))
    return found


def _similarity(one: Mapping[int, CallAccount], other: Mapping[int, CallAccount]) -> float:
    first, second = _footprint(one), _footprint(other)
    names = sorted({*first, *second})
    values = np.array([[side.get(name, 0.0) for name in names] for side in (first, second)])
    if len(names) < 2 or np.any(np.ptp(values, axis=1) == 0.0):
        return 1.0
    return float(np.corrcoef(values)[0, 1])


def _footprint(accounts: Mapping[int, CallAccount]) -> dict[tuple[int, str, str], float]:
    return {
        (site, *key): part.joules for site, account in accounts.items() for key, part in account.parts.items()
    }
