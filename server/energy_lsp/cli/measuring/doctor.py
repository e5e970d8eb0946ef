"""`energy-lsp doctor`."""

from __future__ import annotations

import json

import click

from energy_lsp.terminal.echo import echo


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
    echo(json.dumps(diagnosis.as_json(), indent=2) if form == "json" else report(diagnosis))
