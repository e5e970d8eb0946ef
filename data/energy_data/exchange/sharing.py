"""What leaves this machine with an export, a merge or a report: no absolute paths, and one line that says the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from energy_data.model import Run
from energy_data.untrusted.parsing import parse_json
from energy_data.untrusted.printable import one_line

_FOLDERS = re.compile(r"(?<![\w./…:])/(?:[^\s'\":/]+/)+")
_FOLDERS_IN_ERRORS = re.compile(r"(?<![\w./…:])/(?:[^\s'\":/][^\n'\":/]*/)+")
"""The same with spaces in their names: of a sentence a word too much may go."""
_CREDENTIALS = re.compile(r"(?<=://)[^\s/@]+(?=@)")
_QUERY = re.compile(r"(?<=[?&])([\w.-]{1,60})=[^\s&'\"]+")
"""What an address gives a server to know us by, and what it asks for."""
_FILES = ("file", "called_file")
_WITHOUT_VALUE = re.compile(r"<\d+>|--?[A-Za-z][\w-]*(?:=?…)?")
NAMED = 3


def shared_row(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row as others get it: a run's project by its name, and its texts without the folders that files lie in."""
    for name in _FILES:
        if isinstance(row.get(name), str):
            row = {**row, name: shared_file(row[name])}
    if table == "insides":
        return {**row, "lines": _shared_lines(row.get("lines"))}
    if table != "runs" or not all(isinstance(row.get(name), str) for name in ("project", "command", "error")):
        return row
    project = row["project"]
    return {
        **row,
        "project": _name(project) or project,
        "command": _relative(row["command"], project, _FOLDERS),
        "error": shared_text(row["error"], project),
    }


def shared_run(run: Run) -> Run:
    """A run as others get it, in a page for instance."""
    row = shared_row("runs", {"project": run.project, "command": run.command, "error": run.error})
    return replace(run, **row)


def shared_file(file: str) -> str:
    """A file of the project as it is; of one outside its name alone."""
    name = _name(file)
    return f"…/{name}" if name else file


def shared_text(text: str, project: str) -> str:
    """What a program said, without the folders of this machine and what addresses hold beside the place: users, passwords,
    the values of queries. A file of the project stays by its path in it."""
    text = _QUERY.sub(r"\1=…", _CREDENTIALS.sub("…", text))
    return _relative(text, project, _FOLDERS_IN_ERRORS)


def _name(path: str) -> str:
    """The last part of an absolute path of any system; empty for others."""
    if path.startswith("/"):
        return PurePosixPath(path).name
    return PureWindowsPath(path).name if PureWindowsPath(path).is_absolute() else ""


def _shared_lines(lines: object) -> object:
    """The texts of lines by file, kept as JSON; what cannot be read is refused by whoever reads it."""
    try:
        found = parse_json(lines) if isinstance(lines, str) else None
    except (ValueError, RecursionError):
        return lines
    if not isinstance(found, dict) or not any(_name(file) for file in found):
        return lines
    return json.dumps({shared_file(file): texts for file, texts in found.items()})


def _relative(text: str, project: str, folders: re.Pattern[str]) -> str:
    if len(project) > 1 and project.startswith("/"):
        text = text.replace(f"{project.rstrip('/')}/", "")
    return folders.sub("…/", text)


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
    return f"It shares {amount}, names of files, and calls as they are written; {values}."
