"""One open file, read incrementally."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import tree_sitter

from energy_code.analysis.analysis import Analysis, KeptFindings, LastReading
from energy_code.analysis.calls import Made
from energy_code.incremental.engine import Engine
from energy_code.interpreter.domain.definitions import Module
from energy_code.ir.code import Code, TopLevelStatement
from energy_code.lowering.context import KnownCode
from energy_code.lowering.modules import lower_module
from energy_code.model import Span
from energy_code.process.budget import TooLongError
from energy_code.process.garbage_collection import collector_paused
from energy_code.process.stack_depth import with_room
from energy_code.syntax.node_kinds import ERROR, IGNORED
from energy_code.syntax.outline import Outline, are_pieces
from energy_code.syntax.pieces import Piece, Repair, repaired
from energy_code.syntax.tree import Syntax, parse
from energy_code.text.decoding import decode, encode, parseable, same_ends
from energy_code.text.lines import Encoding, Lines, Position
from energy_data.catalogue.catalogue import Catalogue

LARGE = 16_384
"""Bytes of a statement from which on its tree is taken from that of the whole text, which follows edits."""
TOGETHER = 16_384
"""Up to so many bytes of statements are parsed together, and one by one where something is wrong with one of them."""
EAGERLY = b"run_eagerly=True"
LONGEST_MARK = 3
"""Bytes of the mark of an encoding that a text may begin with."""
SPARE = 48
"""So many statements that are no longer in a file are remembered, for when an edit is undone."""

__all__ = ["Analysis", "Document"]


class ProjectView(Protocol):
    """What a document asks of the project it is part of (`workspace.project.Project`)."""

    engine: Engine
    stale: list[Document]
    """Documents that were edited since their modules were lowered."""

    def name_of(self, path: Path) -> tuple[str, bool]:
        """A file's dotted name, and whether it is a package."""

    def refresh(self) -> None:
        """Lower what was edited."""


class Document:
    """A file as an editor holds it: edits in, analyses out."""

    def __init__(
        self, source: str | bytes, *, path: Path | None = None, project: ProjectView | None = None
    ) -> None:
        self.path = path
        self.project = project
        text = decode(source) if isinstance(source, bytes) else source
        self.source = parseable(encode(text))
        self._syntax = Syntax(self.source)
        self._lines: Lines | None = None
        self._known = KnownCode()
        self._broken_codes: set[Code] = set()
        """What broken texts were made of, or may have been: in part it is known by its text as well."""
        self._analysis: Analysis | None = None
        if project is not None:
            self.engine = project.engine
            name, is_package = project.name_of(path) if path is not None else ("__main__", False)
            self.module = Module(name, is_package)
        else:
            self.engine = Engine(Catalogue.load())
            self.module = Module(path.stem if path is not None else "__main__")
        self.remembered: KeptFindings | None = None
        """What rules found at their last search."""
        self._stale = True
        self._lowered = False
        self.broken: list[tuple[int, int]] = []
        """Where the statements with syntax errors begin and end."""
        self.is_cut_short = False
        """True once a reading took too long and something was not looked at: later ones may build on that."""
        self.gave_way = False
        """True if that was for other documents that waited."""
        self.is_unread = False
        """True while the text counts as empty, as it took too long to parse."""
        self._outline: Outline | None = None
        """None for a text without errors that has not been edited."""
        self._are_pieces = True
        """False while statements of a text without errors are not those that its tokens tell."""
        self._read = self.source
        self._same_head = self._same_tail = len(self.source)
        """The text at the last lowering, and how much of it is the same since at both ends."""
        self._revision = -1
        self._made: Made = {}
        self._seen: LastReading | None = None
        self._unchanged = 0
        """Up to where the text is as the last analysis saw it."""

    def lines(self) -> Lines:
        """Where the lines start."""
        if self._lines is None:
            self._lines = Lines(self.source)
        return self._lines

    def edit(self, start_byte: int, old_end_byte: int, replacement: bytes) -> None:
        """Replace a stretch of the source; what the edit does not touch is kept."""
        lines = self.lines()
        start_byte = max(0, min(start_byte, len(self.source)))
        old_end_byte = max(start_byte, min(old_end_byte, len(self.source)))
        source = self.source[:start_byte] + replacement + self.source[old_end_byte:]
        is_plain = start_byte >= LONGEST_MARK and b"\0" not in replacement and b"\r" not in source
        self.source = source if is_plain else parseable(source)
        self._lines = lines.edited(self.source, start_byte, old_end_byte)
        new_end_byte = start_byte + len(replacement)
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

    def tree(self) -> tree_sitter.Tree:
        """The syntax tree of the whole text; what is broken in it is read as it was repaired."""
        self.lower()
        return self._syntax.tree()

    @property
    def repaired(self) -> bytes:
        """The text as it is read, after `lower`."""
        return self._syntax.source

    @property
    def whole(self) -> bool:
        """True while the text has no syntax error."""
        return not self.broken

    @property
    def repairs(self) -> list[Repair]:
        """What is read in place of what is written."""
        special = self._outline.special if self._outline is not None else []
        return [repair for piece in special for repair in piece.repairs]

    def lower(self) -> Module:
        """The module with its statements up to date."""
        if not self._stale:
            return self.module
        try:
            with self.engine.stack.budget.reading():
                self._lower()
        except TooLongError:
            self._give_up()
        return self.module

    def _give_up(self) -> None:
        """The text takes too long to be read: it counts as empty, until it is looked at again."""
        self._known, self.broken, self._outline = KnownCode(), [], None
        self._syntax = Syntax(self.source)
        self._stale, self._lowered = False, True
        self.is_unread = self.is_cut_short = True
        self.engine.edited()
        self.engine.revisions.changes += 1
        self._take([])

    def _lower(self) -> None:
        """Lower what edits have changed."""
        was_unread, self._stale, self.is_unread = self.is_unread, False, False
        old = self.module.statements
        if len(self._known.fresh) > 2 * len(old) + SPARE or len(self._broken_codes) > SPARE:
            self._forget_old_texts()
        was_broken = bool(self.broken)
        statements = self._lower_region(old) if self._lowered and not was_unread else self._lower_all()
        if was_broken or self.broken:
            self._broken_codes |= {statement for _, statement in old} - {
                statement for _, statement in statements
            }
        if self._lowered:
            self.engine.edited()
            if self.module.matters(old, statements) or (
                self.module.fills and self.engine.importers(self.module)
            ):
                self.engine.revisions.changes += 1
        self._take(statements)
        self._lowered = True

    def _take(self, statements: list[tuple[int, TopLevelStatement]]) -> None:
        """These are the statements of the text as it is now."""
        self.module.eager_models = self._runs_eagerly()
        self._read = self.source
        self._same_head = self._same_tail = len(self.source)
        self.module.statements = statements

    def _runs_eagerly(self) -> bool:
        """Whether the text says, a comment included, that models are not traced."""
        if not self._lowered or self.module.eager_models:
            return EAGERLY in self.source
        first, last = self._same_head - len(EAGERLY), len(self.source) - self._same_tail + len(EAGERLY)
        return EAGERLY in self.source[max(first, 0) : last]

    def _forget_old_texts(self) -> None:
        """Keep what the file is made of now: texts of statements as they once were would pile up."""
        living: set[Code] = set()
        stack: list[Code] = [statement for _, statement in self.module.statements]
        while stack:
            code = stack.pop()
            living.add(code)
            stack.extend(part for _, part in code.parts)
        known = {**self._known.old, **self._known.fresh}
        self._known = KnownCode({}, {key: code for key, code in known.items() if code in living})
        stack = [*known.values(), *self._broken_codes]
        while stack:
            code = stack.pop()
            if code not in living:
                stack.extend(part for _, part in code.parts)
                code.let_go()
        self._broken_codes.clear()

    def _lower_all(self) -> list[tuple[int, TopLevelStatement]]:
        """Lower a text that was never read."""
        self._syntax.source = self.source
        statements = self._lower_whole(self._syntax.tree())
        return statements if statements is not None else self._lower_all_pieces()

    def _lower_all_pieces(self) -> list[tuple[int, TopLevelStatement]]:
        """Lower a text with errors from its beginning to its end."""
        self.broken, self._are_pieces = [], True
        self._outline, pieces = Outline.of_text(self.source)
        self._syntax.source = repaired(self.source, self._outline.special)
        return self._lower_pieces(pieces, set())[0]

    def _lower_whole(self, tree: tree_sitter.Tree) -> list[tuple[int, TopLevelStatement]] | None:
        """The statements of a text in which the parser finds nothing wrong; None for another."""
        root = tree.root_node
        if root.has_error or not are_statements(root.children):
            return None
        statements = list(lower_module(self.source, root.children, self._known))
        self._are_pieces = are_pieces(
            self.source, [(start, start + statement.end) for start, statement in statements]
        )
        return statements

    def _lower_region(self, old: list[tuple[int, TopLevelStatement]]) -> list[tuple[int, TopLevelStatement]]:
        """Lower only the top-level statements around the edits."""
        starts = [start for start, _ in old]
        if self._outline is None:
            self._outline = Outline.of_whole(self._read, starts)
        old_end, by = len(self._read) - self._same_tail, len(self.source) - len(self._read)
        self._outline, region = self._outline.edited(self.source, min(self._same_head, old_end), old_end, by)
        self._syntax.source = repaired(self.source, self._outline.special)
        first, last = bisect_left(starts, region.start), bisect_left(starts, region.old_end)
        behind = [(place + by, statement) for place, statement in old[last:]]
        before_broken = [where for where in self.broken if where[0] < region.start]
        behind_broken = [(start + by, end + by) for start, end in self.broken if start >= region.old_end]
        self.broken = before_broken
        middle, are_sure = self._lower_pieces(
            region.pieces, {statement for _, statement in (*old[:first], *behind)}
        )
        if not are_sure and (whole := self._lower_whole(parse(self.source))) is not None:
            self._outline, self._syntax.source, self.broken = None, self.source, []
            return whole
        self.broken += behind_broken
        if self.broken and not self._are_pieces:
            return self._lower_all_pieces()
        return [*old[:first], *middle, *behind]

    def _lower_pieces(
        self, pieces: Sequence[Piece], used: set[TopLevelStatement]
    ) -> tuple[list[tuple[int, TopLevelStatement]], bool]:
        """Lower pieces of the text, each parsed by itself, or some together where nothing is wrong with them.

        Not sure, if the parser finds nothing wrong in some pieces but takes them for other statements: then it may find
        nothing wrong in the whole text, in which case that counts, as for a fresh reading. `def f(x)` with its colon on
        the next line is such a case, and a line that begins with a backslash.
        """
        are_sure = True
        statements: list[tuple[int, TopLevelStatement]] = []
        twins: dict[bytes, int] = {}

        def lower(nodes: Sequence[tree_sitter.Node], base: int, end: int) -> None:
            source = self._syntax.source
            text = source[base:end] if base else source
            found = lower_module(text, nodes, self._known, used, twins)
            statements.extend([(base + place, statement) for place, statement in found])

        for group in grouped(pieces):
            start, end = group[0].start, group[-1].end
            base, nodes = self._nodes_between(start, end)
            if nodes is not None and not group[0].repairs:
                if are_cut(nodes, base, group):
                    lower(nodes, base, end)
                    continue
                are_sure = False
            for piece in group:
                root = parse(self._syntax.source[piece.start : piece.end]).root_node
                if root.has_error or piece.repairs:
                    self.broken.append((piece.start, piece.end))
                lower([root] if root.kind_id == ERROR else root.children, piece.start, piece.end)
        return statements, are_sure

    def _nodes_between(self, start: int, end: int) -> tuple[int, list[tree_sitter.Node] | None]:
        """The nodes of a stretch of whole statements, and where their places count from; None in broken code."""
        if end - start > LARGE and (nodes := self._syntax.between(start, end)) is not None:
            return 0, nodes
        root = parse(self._syntax.source[start:end]).root_node
        return start, root.children if not root.has_error else None

    def analyse(self) -> Analysis:
        """What the file says: made again where the last edits can have changed it, and kept until the next."""
        with self.reading():
            return self._newest_analysis()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is done inside has one budget of time; what does not fit into it is left out."""
        with self.engine.stack.budget.reading() as budget:
            try:
                yield
            finally:
                self.is_cut_short = self.is_cut_short or budget.is_exceeded
                self.gave_way = self.gave_way or budget.gave_way

    def _newest_analysis(self) -> Analysis:
        if self.project is not None:
            self.project.refresh()
        revision = self.engine.revisions.revision
        if self._analysis is None or self._stale or self._revision != revision:
            with collector_paused():
                self._analysis = with_room(self._analyse)
                self._made = self._analysis.calls().made
                self._seen = self._analysis.seen()
            self._unchanged = len(self.source)
            self._revision = self.engine.revisions.revision
        return self._analysis

    def _analyse(self) -> Analysis:
        """Read what changed."""
        self._stale = self._stale or self.is_unread
        self.lower()
        return Analysis(self, self._made, self._unchanged, self._seen)

    def to_lsp(self, span: Span, encoding: Encoding) -> tuple[Position, Position]:
        """A span as LSP positions: (line, character) of its start and end."""
        return self.lines().position(span.start_byte, encoding), self.lines().position(
            span.end_byte, encoding
        )

    def byte_offset(self, line: int, character: int, encoding: Encoding) -> int:
        """The byte offset of an LSP position."""
        return self.lines().byte_offset(line, character, encoding)


def grouped(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Pieces that are parsed together: those with repairs, and large ones, are alone."""
    group: list[Piece] = []
    for piece in pieces:
        if group and (piece.repairs or group[-1].repairs or piece.end - group[0].start > TOGETHER):
            yield group
            group = []
        group.append(piece)
    if group:
        yield group


def are_statements(nodes: Sequence[tree_sitter.Node]) -> bool:
    """True when nodes of the top level stand at the margin, as Python wants it: the parser lets others pass, too."""
    row = -1
    for node in nodes:
        if node.kind_id not in IGNORED:
            start = node.start_point
            if start[1] and start[0] != row:
                return False
            row = node.end_point[0]
    return True


def are_cut(nodes: Sequence[tree_sitter.Node], base: int, pieces: Sequence[Piece]) -> bool:
    """True when nodes are such statements, and none goes over the end of a piece."""
    starts = [piece.start - base for piece in pieces[1:]]
    place = 0
    for node in nodes:
        while place < len(starts) and starts[place] <= node.start_byte:
            place += 1
        if place < len(starts) and starts[place] < node.end_byte:
            return False
    return are_statements(nodes)
