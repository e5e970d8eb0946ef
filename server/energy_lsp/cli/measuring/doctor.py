"""`energy-lsp doctor`."""

from __future__ import annotations

import json

import click

from energy_lsp.terminal.echo import echo, say


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
        echo(json.dumps(diagnosis.as_json(), indent=2))
        return
    commands = [state.command for state in diagnosis.meters if state.command]
    for line in report(diagnosis).split("\n"):
        # Commands stay whole: they are there to be copied.
        if any(line.endswith(command) for command in commands):
            echo(line)
        else:
            say(line, indent=" " * 15 if line.startswith(" ") else "")
