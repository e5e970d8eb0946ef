"""The notification behind a status bar: how much a file costs, and what the server is doing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from energy_lsp.hints import Hint, Total

if TYPE_CHECKING:
    from energy_lsp.files import Opened
    from energy_lsp.server import EnergyServer

STATUS = "energyLsp/status"
State = Literal["ready", "indexing", "measuring"]


def send(ls: EnergyServer, opened: Opened) -> None:
    """Tell the client the state of one open file or notebook."""
    hints = [hint for page in opened.pages.values() for hint in page.hints]
    ls.protocol.send(
        {
            "jsonrpc": "2.0",
            "method": STATUS,
            "params": {"uri": opened.uri, **totals(hints), "state": ls.state},
        }
    )


def totals(hints: Iterable[Hint]) -> dict[str, Any]:
    """The figures that a status bar and a summary begin with."""
    hints = list(hints)
    total = Total.of(hints)
    return {
        "known_joules": total.joules,
        "unknown_calls": total.unknown,
        "estimated": total.estimated,
        "meter": meter_of(hints),
    }


def meter_of(hints: Iterable[Hint]) -> str:
    """The meter behind most of the figures; empty when there are none."""
    meters = Counter(hint.figure.meter for hint in hints if hint.figure and hint.figure.total is not None)
    return meters.most_common(1)[0][0] if meters else ""
