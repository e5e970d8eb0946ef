"""`energy-lsp doctor`."""

from __future__ import annotations

import click

from energy_data.untrusted.printable import json_text
from energy_lsp.terminal.echo import echo, say

METERS, MACHINE = 16, 15
"""Where the last column of the two lists begins."""


@click.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
def doctor(form: str) -> None:
    """Show which meters work here, why others do not, and what opens them.

    Also shows the CPU governor, load and temperatures, and whether a measurement now would be trusted.
    """
    from energy_measure.machine.doctor import diagnose, report

    diagnosis = diagnose()
    if form == "json":
        echo(json_text(diagnosis.as_json(), indent=2))
        return
    commands = [state.command for state in diagnosis.meters if state.command]
    for line in report(diagnosis).split("\n"):
        # Commands stay whole: they are there to be copied.
        if any(line.endswith(command) for command in commands):
            echo(line)
        else:
            say(line, indent=_under(line))


def _under(line: str) -> str:
    """What continues a line stands under its last column, which two spaces or a name of full width end."""
    if not line.startswith("  "):
        return ""
    return " " * (METERS if line[2:6] in ("yes ", "no  ", "    ") else MACHINE)
