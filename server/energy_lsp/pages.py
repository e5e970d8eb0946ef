"""A page: what one text (a file, a notebook cell) has to say about energy, at one version.

Pages are made in the worker's thread and read on the loop. They hold no reference to anything that changes
later, except the reader's document, which converts positions and is only asked while the page is the newest.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.hints import Hint, Total

if TYPE_CHECKING:
    from pathlib import Path

    from energy_code.document import Analysis, Document, Function

    from energy_code.calls import Call, Span
    from energy_code.rules import Finding
    from energy_data.model import RuleEvidence
    from energy_lsp.client import Encoding
    from energy_lsp.folders import Folder

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Page:
    """The hints of one text, and its positions."""

    uri: str
    owner: str
    """The URI of the file or notebook it belongs to."""
    version: int | None
    document: Document
    encoding: Encoding
    folder: Folder
    hints: Sequence[Hint] = ()
    """In the order of the text."""
    findings: Sequence[Finding] = ()
    functions: Sequence[Function] = ()
    evidence: dict[str, list[RuleEvidence]] = field(default_factory=dict)
    """What was measured for each rule that applies here."""
    cell_number: int = 0
    """For a notebook's cell: which one it is, counted from 1 over cells of all kinds."""
    hotspots: Sequence[Hint] = ()
    """The calls worth a mark."""
    diagnostics: list[types.Diagnostic] = field(default_factory=list)
    result_id: str = ""

    @property
    def is_cell(self) -> bool:
        """True for a cell of a notebook."""
        return self.owner != self.uri

    def range(self, span: Span) -> types.Range:
        """A span in the client's position encoding."""
        start, end = self.document.to_lsp(span, self.encoding)
        return types.Range(types.Position(*start), types.Position(*end))

    def offset(self, position: types.Position) -> int:
        """The byte a position of the client stands for."""
        return self.document.byte_offset(position.line, position.character, self.encoding)

    def position(self, offset: int) -> types.Position:
        """A byte in the client's position encoding."""
        span = point_span(self.document.analysis.source, offset)
        return types.Position(*self.document.to_lsp(span, self.encoding)[0])

    def line(self, row: int) -> str:
        """One line of the text."""
        lines = self.document.analysis.source.split(b"\n", row + 1)
        return lines[row].decode("utf-8", "replace").rstrip("\r") if row < len(lines) else ""

    def hint_at(self, position: types.Position) -> Hint | None:
        """The innermost call whose callee lies under a position."""
        offset = self.offset(position)
        index = bisect_right(self.hints, offset, key=lambda hint: hint.call.span.start_byte)
        for hint in reversed(self.hints[:index]):
            call = hint.call
            if call.span.start_byte <= offset <= call.name.end_byte:
                return hint
            if call.span.start_byte < offset - 65536:
                break
        return None

    def hints_between(self, start: int, end: int) -> list[Hint]:
        """Hints whose call begins in a stretch of bytes."""
        first = bisect_right(self.hints, start - 1, key=lambda hint: hint.call.span.start_byte)
        last = bisect_right(self.hints, end, key=lambda hint: hint.call.span.start_byte)
        return list(self.hints[first:last])

    def function_around(self, call: Call) -> Function | None:
        """The innermost function or class that a call stands in."""
        around = [
            one for one in self.functions if one.span.start_byte <= call.span.start_byte < one.span.end_byte
        ]
        return max(around, key=lambda one: one.span.start_byte, default=None)

    @property
    def total(self) -> Total:
        """The sum over all calls."""
        return Total.of(self.hints)


def point_span(source: bytes, offset: int) -> Span:
    """The empty span at a byte."""
    from energy_code.calls import Point, Span

    point = Point(source.count(b"\n", 0, offset), offset - (source.rfind(b"\n", 0, offset) + 1))
    return Span(offset, offset, point, point)


def find_all(analysis: Analysis, folder: Folder) -> list[Finding]:
    """Findings of the selected rules; a rule that raises is left out, and the user told once."""
    from energy_code import rules

    settings = folder.settings
    if settings.rule_severity == "off":
        return []
    chosen = [
        rule
        for name, rule in rules.ALL.items()
        if name not in settings.ignore and (not settings.select or name in settings.select)
    ]
    try:
        return list(rules.find(analysis, chosen))
    except Exception:
        logger.exception("A rule failed; running them one by one")
    findings: list[Finding] = []
    for rule in chosen:
        try:
            findings += rules.find(analysis, [rule])
        except Exception as problem:
            logger.exception("Rule %s failed", rule.name)
            folder.tell([f"Rule {rule.name} failed on some code and was left out there ({problem!r})."])
    return findings


def hints_of(
    calls: Sequence[Call], findings: Sequence[Finding], folder: Folder, path: Path | None
) -> list[Hint]:
    """Join calls with their figures and with the findings that hang on them."""
    by_call: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.call is not None:
            by_call.setdefault(finding.call.span.start_byte, []).append(finding)
    return [
        Hint(
            call,
            folder.lookup(call.api, path, call.span.start.row + 1),
            tuple(one for one in by_call.get(call.span.start_byte, ()) if one.call == call),
        )
        for call in calls
    ]
