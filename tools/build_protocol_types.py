"""Write the extension's types for what the server says.

Usage: python tools/build_protocol_types.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from energy_lsp.features.answers import ANSWERS

CLIENT = Path(__file__).parents[1] / "client-vscode"
TYPES = CLIENT / "src" / "server" / "answers.ts"
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}


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


def main() -> None:
    """Write the file, or say that it is not as it would be written."""
    if "--check" not in sys.argv:
        TYPES.write_text(types(), "utf-8")
    elif not TYPES.is_file() or TYPES.read_text("utf-8") != types():
        sys.exit(f"{TYPES} is out of date: run python tools/build_protocol_types.py")


if __name__ == "__main__":
    main()
