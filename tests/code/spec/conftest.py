"""Runs the pages of this folder as tests: what a comment `# api: …` says of a line is what the reader finds there.

README.md says how a page is written. Each code block is a test, and files named above blocks are one test together:

    pytest tests/code/spec/02-names.md
    pytest tests/code/spec -k "isinstance"
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from energy_code.analysis.analysis import Analysis
from energy_code.model import Call, Span
from energy_code.workspace.document import Document
from energy_code.workspace.project import Project

HEADING = re.compile(r"#{1,6} (.*)")
FILE_NAME = re.compile(r"`([^`]+\.py)`:")
EXPECTATION = re.compile(r"# api: (.*)")
ONE_CALL = re.compile(r"([\w.]+)(?: \[([^\]]*)\])?(?:, |$)")
UNDERLINE = re.compile(r"\s*#(\s*)([~^]+)\s*")
PARTS = ("runs", "mode")
"""What is compared only in blocks that say it of at least one call."""


@dataclass
class Block:
    """A code block: its lines, and where they begin in the page."""

    page: Path
    line: int
    """The page's line, from 1, on which the code begins."""
    heading: str
    name: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The program, comments and all."""
        return "".join(f"{line}\n" for line in self.lines)


def blocks(page: Path) -> Iterator[Block]:
    """The code blocks of a page that are tests: ```python alone; anything behind it makes it an illustration."""
    heading, name, block = page.stem, "", None
    for number, line in enumerate(page.read_text("utf-8").splitlines(), start=1):
        if block is not None:
            if line == "```":
                yield block
                name, block = "", None
            else:
                block.lines.append(line)
        elif line == "```python":
            block = Block(page, number + 1, heading, name)
        elif match := HEADING.fullmatch(line):
            heading = match[1]
        elif match := FILE_NAME.fullmatch(line):
            name = match[1]
    assert block is None, f"{page}: the block that begins on line {block and block.line} does not end"


def described(call: Call, parts: set[str]) -> str:
    """A call as a page writes it."""
    said = [f"{call.confidence:g}"] if call.confidence < 1 else []
    if call.decorator:
        said.append("decorator")
    if "runs" in parts:
        said += [f"{call.runs.times} times"] if call.runs.times != 1 else []
        said += ["unknown loop"] if call.runs.in_unknown_loop else []
        said += [f"{call.runs.epochs} epochs"] if call.runs.epochs != 1 else []
    if "mode" in parts and call.mode != "eager":
        said.append(call.mode)
    return call.api + (f" [{', '.join(said)}]" if said else "")


def parts_of(block: Block) -> set[str]:
    """Which of `PARTS` the block speaks of."""
    said = " ".join(re.findall(r"\[([^\]]*)\]", " ".join(EXPECTATION.findall(block.source))))
    words = {"runs": r"\d+ times|unknown loop|epochs", "mode": r"\b(eager|graph|jit)\b"}
    return {part for part in PARTS if re.search(words[part], said)}


def expected(block: Block) -> dict[int, list[str]]:
    """What the comments say, by line of the block, from 0."""
    found = {}
    for row, line in enumerate(block.lines):
        if match := EXPECTATION.search(line):
            said = match[1].strip()
            calls = [one.group().removesuffix(", ") for one in ONE_CALL.finditer(said) if one.group()]
            assert ", ".join(calls) == said, f"{block.page}:{block.line + row}: cannot read {said!r}"
            found[row] = [re.sub(r" \[eager\]|, eager(?=\])", "", call) for call in calls]
    return found


def found(block: Block, analysis: Analysis) -> dict[int, list[str]]:
    """What the reader says, in the same form: a call stands on the line of its name."""
    parts, rows = parts_of(block), dict[int, list[str]]()
    for call in analysis.calls():
        rows.setdefault(call.name.start.row, []).append(described(call, parts))
    return rows


def underlined(block: Block) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
    """Lines that are underlined: the row above, the columns of a call, and those of the name in it."""
    above = 0
    for row, line in enumerate(block.lines):
        match = UNDERLINE.fullmatch(line)
        if match is None:
            above = row
            continue
        name = re.search("~+", line)
        assert name is not None, f"{block.page}:{block.line + row}: ~ has to stand under the call's name"
        yield above, match.span(2), name.span()


def misplaced(block: Block, analysis: Analysis) -> Iterator[str]:
    """Underlined calls that stand elsewhere."""

    def columns(span: Span) -> tuple[int, int]:
        return span.start.column, span.end.column

    for row, place, name in underlined(block):
        on_line = [
            (columns(call.span), columns(call.name))
            for call in analysis.calls()
            if call.span.start.row == row
        ]
        if (place, name) not in on_line:
            yield f"{at(block, row)}: underlined is {(place, name)}, calls and their names stand at {on_line}"


def at(block: Block, row: int) -> str:
    """A line of the page, to click on."""
    return f"{block.page}:{block.line + row}: {block.lines[row].partition('# api:')[0].strip()}"


def differences(block: Block, analysis: Analysis) -> list[str]:
    """Everything that the page and the reader disagree about, with lines of the page."""
    wanted, got = expected(block), found(block, analysis)
    lines = [
        f"{at(block, row)}\n    expected: {', '.join(wanted.get(row, [])) or 'no call'}"
        f"\n    found:    {', '.join(got.get(row, [])) or 'no call'}"
        for row in sorted({*wanted, *got})
        if wanted.get(row, []) != got.get(row, [])
    ]
    return [*lines, *misplaced(block, analysis)]


class SpecFile(pytest.File):
    """A page; each block, or each set of files, is a test with the heading above it as its name."""

    def collect(self) -> Iterator[SpecItem]:
        """The tests of the page."""
        projects: dict[str, list[Block]] = {}
        tests: list[tuple[str, list[Block]]] = []
        for block in blocks(self.path):
            if not block.name:
                tests.append((block.heading, [block]))
            elif block.heading in projects:
                projects[block.heading].append(block)
            else:
                tests.append((block.heading, projects.setdefault(block.heading, [block])))
        seen: dict[str, int] = {}
        for heading, some in tests:
            seen[heading] = seen.get(heading, 0) + 1
            name = heading if seen[heading] == 1 else f"{heading} ({seen[heading]})"
            yield SpecItem.from_parent(self, name=name.replace("`", ""), blocks=some)


class SpecItem(pytest.Item):
    """One program, read and compared with its comments."""

    def __init__(self, *, blocks: list[Block], **keywords: Any) -> None:
        super().__init__(**keywords)
        self.blocks = blocks
        self.funcargs: dict[
            str, object
        ] = {}  # pytest-lsp's wrapper ends without a yield where this is missing

    def runtest(self) -> None:
        """Read the program; every call has to be announced, and every announced call found."""
        wrong = [line for block, analysis in self.read() for line in differences(block, analysis)]
        if wrong:
            raise Differences("\n".join(wrong))

    def read(self) -> Iterator[tuple[Block, Analysis]]:
        """Each block with its analysis; named ones are files of one project."""
        if not self.blocks[0].name:
            yield self.blocks[0], Document(self.blocks[0].source).analyse()
            return
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for block in self.blocks:
                path = folder / "workspace" / block.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.source, "utf-8")
            project = Project(folder / "workspace", store=folder / "index.json")
            project.index()
            for block in self.blocks:
                analysis = project.analyse(project.root / block.name)
                assert analysis is not None
                yield block, analysis

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Only the lines that differ; a fault of the reader itself with its traceback."""
        if isinstance(excinfo.value, Differences):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the test stands."""
        return self.path, self.blocks[0].line - 1, self.name


class Differences(Exception):
    """A page that says something else than the reader."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecFile | None:
    """Every page of this folder but the README."""
    if (
        file_path.suffix == ".md"
        and file_path.parent == Path(__file__).parent
        and file_path.name != "README.md"
    ):
        return SpecFile.from_parent(parent, path=file_path)
    return None
