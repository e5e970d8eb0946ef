"""Write the server's options into the VS Code extension's manifest, so that each is described in one place.

Usage: python tools/build_vscode_settings.py [--check]
"""

from __future__ import annotations

import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from energy_lsp.workspace.settings import SECTION, Settings, camel

MANIFEST = Path(__file__).parents[1] / "client-vscode" / "package.json"

OF_THE_EXTENSION: dict[str, dict[str, Any]] = {
    "path": {
        "type": "string",
        "default": "",
        "scope": "machine-overridable",
        "markdownDescription": "The `energy-lsp` command to run. Empty: the one in the interpreter "
        "chosen in the Python extension, else the extension's own private environment.",
    },
    "heat": {
        "type": "boolean",
        "default": True,
        "scope": "resource",
        "markdownDescription": "Mark calls in the gutter and the overview ruler by their share of the "
        "file's energy.",
    },
    "trace.server": {
        "type": "string",
        "enum": ["off", "messages", "verbose"],
        "default": "off",
        "scope": "window",
        "markdownDescription": "Log what editor and server say to each other.",
    },
}

NAMING_EXECUTABLES = ("path", "database", "measurePython", "measureArguments")
"""Not taken from a workspace that the user does not trust."""


def schema(default: object, about: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of one option, from its default and its documentation."""
    described: dict[str, Any] = {"scope": "resource", "markdownDescription": about["text"]}
    if isinstance(default, bool):
        described |= {"type": "boolean", "default": default}
    elif isinstance(default, int):
        described |= {"type": "integer", "default": default}
    elif isinstance(default, float):
        described |= {"type": "number", "default": default}
    elif isinstance(default, tuple):
        described |= {"type": "array", "items": {"type": "string"}, "default": list(default)}
    else:
        described |= {"type": "string", "default": default}
    if about["choices"]:
        described["enum"] = list(about["choices"])
    if about["minimum"] is not None:
        described["minimum"] = about["minimum"]
    return described


def manifest(current: dict[str, Any]) -> dict[str, Any]:
    """The manifest with all settings, from the server's options and the extension's own."""
    options = OF_THE_EXTENSION | {
        camel(option.name): schema(option.default, dict(option.metadata)) for option in fields(Settings)
    }
    properties = {f"{SECTION}.{name}": described for name, described in options.items()}
    current["contributes"]["configuration"]["properties"] = properties
    restricted = [f"{SECTION}.{name}" for name in NAMING_EXECUTABLES]
    current["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] = restricted
    return current


def main() -> None:
    before = MANIFEST.read_text()
    after = json.dumps(manifest(json.loads(before)), indent=2, ensure_ascii=False) + "\n"
    if "--check" in sys.argv:
        if before != after:
            sys.exit("client-vscode/package.json is out of date: run python tools/build_vscode_settings.py")
    else:
        MANIFEST.write_text(after)


if __name__ == "__main__":
    main()
