"""What IPython alone understands in the cells of a notebook: which of it runs while measuring, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from energy_code.workspace.notebook import CODE_LINE_MAGICS, PYTHON_CELL_MAGICS

SHELL_LINE = re.compile(r"(?:[\w.,\s]+=)?\s*!!?\s*(\S.*)$")
LINE_MAGIC = re.compile(r"\s*(?:[A-Za-z_][\w.,\s]*=\s*)?%(\w+)(.*)$")
CELL_MAGIC = re.compile(r"\s*%%(\w+)[ \t]*(.*)")
CELLS = frozenset({"bash", "sh", "writefile", "file"})
"""Magics of cells that are run as IPython runs them."""
PYTHON_CELLS = frozenset(name.decode() for name in PYTHON_CELL_MAGICS)
"""Those whose cells are run as Python."""
LINES = frozenset({"cd", "env", "set_env"})
"""Magics of lines that are run."""
PYTHON_LINES = frozenset(name.decode() for name in CODE_LINE_MAGICS)
SHOWING = frozenset(
    {
        *(
            "matplotlib",
            "pylab",
            "config",
            "load_ext",
            "reload_ext",
            "autoreload",
            "precision",
            "tensorboard",
        ),
        *("who", "whos", "pwd", "history", "xmode", "html", "HTML", "javascript", "js", "svg", "SVG"),
        *("latex", "markdown", "pip", "conda"),
    }
)
"""Without effect on what a program computes, or (installing) never done while measuring: not worth a word."""


def line_commands(written: str, neutral: str) -> dict[int, str]:
    """The commands of `!ls`, `files = !ls` and `%cd ..` by their line (from 1), where the cell as Python has something else.

    Those of magics begin with their percent sign.
    """
    found: dict[int, str] = {}
    lines = written.split("\n")
    for number, line in _replaced(written, neutral):
        shell, magic = SHELL_LINE.match(line), LINE_MAGIC.match(line)
        if shell is not None:
            parts, last = [shell[1].rstrip()], number
            while parts[-1].endswith("\\") and last < len(lines):
                parts[-1] = parts[-1][:-1]
                parts.append(lines[last].strip())
                last += 1
            found[number] = "".join(parts)
        elif magic is not None and magic[1] in LINES:
            found[number] = line.strip()
    return found


def cell_magic(written: str) -> dict[str, str] | None:
    """The magic of a whole cell that is run in its own way: its name, the rest of its line, and what stands below."""
    magic = CELL_MAGIC.match(written)
    if magic is None or magic[1] not in CELLS:
        return None
    return {"name": magic[1], "line": magic[2].strip(), "body": written[magic.end() :].removeprefix("\n")}


def left_out(written: str, neutral: str) -> list[str]:
    """The magics of a cell that do not run, as they are written."""
    whole = CELL_MAGIC.match(written)
    if whole is not None and whole[1] not in PYTHON_CELLS:
        return [] if whole[1] in CELLS | SHOWING else [f"%%{whole[1]}"]
    found = []
    for _, line in _replaced(written, neutral):
        magic = LINE_MAGIC.match(line)
        if magic is None:
            continue
        assigned = not line.lstrip().startswith("%")
        if magic[1] not in PYTHON_LINES and (assigned or magic[1] not in LINES | SHOWING):
            found.append(line.strip())
    return found


def _replaced(written: str, neutral: str) -> Iterator[tuple[int, str]]:
    """Lines, from 1, that the cell as Python has something else in place of."""
    for number, (line, other) in enumerate(zip(written.split("\n"), neutral.split("\n"), strict=False), 1):
        if line != other and not other.startswith("#"):
            yield number, line
