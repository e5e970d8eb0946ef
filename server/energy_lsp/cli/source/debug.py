"""`energy-lsp debug`: what each stage of the reader holds for a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from energy_code.analysis.analysis import Analysis
from energy_code.analysis.stages import STAGES
from energy_code.workspace.document import Document
from energy_data.problems import Problem
from energy_data.untrusted.printable import visible
from energy_data.untrusted.reading import read_source, real
from energy_lsp.terminal.echo import echo

LARGEST = 20_000
"""Bytes: beyond that nobody reads what a stage holds."""


@click.command("debug")
@click.argument("stage", type=click.Choice([*STAGES, "findings", "hints"]))
@click.argument("file", type=click.Path(path_type=Path))
def debug(stage: str, file: Path) -> None:
    """Print what a STAGE of the reader holds for a small FILE.

    tree: syntax tree. ir: the lowered program. values: what each expression is. summary: the evaluations and what
    they rest on. findings: what the rules say. hints: what the editor shows at calls.
    """
    try:
        source = read_source(file)
    except OSError as problem:
        raise Problem(f"{file} cannot be read ({problem.strerror}): give a Python file.") from None
    if len(source) > LARGEST:
        raise Problem(
            f"{file} has {len(source)} bytes: debug is for programs of at most {LARGEST}; cut out a part."
        )
    if stage == "hints":
        lines = hints(file)
    else:
        analysis = Document(source, path=file).analyse()
        lines = findings(analysis) if stage == "findings" else STAGES[stage](analysis)
    for line in lines:
        echo(visible(line))


def findings(analysis: Analysis) -> Iterator[str]:
    """What the rules would write differently."""
    from energy_code import rules

    for one in rules.find(analysis):
        yield f"{one.span.start.row + 1}:{one.span.start.column} {one.rule.name} ({one.safety()}): {one.message}"


def hints(file: Path) -> Iterator[str]:
    """What is known of the energy of each call."""
    from energy_lsp.checking.run import CLIENT
    from energy_lsp.presentation.pipeline import read_reports
    from energy_lsp.workspace.folders import Folder
    from energy_lsp.workspace.settings import project_root

    path = real(file)
    folder = Folder(project_root(path))
    folder.configure()
    for report in read_reports(folder, path, CLIENT):
        for hint in report.hints:
            place = hint.call.span.start
            figure = hint.figure
            if figure is None:
                known = "no figure"
            else:
                joules = "no joules of its own" if figure.total is None else f"{figure.total:.3g} J a call"
                estimated = ", estimated" if figure.estimated else ""
                known = f"{joules}, origin {figure.origin}, source {figure.source}{estimated}"
            yield f"{place.row + 1}:{place.column} {hint.call.api}: {known}"
