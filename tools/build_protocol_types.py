"""Write the extension's types for what the server says, and the texts that its units have to agree with.

Usage: python tools/build_protocol_types.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from energy_lsp.features.answers import ANSWERS
from energy_lsp.presentation.notation.units import joules

CLIENT = Path(__file__).parents[1] / "client-vscode"
TYPES = CLIENT / "src" / "server" / "answers.ts"
UNITS = CLIENT / "test" / "units.json"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}
AMOUNTS = (
    0.0,
    2.5e-9,
    9.996e-7,
    1.2e-6,
    9.994e-4,
    9.996e-4,
    0.0012,
    0.9994,
    0.9997,
    1.0,
    12.34,
    999.4,
    999.7,
    1e3,
    3599.0,
    35990.0,
    36000.0,
    1e7,
)
"""Joules around the places where a unit ends."""


def typescript(kind: Any) -> str:
    """A type of Python's in TypeScript."""
    if kind in PLAIN:
        return PLAIN[kind]
    arguments = get_args(kind)
    if get_origin(kind) is list:
        inner = typescript(arguments[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if get_origin(kind) is dict:
        return f"Record<{', '.join(map(typescript, arguments))}>"
    if get_origin(kind) is Literal:
        return " | ".join(json.dumps(value) for value in arguments)
    if arguments:
        return " | ".join(typescript(argument) for argument in arguments)
    return str(kind.__name__)


def types() -> str:
    """The whole module."""
    parts = [
        "/** Written by tools/build_protocol_types.py from server/energy_lsp/features/answers.py: change it there. */"
    ]
    for answer in ANSWERS:
        about = (answer.__doc__ or "").partition("\n")[0]
        lines = [f"  {name}: {typescript(kind)};" for name, kind in get_type_hints(answer).items()]
        comment = [f"/** {about} */"] if about and not about.startswith("dict(") else []
        parts.append("\n".join([*comment, f"export interface {answer.__name__} {{", *lines, "}"]))
    return "\n\n".join(parts) + "\n"


def units() -> str:
    """Amounts and how the server writes them."""
    return json.dumps([[amount, joules(amount)] for amount in AMOUNTS], indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write both files, or say which is not as it would be written."""
    for path, content in ((TYPES, types()), (UNITS, units())):
        if "--check" not in sys.argv:
            path.write_text(content, "utf-8")
        elif not path.is_file() or path.read_text("utf-8") != content:
            sys.exit(f"{path} is out of date: run python tools/build_protocol_types.py")


if __name__ == "__main__":
    main()
