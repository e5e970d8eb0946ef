"""The notification behind a status bar: how much a file costs, and what the server is doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from energy_lsp.hints import Total

if TYPE_CHECKING:
    from energy_lsp.files import Opened
    from energy_lsp.server import EnergyServer

STATUS = "energyLsp/status"
State = Literal["ready", "indexing", "measuring"]


def send(ls: EnergyServer, opened: Opened) -> None:
    """Tell the client the state of one open file or notebook."""
    total = sum((page.total for page in opened.pages.values()), Total())
    ls.protocol.send(
        {
            "jsonrpc": "2.0",
            "method": STATUS,
            "params": {"uri": opened.uri, **totals(total), "state": ls.state},
        }
    )


def totals(total: Total) -> dict[str, Any]:
    """The figures that a status bar and a summary begin with."""
    return {
        "known_joules": total.joules,
        "unknown_calls": total.unknown,
        "estimated": total.estimated,
        "meter": total.meter,
    }
