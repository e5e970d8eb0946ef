"""SARIF 2.1.0, the format that code-scanning services read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote

from energy_code.rules import ALL
from energy_data.untrusted.printable import json_text, visible
from energy_lsp.checking.items import FileResult, Item
from energy_lsp.presentation.words.calls import HOTSPOT

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVEL = {"error": "error", "warning": "warning", "information": "note", "hint": "note"}


def as_sarif(results: Sequence[FileResult], root: Path) -> str:
    """One run of one tool. Paths are relative to `root`."""
    items = [item for result in results for item in result.items]
    rules = {item.rule: item for item in items}
    names = sorted(rules)
    driver = {
        "name": "energy-lsp",
        "version": metadata.version("energy-lsp"),
        "informationUri": "https://github.com/energy-lsp/energy-lsp",
        "rules": [_rule(rules[name]) for name in names],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"uri": root.as_uri().rstrip("/") + "/"}},
        "invocations": [_invocation(results)],
        "results": [_result(item, names.index(item.rule)) for item in items],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(item: Item) -> dict[str, Any]:
    return {
        "id": item.rule,
        "helpUri": item.url,
        "shortDescription": {"text": _described(item)},
        "fullDescription": {"text": _explained(item)},
        "defaultConfiguration": {"level": LEVEL.get(item.severity, "note")},
    }


def _described(item: Item) -> str:
    """A sentence about the rule, whatever place it was found at."""
    if item.rule == HOTSPOT:
        return "This call is one of the costliest of its file."
    rule = ALL.get(item.rule)
    return (
        f"{rule.title}." if rule is not None else "There is something to say about the energy of this call."
    )


def _explained(item: Item) -> str:
    """Why that is so, in a paragraph."""
    if item.rule == HOTSPOT:
        return "Hotspots are ranked by the energy of all runs of a call, as far as it was measured on this machine."
    rule = ALL.get(item.rule)
    return _paragraph(rule.page) if rule is not None else _described(item)


def _paragraph(page: str) -> str:
    """The first paragraph behind the title of a rule's page."""
    parts = [" ".join(part.split()) for part in page.split("\n\n")]
    return next((part for part in parts[1:] if part), parts[0])


def _result(item: Item, index: int) -> dict[str, Any]:
    region = {
        "startLine": item.line,
        "startColumn": item.column,
        "endLine": item.end_line,
        "endColumn": item.end_column,
        "snippet": {"text": item.source},
    }
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": _artifact(item.file), "region": region}
    }
    if item.cell is not None:
        location["logicalLocations"] = [{"name": f"cell {item.cell}"}]
    return {
        "ruleId": item.rule,
        "ruleIndex": index,
        "level": LEVEL.get(item.severity, "note"),
        "message": {"text": item.message},
        "locations": [location],
        "properties": {"fix": item.fix, **item.hint},
    }


def _artifact(file: str) -> dict[str, str]:
    if Path(file).is_absolute():
        return {"uri": Path(file).as_uri()}
    return {"uri": quote(os.fsencode(file)), "uriBaseId": "ROOT"}


def _invocation(results: Sequence[FileResult]) -> dict[str, Any]:
    problems = [result for result in results if result.problem]
    invocation: dict[str, Any] = {"executionSuccessful": not problems}
    if problems:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": f"{visible(result.file)}: {result.problem}"}}
            for result in problems
        ]
    return invocation
