"""Findings of definitions that an edit left alone: only what changed is looked at again.

A definition's findings hold as long as its text, what its calls reach and what the reader knows of its
expressions stay the same. Rules that look beyond it say so (`Shared.looked_outside`): theirs are not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from energy_code.ruling.place import alias_in
from energy_code.ruling.rule import Finding
from energy_code.sources import same_ends

if TYPE_CHECKING:
    from energy_code.analysis import Analysis, Knowledge, Stretch
    from energy_code.calls import Mode
    from energy_code.codes import Code
    from energy_code.document import Document
    from energy_code.ruling.rule import Rule, Safety

_DEFINITIONS = (b"def ", b"class ", b"async def ", b"@")


class Note(NamedTuple):
    """A finding with places counted from the start of its definition."""

    rule: Rule
    start: int
    end: int
    message: str
    safety: Safety
    mode: Mode
    related: tuple[tuple[int, int], ...]
    call: int | None
    """Which call of the definition it hangs on."""


class Memory:
    """What is kept of a document between two searches with the same rules."""

    def __init__(self, index: object) -> None:
        self.index = index
        self.source = b""
        self.words: Mapping[bytes, bool] = {}
        """Words of the file that were asked for, and whether they were there."""
        self.aliases: Mapping[str, str | None] = {}
        """Modules that were asked for, and how the file called them."""
        self.uses_tensorflow = False
        self.knowledge: Knowledge | None = None
        self.kept: dict[Code, tuple[bytes, tuple[Note, ...]]] = {}
        """The text of each definition, and what was found in it."""

    def holds(self, source: bytes, index: object, uses_tensorflow: bool) -> bool:
        """Whether what is kept was found by the same rules in a file that is alike as a whole."""
        return (
            self.index is index
            and self.uses_tensorflow == uses_tensorflow
            and self._same_words(source)
            and all(alias_in(source, module) == alias for module, alias in self.aliases.items())
        )

    def _same_words(self, source: bytes) -> bool:
        """A word can have gone, or come, only where the text changed."""
        old = self.source
        head, tail = same_ends(old, source)
        for word, there in self.words.items():
            start = max(0, head - len(word))
            if there:
                if word in old[start : len(old) - tail + len(word)] and word not in source:
                    return False
            elif word in source[start : len(source) - tail + len(word)]:
                return False
        return True


_MEMORIES: WeakKeyDictionary[Document, Memory] = WeakKeyDictionary()


def memory_of(analysis: Analysis, index: object, uses_tensorflow: bool) -> Memory:
    """What earlier searches in the same document left; empty when nothing of it counts."""
    memory = _MEMORIES.get(analysis.document)
    if memory is None or not memory.holds(analysis.source, index, uses_tensorflow):
        return Memory(index)
    return memory


def remember(analysis: Analysis, memory: Memory) -> None:
    """Keep this for the next search."""
    _MEMORIES[analysis.document] = memory


def forget(document: Document) -> None:
    """Let the next search in a document begin afresh."""
    _MEMORIES.pop(document, None)


def sound_places(analysis: Analysis) -> frozenset[tuple[int, int]] | None:
    """In broken code the places of definitions that are whole; None when all are."""
    if analysis.whole:
        return None
    root = analysis.tree.root_node
    return frozenset((node.start_byte, node.end_byte) for node in root.children if not node.has_error)


def definition_at(
    analysis: Analysis, stretch: Stretch, sound: frozenset[tuple[int, int]] | None
) -> bytes | None:
    """The text of a statement whose findings can be kept; None for others."""
    if not analysis.source.startswith(_DEFINITIONS, stretch.start):
        return None
    if sound is not None and (stretch.start, stretch.end) not in sound:
        return None
    return analysis.source[stretch.start : stretch.end]


def noted(finding: Finding, stretch: Stretch, call: int | None) -> Note:
    """A finding as it is kept."""
    base, span = stretch.start, finding.span
    return Note(
        finding.rule,
        span.start_byte - base,
        span.end_byte - base,
        finding.message,
        finding.safety,
        finding.mode,
        tuple((one.start_byte - base, one.end_byte - base) for one in finding.related),
        call - stretch.first if call is not None else None,
    )


def recalled(analysis: Analysis, stretch: Stretch, notes: tuple[Note, ...]) -> Iterator[Finding]:
    """Kept findings where the definition stands now."""
    base, lines = stretch.start, analysis.lines
    for note in notes:
        yield Finding(
            rule=note.rule,
            span=lines.span(base + note.start, base + note.end),
            message=note.message,
            safety=note.safety,
            call=analysis.calls[stretch.first + note.call] if note.call is not None else None,
            mode=note.mode,
            related=tuple(lines.span(base + start, base + end) for start, end in note.related),
            _analysis=analysis,
            _match=None,
        )
