"""The labelled program of the white box: it says of each layer on which line it is created."""

from __future__ import annotations

import ast
from pathlib import Path

LABELLED = Path(__file__).parents[1] / "measure" / "inside" / "labelled.py"


def labelled_source() -> str:
    """The labelled program with the line of its call in the name of each layer."""
    text = LABELLED.read_text()
    lines = text.split("\n")
    marks = [
        (keyword.value.end_lineno or 0, keyword.value.end_col_offset or 0, node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "name"
    ]
    for row, column, line in sorted(marks, reverse=True):
        before, after = lines[row - 1][:column], lines[row - 1][column:]
        lines[row - 1] = f"_at{line}".join(before.rsplit("_@", 1)) + after
    return "\n".join(lines)
