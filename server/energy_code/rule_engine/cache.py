"""Findings of statements that an edit left alone: only what can have changed is looked at again.

The findings of a statement of the module (a function, a class, a loop) hold as long as its text (but for comments
and blank lines), what its calls reach and what the reader knows of its expressions stay the same. Rules that look for
a word beyond it say so (`FileContext.looked_for`): theirs hold as long as no statement that has the word changes. What rests
on more than that (`FileContext.looked_anywhere`) is not kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from energy_code.analysis.layout import same_statements
from energy_code.rule_engine.file_context import alias_in, occurrences
from energy_code.rule_engine.finding import Finding, SeeAgain
from energy_code.text.change import EditedText
from energy_code.text.decoding import same_ends

if TYPE_CHECKING:
    from energy_code.analysis.analysis import Analysis, ReadText, StatementRange
    from energy_code.incremental.module_summary import Knowledge
    from energy_code.ir.code import Code
    from energy_code.model import Mode
    from energy_code.rule_engine.file_context import FileContext
    from energy_code.rule_engine.rule import Rule


class Note(NamedTuple):
    """A finding with places counted from the start of its statement."""

    rule: Rule
    start: int
    end: int
    message: str
    mode: Mode
    related: tuple[tuple[int, int], ...]
    call: int | None
    """Which call of the statement it hangs on."""


class Kept(NamedTuple):
    """What was found in one statement."""

    text: bytes
    notes: tuple[Note, ...]
    words: frozenset[bytes]
    """Words that were looked for in other statements."""


class FindingCache:
    """What is kept of a document between two searches with the same rules."""

    def __init__(self, analysis: Analysis, index: object, uses_tensorflow: bool) -> None:
        self.index = index
        self.uses_tensorflow = uses_tensorflow
        self.source = analysis.source
        self._broken = analysis.broken
        self.whole = analysis.whole
        self.words: Mapping[bytes, bool] = {}
        """Words of the file that were asked for, and whether they were there."""
        self.aliases: Mapping[str, str | None] = {}
        """Modules that were asked for, and how the file called them."""
        self.kept: dict[Code, Kept] = {}
        self.unkept: set[Code] = set()
        """Statements that were looked at, and whose findings may change though they stay as they are."""
        self.layout = analysis.layout
        """Where the statements stood."""
        self._knowledge: Knowledge | None = None
        self._analysis: Analysis | None = analysis
        self._found: list[tuple[StatementRange, Sequence[tuple[Finding, int | None]], frozenset[bytes]]] = []
        """What is still to be noted: no edit may ever come."""

    def keep(
        self, block: StatementRange, shared: FileContext, added: Sequence[tuple[Finding, int | None]]
    ) -> None:
        """Keep what was found in a statement, unless it rests on what this cannot follow."""
        if not shared.looked_anywhere and self.is_sound(block):
            self._found.append((block, added, frozenset(shared.looked_for)))
        else:
            self.unkept.add(block.code)

    def is_sound(self, block: StatementRange) -> bool:
        """Whether a statement is read as Python would; in broken code some are not."""
        place = bisect_right(self._broken, block.start, key=itemgetter(0)) - 1
        return place < 0 or block.start >= self._broken[place][1]

    def remember(self, shared: FileContext) -> None:
        """Keep all of this for the next search in the same document."""
        assert self._analysis is not None
        self.words = {**self.words, **shared.words}
        self.aliases = {**self.aliases, **shared.aliases}
        self._analysis.document.remembered = self

    def knowledge(self) -> Knowledge:
        """What was known of each code."""
        if self._knowledge is None:
            assert self._analysis is not None
            self._knowledge = self._analysis.knowledge()
        return self._knowledge

    def note_findings(self) -> None:
        """Another search begins: note what was found, and let go of the analysis, which holds far more."""
        if self._analysis is not None:
            for block, added, words in self._found:
                self._note(block, added, words)
            self._found = []
            self._knowledge = self._analysis.knowledge()
            self._analysis = None

    def _note(
        self, block: StatementRange, added: Sequence[tuple[Finding, int | None]], words: frozenset[bytes]
    ) -> None:
        for finding, _ in added:
            for place in (finding.span, *finding.related):
                if place.start_byte < block.start or place.end_byte > block.end:
                    self.unkept.add(block.code)
                    return
        notes = tuple([noted(finding, block, call) for finding, call in added])
        self.kept[block.code] = Kept(self.source[block.start : block.end], notes, words)


def forget(document: ReadText) -> None:
    """Let the next search in a document begin afresh."""
    document.remembered = None


class EditedStatements(NamedTuple):
    """The statements that an edit touched."""

    before: tuple[int, int]
    after: tuple[int, int]
    """Their numbers, before and after: the first, and the one behind the last."""
    texts: tuple[bytes, bytes]

    def has(self, words: frozenset[bytes]) -> bool:
        """Whether one of some words stands in them, or stood."""
        return any(_has(text, word) for text in self.texts for word in words)


class CachedFindings:
    """What an earlier search left that still holds."""

    def __init__(
        self,
        old: FindingCache,
        new: FindingCache,
        analysis: Analysis,
        change: EditedText,
        see_again: SeeAgain,
    ) -> None:
        self._old = old
        self._new = new
        self._analysis = analysis
        self._change = change
        self._see_again = see_again
        self._changed = analysis.changed_since(old.knowledge())
        self._region = self._touched()
        new.words, new.aliases = old.words, old.aliases

    def of(self, block: StatementRange) -> list[Finding] | None:
        """The findings of a statement; None when it has to be looked at again."""
        known = self._old.kept.get(block.code)
        if known is None or not self._new.is_sound(block):
            return None
        if self._changed and not self._changed.isdisjoint(self._new.layout.codes[slice(*block.codes)]):
            return None
        if self._new.source[block.start : block.end] != known.text:
            return None
        if known.words and (self._region is None or self._region.has(known.words)):
            return None
        self._new.kept[block.code] = known
        return list(recalled(self._analysis, block, known.notes, self._see_again))

    def elsewhere(self) -> tuple[list[Finding], list[int]] | None:
        """What still holds of the statements that an edit left alone, and where those begin that are to be looked at.

        None when that cannot be known without looking at each.
        """
        region, old, new = self._region, self._old, self._new
        if region is None:
            return None
        touched = {statement for _, statement in old.layout.statements[slice(*region.before)]}
        new.unkept |= old.unkept - touched
        notes: dict[Code, tuple[Note, ...]] = {}
        unsure = set(new.unkept)
        for code, known in old.kept.items():
            if code in touched:
                continue
            if known.words and region.has(known.words):
                unsure.add(code)
                continue
            new.kept[code] = known
            if known.notes:
                notes[code] = known.notes
        statements, (first, last) = new.layout.statements, region.after
        again = [start for start, _ in statements[first:last]]
        findings: list[Finding] = []
        for start, statement in (*statements[:first], *statements[last:]) if notes or unsure else ():
            if statement in unsure:
                again.append(start)
            elif statement in notes and (block := self._analysis.statements_at(start)) is not None:
                findings += recalled(self._analysis, block, notes[statement], self._see_again)
        return findings, sorted(again)

    def _touched(self) -> EditedStatements | None:
        """The statements that an edit touched; None when more than they may be read otherwise."""
        old, new = self._old, self._new
        change = self._change
        if change.head == len(old.source) == len(new.source):
            return EditedStatements((0, 0), (0, 0), (b"", b"")) if not self._changed else None
        same = same_statements(old.layout.statements, new.layout.statements)
        start, rest = len(new.source), len(new.source)
        for one, end in ((old, change.old_end), (new, change.end)):
            layout = one.layout
            start = min(
                start, _start_before(layout.statement_starts, change.head), layout.start_of(same.front)
            )
            behind = layout.start_of(len(layout.statements) - same.back) if same.back else len(one.source)
            rest = min(rest, len(one.source) - max(_start_after(one, end), behind))
        old_end, end = len(old.source) - rest, len(new.source) - rest
        before, after = _between(old, start, old_end), _between(new, start, end)
        if self._changed and not new.layout.has_only_between(self._changed, *after):
            return None
        return EditedStatements(before, after, (old.source[start:old_end], new.source[start:end]))


def _between(cache: FindingCache, start: int, end: int) -> tuple[int, int]:
    """The numbers of the statements that begin in a stretch."""
    starts = cache.layout.statement_starts
    return bisect_left(starts, start), bisect_left(starts, end)


def _has(text: bytes, word: bytes) -> bool:
    return next(occurrences(text, word, b"", 0, len(text)), None) is not None


def _start_before(starts: Sequence[int], place: int) -> int:
    """Where the statement begins that ends before a place, or goes on there."""
    number = bisect_left(starts, place) - 1
    return starts[number] if number >= 0 else 0


def _start_after(cache: FindingCache, place: int) -> int:
    """Where the first statement behind a place begins."""
    starts = cache.layout.statement_starts
    number = bisect_right(starts, place)
    return starts[number] if number < len(starts) else len(cache.source)


def cached_findings(analysis: Analysis, new: FindingCache, see_again: SeeAgain) -> CachedFindings | None:
    """What earlier searches in the same document left; None when nothing of it counts.

    `see_again` finds what is behind a finding that is taken over, for its fix.
    """
    old = analysis.document.remembered
    if not isinstance(old, FindingCache):
        return None
    old.note_findings()
    if old.index is not new.index or old.uses_tensorflow != new.uses_tensorflow:
        return None
    change = EditedText(old.source, new.source, *same_ends(old.source, new.source))
    if not (_same_words(old, change) and _same_aliases(old, change)):
        return None
    return CachedFindings(old, new, analysis, change, see_again)


def _same_words(old: FindingCache, change: EditedText) -> bool:
    """A word can have gone, or come, only where the text changed."""
    before, after = change.before, change.after
    for word, there in old.words.items():
        start = max(0, change.head - len(word))
        if there:
            if word in before[start : change.old_end + len(word)] and word not in after:
                return False
        elif word in after[start : change.end + len(word)]:
            return False
    return True


def _same_aliases(old: FindingCache, change: EditedText) -> bool:
    """A module can have got another name only where a line that imports changed."""
    if not any(b"import" in lines for lines in change.lines()):
        return True
    return all(alias_in(change.after, module) == alias for module, alias in old.aliases.items())


def noted(finding: Finding, block: StatementRange, call: int | None) -> Note:
    """A finding as it is kept."""
    base, span = block.start, finding.span
    return Note(
        finding.rule,
        span.start_byte - base,
        span.end_byte - base,
        finding.message,
        finding.mode,
        tuple([(one.start_byte - base, one.end_byte - base) for one in finding.related]),
        call - block.first if call is not None else None,
    )


def recalled(
    analysis: Analysis, block: StatementRange, notes: tuple[Note, ...], see_again: SeeAgain
) -> Iterator[Finding]:
    """Kept findings where the statement stands now."""
    base, lines = block.start, analysis.lines
    for note in notes:
        yield Finding(
            rule=note.rule,
            span=lines.span(base + note.start, base + note.end),
            message=note.message,
            call=analysis.calls()[block.first + note.call] if note.call is not None else None,
            mode=note.mode,
            related=tuple(lines.span(base + start, base + end) for start, end in note.related),
            _analysis=analysis,
            _seen=see_again,
        )
