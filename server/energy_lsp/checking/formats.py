"""JSON, GitHub annotations, and the choice among the formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from energy_data.untrusted.printable import json_text, one_line, visible
from energy_lsp.checking.items import FileResult, Item, ranked

GITHUB_LEVEL = {"error": "error", "warning": "warning"}


def as_json(results: Sequence[FileResult]) -> str:
    """A list with one object for each item: findings, and hotspots, the costliest of all files first."""
    return json_text(
        [_object(item) for item in ranked(item for result in results for item in result.items)], indent=2
    )


def _object(item: Item) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "file": item.file,
        "line": item.line,
        "column": item.column,
        "end_line": item.end_line,
        "end_column": item.end_column,
        "rule": item.rule,
        "message": item.message,
        "fix": item.fix,
        "url": item.url,
    }
    if item.cell is not None:
        shown["cell"] = item.cell
    return shown | item.hint


def as_github(results: Sequence[FileResult]) -> str:
    """Workflow commands that GitHub shows at the lines of a pull request."""
    return "\n".join(_command(item) for result in results for item in result.items)


def _command(item: Item) -> str:
    level = GITHUB_LEVEL.get(item.severity, "notice")
    place = {
        "file": visible(item.file),
        "line": item.line,
        "endLine": item.end_line,
        "col": item.column,
        "endColumn": item.end_column,
        "title": f"energy-lsp {item.rule}",
    }
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in place.items())
    return f"::{level} {properties}::{_data(one_line(item.message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
