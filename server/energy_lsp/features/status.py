"""The notification behind a status bar: how much a file costs, and what the server is doing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from energy_lsp.presentation.figures.account import NOTHING, Account

if TYPE_CHECKING:
    from energy_lsp.session.open_file import Opened
    from energy_lsp.session.server import EnergyServer

STATUS = "energyLsp/status"


def register(server: EnergyServer) -> None:
    """Send it whenever a file was read or the server begins something else."""
    server.on_state.append(partial(send, server))


def send(ls: EnergyServer, opened: Opened) -> None:
    """Tell the client the state of one open file or notebook."""
    account = sum((report.account() for report in opened.reports.values()), NOTHING)
    ls.protocol.send(
        {
            "jsonrpc": "2.0",
            "method": STATUS,
            "params": {"uri": opened.uri, **totals(account), "state": ls.state},
        }
    )


def totals(account: Account) -> dict[str, Any]:
    """What a status bar and a summary begin with: sums of what was measured, and how many calls are not in them."""
    return {
        "known_joules": account.joules,
        "unknown_calls": account.left_out,
        "elsewhere_calls": account.elsewhere,
        "estimated": account.estimated,
        "meter": account.meter,
        "short": account.short,
        "text": account.label.removeprefix("⚡ "),
        "machines": [
            {
                "source": one.key.source,
                "machine": one.key.machine,
                "meter": one.key.meter,
                "estimated": one.key.estimated,
                "joules": one.joules,
                "calls": one.calls,
                "text": one.text,
            }
            for one in account.machines
        ],
    }
