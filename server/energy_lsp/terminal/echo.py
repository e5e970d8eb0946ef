"""The one place that prints lines: what slipped into them from others acts on no terminal and no CI service."""

from __future__ import annotations

import click

from energy_data.untrusted.printable import cleaned, composed
from energy_lsp.terminal.width import width


def echo(text: object = "", err: bool = False, nl: bool = True, commands: bool = False) -> None:
    """Print a text of ours as it is; `commands`: its lines are meant for a CI service."""
    shown = str(text)
    begin = "\r" if shown.startswith("\r") else ""  # progress writes over its own line
    click.echo(begin + (cleaned(shown) if commands else composed(shown.removeprefix("\r"))), err=err, nl=nl)


def say(text: object = "", err: bool = False, indent: str = "") -> None:
    """Print sentences: wrapped between words on a terminal, one line each in a pipe, where people search in them."""
    columns = width(err)
    if not columns:
        echo(text, err=err)
        return
    # Measuring text loads rich, and the server starts without it.
    from energy_lsp.terminal.fitting import wrapped

    for sentence in str(text).split("\n"):
        for line in wrapped(sentence, columns, indent):
            echo(line, err=err)


def warn(sentence: str) -> None:
    """Print a sentence about something that was passed over, beside the result."""
    say(sentence, err=True)
