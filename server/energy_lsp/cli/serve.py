"""`energy-lsp serve`: the language server, over stdio or TCP."""

from __future__ import annotations

import ipaddress
import logging
import sys
from pathlib import Path
from typing import Any

import click

from energy_data.untrusted.printable import cleaned, visible
from energy_lsp.cli.options import given, setting_options

LONGEST_ENTRY = 100_000
SWITCH_SECONDS = 0.0001
"""How long the worker may hold the interpreter while the event loop waits (Python's own choice: 5 ms)."""


@click.command()
@click.option("--tcp", metavar="HOST:PORT", help="Wait for one client on this address instead of stdio.")
@click.option("--allow-remote", is_flag=True, help="Let --tcp listen on an address other machines can reach.")
@click.option("--log-file", type=click.Path(dir_okay=False, path_type=Path), help="Write a log to this file.")
@click.option(
    "--log-level",
    type=click.Choice(["error", "warning", "info", "debug"]),
    default="warning",
    show_default=True,
    help="How much to log.",
)
@setting_options(
    "database", "select", "ignore", "exclude", "hotspots", "hotspot_joules", "inlay_hints", "code_lens"
)
def serve(tcp: str | None, allow_remote: bool, log_file: Path | None, log_level: str, **options: Any) -> None:
    """Run the language server for an editor, on standard input and output."""
    logging.basicConfig(filename=log_file, level=log_level.upper())
    for handler in logging.getLogger().handlers:
        handler.setFormatter(PrintableLines("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    address = _address(tcp, allow_remote) if tcp else None
    sys.setswitchinterval(SWITCH_SECONDS)
    from energy_lsp.serving import serve_stdio, serve_tcp

    chosen = given(options)
    sys.exit(serve_tcp(*address, chosen) if address else serve_stdio(chosen))


class PrintableLines(logging.Formatter):
    """A log is read in a terminal, and names of files and what a client sends get into it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name that logging calls
        """The line of a record, and nothing in it that begins another."""
        record.message = visible(record.message, LONGEST_ENTRY)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """A traceback, set off from the lines of records."""
        return "\n".join(f"  {line}" for line in cleaned(super().formatException(ei)).splitlines())


def _address(text: str, allow_remote: bool) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise click.BadParameter("give HOST:PORT, such as 127.0.0.1:2087.", param_hint="--tcp")
    if not allow_remote and not _is_loopback(host):
        raise click.BadParameter(
            f"{host} can be reached by other machines, and the protocol has no password: "
            "use 127.0.0.1, or add --allow-remote.",
            param_hint="--tcp",
        )
    return host, int(port)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
