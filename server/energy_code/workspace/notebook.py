"""Notebooks: the cells in order as one program."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy_code.model import Point, Span
from energy_code.text.decoding import decode, encode, parseable
from energy_code.text.lines import Lines
from energy_code.workspace.document import Document, ProjectView
from energy_data.problems import Problem
from energy_data.untrusted.parsing import parse_json

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis

PYTHON_CELL_MAGICS = frozenset(
    [b"time", b"timeit", b"capture", b"prun", b"python", b"python3", b"pypy", b"matplotlib"]
)
CODE_LINE_MAGICS = frozenset([b"time", b"timeit", b"prun", b"memit", b"mprun"])
MAGIC = re.compile(rb"^(\s*)(%%?|!!?|\?\??)")
ASSIGNED = re.compile(rb"^(\s*[A-Za-z_][\w.,\s]*=\s*)(%|!)(?!=)")
HELP = re.compile(rb"^\s*[%\w.*\[\]'\"]+\s*\?\??\s*$")
OPTION = re.compile(rb"\s*-\w+\b(?:\s*(?:=\s*)?\d+)?(?=\s)")


class NotebookProblem(Problem):
    """A file that is no notebook; the message says what to do."""


class Notebook:
    """Code cells as one document. A cell is its index in the notebook and its source."""

    def __init__(
        self,
        cells: Sequence[tuple[int, str]],
        *,
        path: Path | None = None,
        project: ProjectView | None = None,
    ) -> None:
        self.numbers = [number for number, _ in cells]
        self.sources = [parseable(encode(text)) for _, text in cells]
        self.document = Document(self._program(), path=path, project=project)

    @classmethod
    def read(cls, data: bytes, *, path: Path | None = None, project: ProjectView | None = None) -> Notebook:
        """The notebook in an `.ipynb` file."""
        return cls(read_cells(data, path), path=path, project=project)

    def _program(self) -> str:
        """All cells, one behind the other, with the start of each noted."""
        self.starts: list[int] = []
        self._lines: dict[int, Lines] = {}
        parts: list[bytes] = []
        offset = 0
        for source in self.sources:
            self.starts.append(offset)
            program = neutralised(source) + b"\n"
            parts.append(program)
            offset += len(program)
        return b"".join(parts).decode("utf-8", "surrogatepass")

    def update(self, cells: Sequence[tuple[int, str]]) -> None:
        """Put new cells in place; the document takes the difference as one edit."""
        self.numbers = [number for number, _ in cells]
        self.sources = [parseable(encode(text)) for _, text in cells]
        self.document.replace(self._program())

    def analyse(self) -> Analysis:
        """The analysis of the whole program; spans are those of the program."""
        return self.document.analyse()

    def locate(self, span: Span) -> tuple[int, Span]:
        """The cell a span of the program stands in (its index in the notebook), and the span inside it."""
        place = max(0, bisect_right(self.starts, span.start_byte) - 1)
        start = self.starts[place]
        row = self.document.lines().point(start).row
        inside = Span(
            span.start_byte - start,
            span.end_byte - start,
            Point(span.start.row - row, span.start.column),
            Point(span.end.row - row, span.end.column),
        )
        return self.numbers[place], inside

    def lines(self, cell: int) -> Lines:
        """The lines of a cell as written, to convert positions in it."""
        if cell not in self._lines:
            self._lines[cell] = Lines(self.sources[self.numbers.index(cell)])
        return self._lines[cell]

    def program_offset(self, cell: int, byte: int) -> int:
        """The place in the program of a byte of a cell."""
        return self.starts[self.numbers.index(cell)] + byte


def read_cells(data: bytes, path: Path | None = None) -> Sequence[tuple[int, str]]:
    """The code cells of an `.ipynb` file: index in the notebook and source."""
    try:
        return code_cells(parse_json(decode(data)))
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        name = path or "The file"
        raise NotebookProblem(
            f"{name} is not a Jupyter notebook: open it in Jupyter and save it again."
        ) from None


def program_of(data: bytes) -> bytes:
    """The cells of an `.ipynb` file as one source."""
    return b"\n".join(neutralised(parseable(encode(text))) for _, text in read_cells(data))


def code_cells(content: Any) -> Sequence[tuple[int, str]]:
    """The code cells of a notebook's JSON, also of the old format with worksheets."""
    cells = content.get("cells")
    if cells is None:
        cells = [cell for sheet in content["worksheets"] for cell in sheet["cells"]]
    found: list[tuple[int, str]] = []
    for number, cell in enumerate(cells):
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            found.append((number, source if isinstance(source, str) else "".join(source)))
    return found


def neutralised(source: bytes) -> bytes:
    """The cell as Python of the same length: what IPython alone understands becomes comments."""
    if b"%" not in source and b"!" not in source and b"?" not in source:
        return source
    lines = source.split(b"\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].lstrip().startswith(b"%%"):
        name = lines[first].strip()[2:].split(None, 1)[:1]
        if name and name[0] not in PYTHON_CELL_MAGICS:
            return b"\n".join(comment(line) for line in lines)
        lines[first] = hidden(lines[first])
    continued = False
    for number, line in enumerate(lines):
        if continued:
            lines[number] = comment(line)
        elif first is None or number != first or lines[number] == line:
            changed = neutral_line(line)
            if changed == line:
                continue
            lines[number] = changed
        continued = line.endswith(b"\\") and lines[number] != line
    return b"\n".join(lines)


def neutral_line(line: bytes) -> bytes:
    """One line with its magic made harmless; Python code behind `%time` stays code."""
    assigned = ASSIGNED.match(line)
    if assigned:
        return assigned.group(1) + without_magic(line[assigned.end(1) :])
    magic = MAGIC.match(line)
    if magic:
        indent = magic.group(1)
        return indent + without_magic(line[len(indent) :], statement=True)
    if line.rstrip().endswith(b"?") and HELP.match(line):
        indent = line[: len(line) - len(line.lstrip())]
        return indent + hidden(line[len(indent) :])
    return line


def without_magic(text: bytes, statement: bool = False) -> bytes:
    """A magic as an expression of the same length."""
    words = text[1:].split(None, 1)
    if text.startswith(b"%") and len(words) == 2 and words[0] in CODE_LINE_MAGICS:
        head = text.index(words[0]) + len(words[0])
        while option := OPTION.match(text, head):
            head = option.end()
        blank = b"0;" + b" " * (head - 2) if statement else b" " * head
        return blank + text[head:]
    return hidden(text)


def hidden(text: bytes) -> bytes:
    """A line of the same length that does nothing, and still is a statement where a block needs one."""
    indent = text[: len(text) - len(text.lstrip())]
    rest = text[len(indent) :].rstrip(b"\r")
    end = text[len(indent) + len(rest) :]
    return indent + b"0#"[: len(rest)] + b"." * (len(rest) - 2) + end


def comment(line: bytes) -> bytes:
    """A line of the same length that is a comment."""
    rest = line.rstrip(b"\r")
    return b"#" * len(rest) + line[len(rest) :]
