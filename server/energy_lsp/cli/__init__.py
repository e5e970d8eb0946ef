"""The command line. Each command lives in a module of its own and is imported when it is used."""

from __future__ import annotations

import click

from energy_lsp.cli.group import LazyGroup

COMMANDS: dict[str, str] = {
    "check": "source.check:check",
    "measure": "measuring.measure:measure",
    "report": "results.report:report",
    "runs": "results.runs:runs",
    "inside": "results.inside:inside",
    "compare": "measuring.compare:compare",
    "tune": "measuring.tune:tune",
    "calibrate": "measuring.calibrate:calibrate",
    "predict": "source.predict:predict",
    "calls": "source.calls:calls",
    "rules": "source.rules:rules",
    "doctor": "measuring.doctor:doctor",
    "db": "results.db:db",
    "sweep": "measuring.sweep:sweep",
    "campaign": "measuring.campaign:campaign",
    "serve": "serve:serve",
    "debug": "source.debug:debug",
}
"""Command name → `module:function` under this package; the order is the order of the help."""


@click.group(
    cls=LazyGroup,
    modules=COMMANDS,
    package=__name__,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    help="Print without colours, anywhere on the line; the variable NO_COLOR does the same.",
)
@click.version_option(package_name="energy-lsp", prog_name="energy-lsp")
def main() -> None:
    """See what TensorFlow and Keras calls cost in joules, and what would cost less.

    Begin with `energy-lsp measure PROGRAM.py --quick`, then `energy-lsp check PROGRAM.py`.
    """
