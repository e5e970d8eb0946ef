"""The command line. Each command lives in a module of its own and is imported when it is used."""

from __future__ import annotations

import importlib
from typing import Any

import click

from energy_data.problems import Problem
from energy_lsp.presentation.markup import Plain
from energy_lsp.terminal.echo import echo

COMMANDS: dict[str, str] = {
    "measure": "measuring.measure:measure",
    "db": "results.db:db",
    "serve": "serve:serve",
    "check": "source.check:check",
    "calls": "source.calls:calls",
    "debug": "source.debug:debug",
    "report": "results.report:report",
    "inside": "results.inside:inside",
    "compare": "measuring.compare:compare",
    "tune": "measuring.tune:tune",
    "doctor": "measuring.doctor:doctor",
    "rules": "source.rules:rules",
    "campaign": "measuring.campaign:campaign",
    "calibrate": "measuring.calibrate:calibrate",
    "predict": "source.predict:predict",
    "sweep": "measuring.sweep:sweep",
}
"""Command name → `module:function` under this package; the order is the order of the help."""


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command is asked for."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the user can mend is one sentence on stderr and exit status 2."""
        try:
            return super().invoke(ctx)
        except Problem as problem:
            # A sentence may hold text from a file: nothing that a terminal would act on.
            echo(Plain().text(str(problem)), err=True)
            ctx.exit(2)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(f"{__name__}.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="energy-lsp", prog_name="energy-lsp")
def main() -> None:
    """See what TensorFlow and Keras calls cost in joules, and what would cost less."""
