"""The one place that prints lines: what slipped into them from others acts on no terminal and no CI service."""

from __future__ import annotations

import click

from energy_data.untrusted.printable import cleaned, composed


def echo(text: object = "", err: bool = False, nl: bool = True, commands: bool = False) -> None:
    """Print a text of ours; `commands`: its lines are meant for a CI service."""
    shown = str(text)
    begin = "\r" if shown.startswith("\r") else ""  # progress writes over its own line
    click.echo(begin + (cleaned(shown) if commands else composed(shown.removeprefix("\r"))), err=err, nl=nl)
