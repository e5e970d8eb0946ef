"""One open file, read incrementally."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import tree_sitter

from energy_code.analysis import Analysis, Seen
from energy_code.call_list import Made
from energy_code.calls import Span
from energy_code.codes import Code, Unit
from energy_code.collector import collector_paused
from energy_code.engine import Engine
from energy_code.lowering_scopes import Cache
from energy_code.lowering_statements import StatementLowering
from energy_code.modules import Module
from energy_code.node_kinds import ERROR
from energy_code.positions import Encoding, Lines, Position
from energy_code.shifting import Shift, rename, shifted
from energy_code.sources import decode, encode, parseable, same_ends
from energy_code.spacing import Change
from energy_code.stack_room import with_room
from energy_code.syntax import Syntax, parse
from energy_data.catalogue import Catalogue

if TYPE_CHECKING:
    from energy_code.project import Project
    from energy_code.ruling.keeping import Memory

PART = 8
"""A stretch that is smaller than this part of a file is parsed by itself."""
EAGERLY = b"run_eagerly=True"
LONGEST_MARK = 3
"""Bytes of the mark of an encoding that a text may begin with."""
SPARE = 48
"""So many statements that are no longer in a file are remembered, for when an edit is undone."""

__all__ = ["Analysis", "Document", "Moved"]


class Moved(NamedTuple):
    """What an edit did that only moved what stands behind it."""

    shift: Shift
    lines: tuple[bytes, bytes]
    """The lines in which it lies, before and after."""


class Document:
    """A file as an editor holds it: edits in, analyses out."""

    def __init__(
        self, source: str | bytes, *, path: Path | None = None, project: Project | None = None
    ) -> None:
        self.path = path
        self.project = project
        text = decode(source) if isinstance(source, bytes) else source
        self.source = parseable(encode(text))
        self._syntax = Syntax(self.source)
        self._lines: Lines | None = None
        self._cache: Cache = {}
        self._fresh: Cache = {}
        self._wrecks: set[Code] = set()
        """What broken texts were made of, or may have been: in part it is known by its text as well."""
        self._analysis: Analysis | None = None
        if project is not None:
            self.engine = project.engine
            name, is_package = project.name_of(path) if path is not None else ("__main__", False)
            self.module = Module(name, is_package)
        else:
            self.engine = Engine(Catalogue.load())
            self.module = Module(path.stem if path is not None else "__main__")
        self.remembered: Memory | None = None
        """What rules found at their last search."""
        self._stale = True
        self._lowered = False
        self.whole = False
        """True while the text has no syntax error."""
        self._read = self.source
        self._same_head = self._same_tail = len(self.source)
        """The text at the last lowering, and how much of it is the same since at both ends."""
        self.moves = 0
        """How often places have moved under the analyses made so far."""
        self._revision = -1
        self._made: Made = {}
        self._seen: Seen | None = None
        self._touched: set[Unit] = set()
        """Statements inside of which places have moved since."""
        self._unchanged = 0
        """Up to where the text is as the last analysis saw it."""

    @property
    def lines(self) -> Lines:
        """Where the lines start."""
        if self._lines is None:
            self._lines = Lines(self.source)
        return self._lines

    def edit(self, start_byte: int, old_end_byte: int, replacement: bytes) -> None:
        """Replace a stretch of the source; what the edit does not touch is kept."""
        lines = self.lines
        start_byte = max(0, min(start_byte, len(self.source)))
        old_end_byte = max(start_byte, min(old_end_byte, len(self.source)))
        start, old_end = lines.point(start_byte), lines.point(old_end_byte)
        source = self.source[:start_byte] + replacement + self.source[old_end_byte:]
        is_plain = start_byte >= LONGEST_MARK and b"\0" not in replacement and b"\r" not in source
        self.source = source if is_plain else parseable(source)
        self._lines = lines.edited(self.source, start_byte, old_end_byte)
        new_end_byte = start_byte + len(replacement)
        self._syntax.edit(
            self.source,
            (start_byte, old_end_byte, new_end_byte, start, old_end, self._lines.point(new_end_byte)),
        )
        # A carriage return whose line end was taken away counts as one itself.
        kept = start_byte - (source[start_byte - 1 : start_byte] != self.source[start_byte - 1 : start_byte])
        self._same_head = min(self._same_head, kept)
        self._same_tail = min(self._same_tail, len(self.source) - new_end_byte)
        self._unchanged = min(self._unchanged, start_byte)
        if not self._stale and self.project is not None:
            self.project.stale.append(self)
        self._stale = True
        self._analysis = None

    def replace(self, source: str | bytes) -> None:
        """Put a whole new text in place, as one edit of the part that differs."""
        text = decode(source) if isinstance(source, bytes) else source
        new, old = parseable(encode(text)), self.source
        if new == old:
            return
        head, tail = same_ends(old, new)
        self.edit(head, len(old) - tail, new[head : len(new) - tail])

    @property
    def tree(self) -> tree_sitter.Tree:
        """The syntax tree of the whole text."""
        return self._syntax.tree

    def lower(self) -> Module:
        """The module with its statements up to date."""
        if not self._stale:
            return self.module
        if self._shift() is not None:
            return self.module
        self._stale = False
        old = self.module.units
        if len(self._fresh) > 2 * len(old) + SPARE or len(self._wrecks) > SPARE:
            self._forget_old_texts()
        units = self._lower_region(old) if self._lowered and self.whole else None
        if units is None:
            lowering = StatementLowering(self.source, self._fresh, self._cache)
            root = self.tree.root_node
            units = list(lowering.units([root] if root.kind_id == ERROR else root.children))
            if not self.whole:
                self._wrecks |= {unit for _, unit in old} - {unit for _, unit in units}
            self.whole = not root.has_error
        if self._lowered:
            self.engine.edited()
            if self.module.matters(old, units) or (self.module.fills and self.engine.importers(self.module)):
                self.engine.clock += 1
        self._take(units)
        self._lowered = True
        return self.module

    def _take(self, units: list[tuple[int, Unit]]) -> None:
        """These are the statements of the text as it is now."""
        self.module.eager_models = self._runs_eagerly()
        self._read = self.source
        self._same_head = self._same_tail = len(self.source)
        self.module.units = units

    def _runs_eagerly(self) -> bool:
        """Whether the text says, a remark included, that models are not traced."""
        if not self._lowered or self.module.eager_models:
            return EAGERLY in self.source
        first, last = self._same_head - len(EAGERLY), len(self.source) - self._same_tail + len(EAGERLY)
        return EAGERLY in self.source[max(first, 0) : last]

    def move(self) -> Moved | None:
        """Follow edits of a remark or of blank lines, if nothing else happened in the program since the last analysis.

        None, and nothing done, for any other edit.
        """
        if self._revision != self.engine.revision:
            return None
        if self.project is not None and any(one is not self for one in self.project.stale):
            return None
        return self._shift() if self._stale else None

    def _shift(self) -> Moved | None:
        """Let the statements stand where edits of one remark or of blank lines have moved them."""
        if not (self._lowered and self.whole and self._runs_eagerly() == self.module.eager_models):
            return None
        change = Change(self._read, self.source, self._same_head, self._same_tail)
        found = shifted(self.module.units, change)
        if found is None:
            return None
        rename((self._fresh, self._cache), found.texts)
        if found.around is not None:
            self._touched.add(found.around)
            if self.remembered is not None:
                self.remembered.move(found.around, found.inside, found.texts[found.around])
        self.moves += 1
        self._stale = False
        self._take(found.units)
        return Moved(found.shift, change.lines)

    def _forget_old_texts(self) -> None:
        """Keep what the file is made of now: texts of statements as they once were would pile up."""
        living: set[Code] = set()
        stack: list[Code] = [unit for _, unit in self.module.units]
        while stack:
            code = stack.pop()
            living.add(code)
            stack.extend(part for _, part in code.parts)
        known = {**self._cache, **self._fresh}
        self._cache, self._fresh = {key: code for key, code in known.items() if code in living}, {}
        stack = [*known.values(), *self._wrecks]
        while stack:
            code = stack.pop()
            if code not in living:
                stack.extend(part for _, part in code.parts)
                code.let_go()
        self._wrecks.clear()

    def _lower_region(self, old: list[tuple[int, Unit]]) -> list[tuple[int, Unit]] | None:
        """Lower only the top-level statements around the edits; None when others may have become part of them."""
        head, tail, size = self._same_head, self._same_tail, len(self._read)
        starts = [start for start, _ in old]
        first = max(bisect_right(starts, min(head, size - tail)) - 1, 0)
        if (
            first and starts[first] == head
        ):  # typed right before a statement: it may go on with the one before
            first -= 1
        last = bisect_right(starts, size - tail)
        shift = len(self.source) - size
        start = starts[first] if first < len(old) and first > 0 else 0
        if last < len(old) and self.source[start : starts[last] + shift].rstrip().endswith(b"\\"):
            last += 1  # it goes on in the next line
        end = starts[last] + shift if last < len(old) else len(self.source)
        if (start and self.source[start - 1 : start] != b"\n") or (
            last < len(old) and self.source[end - 1 : end] != b"\n"
        ):
            return None
        base, nodes = self._nodes_between(start, end)
        if nodes is None:
            return None
        lowering = StatementLowering(self.source[base:end] if base else self.source, self._fresh, self._cache)
        kept = [*old[:first], *((place + shift, unit) for place, unit in old[last:])]
        used = {unit for _, unit in kept}
        middle = [(base + place, unit) for place, unit in lowering.units(nodes, used)]
        return [*old[:first], *middle, *kept[first:]]

    def _nodes_between(self, start: int, end: int) -> tuple[int, list[tree_sitter.Node] | None]:
        """The nodes of a stretch of whole statements, and where their places count from; None in broken code.

        A small part of a file is parsed by itself; a larger one is taken from the tree of the whole, which rules need.
        """
        if (end - start) * PART > len(self.source):
            return 0, self._syntax.between(start, end)
        root = parse(self.source[start:end]).root_node
        return start, root.children if not root.has_error else None

    @property
    def analysis(self) -> Analysis:
        """What the file says, recomputed where the last edits can have changed it."""
        if self.project is not None:
            self.project.refresh()
        revision = self.engine.revision
        if self._analysis is None or self._stale or self._revision != revision:
            with collector_paused():
                is_moved = not self._stale and self._revision == revision
                self._analysis = self._analyse() if is_moved else with_room(self._analyse)
                self._made = self._analysis.calls.made
                self._seen = self._analysis.seen
                self._touched.clear()
            self._unchanged = len(self.source)
            self._revision = self.engine.revision
        return self._analysis

    def _analyse(self) -> Analysis:
        """Read what changed."""
        self.lower()
        return Analysis(self, self._made, self._unchanged, self._seen, self._touched)

    def to_lsp(self, span: Span, encoding: Encoding) -> tuple[Position, Position]:
        """A span as LSP positions: (line, character) of its start and end."""
        return self.lines.position(span.start_byte, encoding), self.lines.position(span.end_byte, encoding)

    def byte_offset(self, line: int, character: int, encoding: Encoding) -> int:
        """The byte offset of an LSP position."""
        return self.lines.byte_offset(line, character, encoding)
