"""What leaves this machine with an export, a merge or a report: no absolute paths, and one line that says the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from energy_data.model import Run
from energy_data.untrusted.printable import one_line

_FOLDERS = re.compile(r"(?<![\w./…:])/(?:[^\s'\":/]+/)+")
_WITHOUT_VALUE = re.compile(r"<\d+>|--?[A-Za-z][\w-]*(?:=?…)?")
NAMED = 3


def shared_row(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row as others get it: a run's project by its name, and its texts without the folders that files lie in."""
    if table != "runs" or not all(isinstance(row.get(name), str) for name in ("project", "command", "error")):
        return row
    project = row["project"]
    if project.startswith("/"):
        name = PurePosixPath(project).name
    elif PureWindowsPath(project).is_absolute():
        name = PureWindowsPath(project).name
    else:
        name = project
    return {**row, "project": name, **{text: _relative(row[text], project) for text in ("command", "error")}}


def _relative(text: str, project: str) -> str:
    if len(project) > 1 and project.startswith("/"):
        text = text.replace(f"{project.rstrip('/')}/", "")
    return _FOLDERS.sub("…/", text)


def holds_values(command: str) -> bool:
    """Whether a command line has values of arguments in it, as those of earlier versions and --keep-arguments do."""
    return any(not _WITHOUT_VALUE.fullmatch(word) for word in command.split()[2:])


def what_is_shared(runs: Iterable[Run]) -> str:
    """One line for whoever hands a file on."""
    found = list(runs)
    machines = sorted({one_line(run.machine.label, 60) for run in found})
    named = ", ".join(machines[:NAMED]) + (
        f" and {len(machines) - NAMED} more" if len(machines) > NAMED else ""
    )
    valued = sum(holds_values(run.command) for run in found)
    values = (
        f"{valued} command lines in it hold values of arguments: look at them before you hand it on"
        if valued
        else "no command line in it holds values of arguments"
    )
    amount = f"{len(found)} {'run' if len(found) == 1 else 'runs'}{f' on {named}' if named else ''}"
    return f"It shares {amount}, names of files and calls; {values}."
