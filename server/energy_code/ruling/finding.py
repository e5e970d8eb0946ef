"""Running rules over a file: only the calls that some rule asks for are looked at."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from energy_code.calls import Call, Mode, Span
from energy_code.collector import collector_paused
from energy_code.ruling.keeping import (
    Memory,
    definition_at,
    memory_of,
    noted,
    recalled,
    remember,
    sound_places,
)
from energy_code.ruling.pattern import Pattern, canonical, compile_pattern, same_api
from energy_code.ruling.place import Match, Place, Shared, span_of
from energy_code.ruling.rule import Finding, Rule, Safety
from energy_code.ruling.tapes import under_tape
from energy_code.ruling.tracing import runs_once, traced_elsewhere

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis import Analysis, Stretch
    from energy_code.call_list import Found

log = logging.getLogger(__name__)
_MOST_INDICES = 64
_INDICES: dict[tuple[int, ...], _Index] = {}
_PER_CALL = ("memory", "arithmetic")
"""Categories of rules that save a little in every call."""


class _Watch(NamedTuple):
    """What one rule waits for at one API or token."""

    rule: Rule
    api: str
    pattern: Pattern | None
    template: str | None
    modes: frozenset[Mode]
    inside: frozenset[str] = frozenset()
    """APIs that the arguments must call."""
    near: frozenset[str] = frozenset()
    """APIs that the same statement must call."""


class _Waiting(dict[str, tuple[_Watch, ...]]):
    """API → who waits for its calls, or for those of the same method of a base class."""

    def __init__(self, by_name: Mapping[str, Sequence[_Watch]]) -> None:
        super().__init__()
        self._by_name = by_name

    def __missing__(self, api: str) -> tuple[_Watch, ...]:
        named = self._by_name.get(api.rpartition(".")[2], ())
        found = self[api] = tuple(watch for watch in named if same_api(api, watch.api))
        return found


class _Index:
    """Who waits for what, of some rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        """Held, so that no other rule gets the identity of one of these."""
        by_name: dict[str, list[_Watch]] = {}
        """Last part of the API's name → who waits for it."""
        self.waiting = _Waiting(by_name)
        self.by_token: dict[str, list[_Watch]] = {}
        for watch in (watch for rule in rules if rule.saves for watch in _watches(rule)):
            if watch.pattern is not None and watch.pattern.depth < 0:
                self.by_token.setdefault(watch.api, []).append(watch)
            else:
                by_name.setdefault(watch.api.rpartition(".")[2], []).append(watch)


def _index(rules: Sequence[Rule]) -> _Index:
    """The index of some rules, made once; found by their identities, to hash the rules would take longer."""
    key = tuple(map(id, rules))
    known = _INDICES.get(key)
    if known is None:
        if len(_INDICES) >= _MOST_INDICES:
            _INDICES.clear()
        known = _INDICES[key] = _Index(rules)
    return known


@functools.cache
def _watches(rule: Rule) -> tuple[_Watch, ...]:
    found = [
        _Watch(rule, pattern.anchor, pattern, change.after, rule.modes, pattern.inside, pattern.near)
        for change in rule.changes
        for pattern in compile_pattern(change.before, rule.signatures)
    ]
    found += [_Watch(rule, canonical(api), None, None, rule.modes) for api in rule.apis]
    return tuple(found)


def find(analysis: Analysis, rules: Iterable[Rule]) -> list[Finding]:
    """What the rules would write differently in a file, in the order of the text.

    A rule that fails is left out for this file, with one line in the log.
    """
    search = _Search(analysis, _index(rules if isinstance(rules, list | tuple) else tuple(rules)))
    with collector_paused():
        search.run()
    kept = (
        f for f in search.found.values() if f.rule.name not in search.failed and not _ignored(analysis, f)
    )
    return sorted(
        kept, key=lambda finding: (finding.span.start_byte, -finding.span.end_byte, finding.rule.name)
    )


def match_again(analysis: Analysis, kept: Finding) -> Match | None:
    """The match behind a finding that was kept over an edit, for its fix."""
    search = _Search(analysis, _index((kept.rule,)))
    for stretch in analysis.stretches():
        if stretch.start <= kept.span.start_byte < stretch.end:
            search.look(stretch)
    found = search.found.get(_key(kept))
    return found._match if found is not None else None


def _key(finding: Finding) -> tuple[str, int, int]:
    return finding.rule.name, finding.span.start_byte, finding.span.end_byte


class _Search:
    """One search through a file."""

    def __init__(self, analysis: Analysis, index: _Index) -> None:
        self.analysis = analysis
        self.index = index
        self.shared = Shared(analysis.source)
        self.found: dict[tuple[str, int, int], Finding] = {}
        self.failed: set[str] = set()
        self._tokens = [each for each in index.by_token.items() if self.shared.has(each[0].encode())]

    def run(self) -> None:
        """Look at every statement, but not again at definitions whose findings cannot have changed."""
        analysis = self.analysis
        uses_tensorflow = _uses_tensorflow(analysis)
        old, new = memory_of(analysis, self.index, uses_tensorflow), Memory(self.index)
        changed = analysis.knowledge.changed_since(old.knowledge) if old.knowledge is not None else set()
        sound = sound_places(analysis)
        end = 0
        for stretch in analysis.stretches():
            if not analysis.whole:
                self._look_at_tokens(end, stretch.start)
                end = stretch.end
            text = definition_at(analysis, stretch, sound)
            known = old.kept.get(stretch.codes[0]) if text is not None else None
            if known is not None and known[0] == text and changed.isdisjoint(stretch.codes):
                for finding in recalled(analysis, stretch, known[1]):
                    self.found.setdefault(_key(finding), finding)
                new.kept[stretch.codes[0]] = known
                continue
            self.shared.looked_outside = False
            added = self.look(stretch) if stretch.first < stretch.last or self._tokens else []
            if text is not None and not self.shared.looked_outside:
                notes = tuple([noted(finding, stretch, call) for finding, call in added])
                new.kept[stretch.codes[0]] = text, notes
        if not analysis.whole:
            self._look_at_tokens(end, len(analysis.source))
        if not self.failed:
            new.source, new.knowledge = analysis.source, analysis.knowledge
            new.words = {**old.words, **self.shared.words}
            new.aliases = {**old.aliases, **self.shared.aliases}
            new.uses_tensorflow = uses_tensorflow
            remember(analysis, new)

    def look(self, stretch: Stretch) -> list[tuple[Finding, int | None]]:
        """The findings of one statement, each with the number of the call that it hangs on."""
        calls, root = self.analysis.calls, self.analysis.tree.root_node
        reached = calls.reached[stretch.first : stretch.last]
        present = {site.api for _, _, _, site in reached}
        added: list[tuple[Finding, int | None]] = []
        waiting = self.index.waiting
        for number, (_, end, _, site) in enumerate(reached):
            watches = waiting[site.api]
            if not watches:
                continue
            place = stretch.first + number
            call, inside = calls[place], _apis_before(reached, number + 1, -end)
            asked = [
                watch
                for watch in watches
                if watch.inside <= inside and watch.near <= present and call.mode in watch.modes
            ]
            node = _node_of(root, call) if asked else None
            if node is not None:
                if not call.decorator:
                    self.shared.apis.setdefault(node.id, call.api)
                for watch in asked:
                    added += [(finding, place) for finding in self._ask(watch, node, call)]
        if self._tokens:
            added += [(finding, None) for finding in self._look_at_tokens(stretch.start, stretch.end)]
        return added

    def _look_at_tokens(self, start: int, end: int) -> list[Finding]:
        added: list[Finding] = []
        for token, watches in self._tokens:
            for node in _tokens(self.analysis, token, start, end):
                mode = self.analysis.mode_at(node)
                for watch in watches:
                    if mode in watch.modes:
                        added += self._ask(watch, node, None)
        return added

    def _ask(self, watch: _Watch, node: Node, call: Call | None) -> list[Finding]:
        rule, pattern = watch.rule, watch.pattern
        whole = pattern.whole(node) if pattern is not None else node
        if whole is None or rule.name in self.failed:
            return []
        try:
            place = Place(self.analysis, node, call, self.shared)
            if pattern is None:
                found = [_finding(rule, place, match) for match in rule.look(place)]
            else:
                match = _match(watch, pattern, place, whole)
                found = [_finding(rule, place, match)] if match is not None else []
        except Exception as problem:
            self.failed.add(rule.name)
            log.warning(
                "rule %s switched off for this file: %s: %s", rule.name, type(problem).__name__, problem
            )
            return []
        return [each for each in found if each and self.found.setdefault(_key(each), each) is each]


def _apis_before(reached: Sequence[Found], first: int, end: int) -> set[str]:
    """What the calls from one on reach, up to some byte of the text."""
    apis = set()
    while first < len(reached) and reached[first][0] < end:
        apis.add(reached[first][3].api)
        first += 1
    return apis


def _node_of(root: Node, call: Call) -> Node | None:
    node = root.descendant_for_byte_range(call.span.start_byte, call.span.end_byte)
    while node is not None and not call.decorator and node.type != "call":
        node = node.parent
    return node


def _tokens(analysis: Analysis, token: str, start: int, end: int) -> Iterator[Node]:
    needle = token.encode()
    source = analysis.source
    place = source.find(needle, start, end)
    while place >= 0:
        node = analysis.tree.root_node.descendant_for_byte_range(place, place + 1)
        if node is not None and node.parent is not None and node.type in (token, "identifier"):
            yield node.parent
        place = source.find(needle, place + len(needle), end)


def _finding(rule: Rule, place: Place, match: Match) -> Finding | None:
    """What to report of a match; None where nothing would be saved."""
    if not rule.under_tape and under_tape(place, match.node):
        return None
    if "graph" not in rule.modes and traced_elsewhere(place):
        return None
    if rule.category in _PER_CALL and runs_once(place):
        return None
    place.captures = match.captures
    return Finding(
        rule=rule,
        span=_span(place, match.node),
        message=match.message or rule.message,
        safety=_safety(rule, place, match),
        call=place.call,
        mode=place.mode,
        related=tuple([span_of(node) for node in match.related]),
        _analysis=place.analysis,
        _match=match,
    )


def _span(place: Place, node: Node) -> Span:
    span = place.call.span if place.call is not None else None
    if span is not None and span.start_byte == node.start_byte and span.end_byte == node.end_byte:
        return span
    return span_of(node)


def _match(watch: _Watch, pattern: Pattern, place: Place, node: Node) -> Match | None:
    """The match of a rule's pattern with an expression."""
    state = pattern.match(place, node)
    if state is None or node.has_error:
        return None
    if pattern.depth < 0 and (state.weak or not _uses_tensorflow(place.analysis)):
        return None
    place.captures = state.captures
    function = node.child_by_field_name("function")
    if function is not None:
        state.captures["callee"] = function
    return Match(node, state.captures, watch.template, weak=state.weak) if watch.rule.where(place) else None


def _uses_tensorflow(analysis: Analysis) -> bool:
    """Code that only imports Keras may run on another backend, where TensorFlow's functions do not belong."""
    return b"tensorflow" in analysis.source or analysis.spelling("tensorflow") is not None


def _safety(rule: Rule, place: Place, match: Match) -> Safety:
    if rule.safety == "none" or (match.template is None and match.edits is None):
        return "none"
    if match.edits is None and _loses_comment(place, match):
        return "none"
    if rule.safety == "safe":
        return "review" if match.weak else "safe"
    return "safe" if rule.proven(place) and not match.weak else "review"


def _loses_comment(place: Place, match: Match) -> bool:
    source = place.analysis.source[match.node.start_byte : match.node.end_byte]
    return b"#" in source and b"\n" in source


def _ignored(analysis: Analysis, finding: Finding) -> bool:
    if not analysis.ignores:
        return False
    rows = range(finding.span.start.row, finding.span.end.row + 1)
    return any(
        name in ("*", finding.rule.name) for row in rows for name in analysis.ignores.get(row, frozenset())
    )
