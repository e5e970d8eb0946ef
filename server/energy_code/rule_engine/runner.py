"""Running rules over a file: only the calls that some rule asks for are looked at."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING

from energy_code.analysis.ignore_comments import ignored
from energy_code.model import Call, Span
from energy_code.process import budget
from energy_code.process.budget import TooLongError
from energy_code.process.garbage_collection import collector_paused
from energy_code.rule_engine.cache import FindingCache, cached_findings, forget
from energy_code.rule_engine.context import Match, RuleContext
from energy_code.rule_engine.dispatch import RuleIndex, Subscription, index_of
from energy_code.rule_engine.file_context import FileContext
from energy_code.rule_engine.finding import Finding, Sight
from energy_code.rule_engine.queries.tapes import under_tape
from energy_code.rule_engine.queries.tracing import runs_once, traced_elsewhere
from energy_code.rule_engine.rule import Rule

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis.analysis import Analysis, StatementRange
    from energy_code.analysis.calls import Found
    from energy_code.rule_engine.patterns.pattern import Pattern

log = logging.getLogger(__name__)
_PER_CALL = ("memory", "arithmetic")
"""Categories of rules that save a little in every call."""
_LIKELY = 0.5
"""Below this a call rather reaches something else: one of many branches, or a guess."""


def find(analysis: Analysis, index: RuleIndex) -> list[Finding]:
    """What the rules of an index would write differently in a file, in the order of the text.

    A rule that fails is left out for this file, with one line in the log.
    """
    search = _Search(analysis, index)
    with collector_paused(), analysis.document.reading(), suppress(TooLongError):
        search.run()
    found = [one for one in search.found.values() if one.rule.name not in search.failed]
    if analysis.repairs:  # what they would rewrite is not what is written
        found = [one for one in found if not _is_repaired(analysis, one)]
    if ignores := analysis.ignores():
        found = [
            one for one in found if not ignored(ignores, one.span.start.row, one.span.end.row, one.rule.name)
        ]
    return sorted(found, key=_order)


def _order(finding: Finding) -> tuple[int, int, str]:
    span = finding.span
    return span.start_byte, -span.end_byte, finding.rule.name


def see_again(analysis: Analysis, kept: Finding) -> Sight:
    """What is behind a finding that was kept over an edit, for its fix."""
    search = _Search(analysis, index_of((kept.rule,)))
    block = analysis.statements_at(kept.span.start_byte)
    if block is not None:
        search.look(block)
    found = search.found.get(_key(kept))
    return found.sight if found is not None else None


def _key(finding: Finding) -> tuple[str, int, int]:
    return finding.rule.name, finding.span.start_byte, finding.span.end_byte


class _Search:
    """One search through a file."""

    def __init__(self, analysis: Analysis, index: RuleIndex) -> None:
        self.analysis = analysis
        self.shared = FileContext(analysis.source)
        self.found: dict[tuple[str, int, int], Finding] = {}
        self.failed: set[str] = set()
        self._index = index
        self._reached = analysis.calls().reached

    def run(self) -> None:
        """Look at every statement that some rule asks for, but not again where nothing can have changed."""
        analysis = self.analysis
        new = FindingCache(analysis, self._index, _uses_tensorflow(analysis))
        old = cached_findings(analysis, new, see_again)
        elsewhere = old.elsewhere() if old is not None else None
        if elsewhere is not None:
            findings, waited_for = elsewhere
            self._add(findings)
        else:
            waited_for = self._waited_for()
            if not waited_for:
                forget(analysis.document)
                return
        end = 0
        for start in waited_for:
            if start < end:
                continue
            block = analysis.statements_at(start)
            if block is None:  # between the statements that could be read
                end = start + 1
                self._look_at_tokens(start, end)
                continue
            end = block.end
            budget.check()
            known = old.of(block) if old is not None else None
            if known is not None:
                self._add(known)
                continue
            self.shared.look_afresh()
            added = self.look(block)
            if self.shared.asked:
                new.keep(block, self.shared, added)
        if not self.failed:
            new.remember(self.shared)

    def _add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.found.setdefault(_key(finding), finding)

    def _waited_for(self) -> list[int]:
        """Where the calls and tokens stand that some rule waits for."""
        waiting = self._index.waiting
        starts = [found[0] for found in self._reached if waiting[found[3].api]]
        source = self.analysis.source
        tokens = [place for place, _, _ in _tokens(source, self._index, 0, len(source))]
        return sorted([*starts, *tokens]) if tokens else starts

    def look(self, block: StatementRange) -> list[tuple[Finding, int | None]]:
        """The findings of one statement, each with the number of the call that it hangs on."""
        waiting, number = self._index.waiting, block.first
        added: list[tuple[Finding, int | None]] = []
        for _, _, _, site in self._reached[number : block.last]:
            subscriptions = waiting[site.api]
            if subscriptions and site.confidence >= _LIKELY:
                budget.check()
                asked = self._asked(subscriptions, block, number)
                if asked:
                    added += [(finding, number) for finding in self._look_at_call(number, asked)]
            number += 1
        added += [(finding, None) for finding in self._look_at_tokens(block.start, block.end)]
        return added

    def _asked(
        self, subscriptions: Sequence[Subscription], block: StatementRange, number: int
    ) -> list[Subscription]:
        """Of those that wait for a call the ones that it may be something for, by all that needs no syntax."""
        reached = self._reached
        inside: set[str] | None = None
        asked = []
        for subscription in subscriptions:
            for gate in subscription.gates:
                if not gate(reached, number):
                    break
            else:
                if subscription.inside:
                    if inside is None:
                        inside = _apis_inside(reached, number)
                    if not subscription.inside <= inside:
                        continue
                if subscription.near and not subscription.near <= {
                    found[3].api for found in reached[block.first : block.last]
                }:
                    continue
                asked.append(subscription)
        return asked

    def _look_at_tokens(self, start: int, end: int) -> list[Finding]:
        tokens = sorted(_tokens(self.analysis.source, self._index, start, end), key=itemgetter(0))
        return [one for token in tokens for one in self._look_at_token(*token)]

    def _look_at_call(self, number: int, asked: Sequence[Subscription]) -> list[Finding]:
        call = self.analysis.calls()[number]
        mode = call.mode
        asked = [subscription for subscription in asked if mode in subscription.modes]
        node = _node_of(self.analysis.root_at(call.span.start_byte), call) if asked else None
        if node is None:
            return []
        if not call.decorator:
            self.shared.apis[node.id] = call.api
        return self._ask(asked, node, call)

    def _look_at_token(self, at: int, token: str, subscriptions: Sequence[Subscription]) -> list[Finding]:
        budget.check()
        node = self.analysis.root_at(at).descendant_for_byte_range(at, at + 1)
        if node is None or node.parent is None or node.type not in (token, "identifier"):
            return []
        node = node.parent
        asked = [
            subscription
            for subscription in subscriptions
            if subscription.pattern is not None and subscription.pattern.whole(node) is not None
        ]
        mode = self.analysis.mode_at(node) if asked else None
        return self._ask([subscription for subscription in asked if mode in subscription.modes], node, None)

    def _ask(self, subscriptions: Sequence[Subscription], node: Node, call: Call | None) -> list[Finding]:
        """What some rules find at a place; the ways to write a rule's pattern are tried until one fits."""
        added: list[Finding] = []
        self.shared.asked = True
        place = RuleContext(self.analysis, node, call, self.shared)
        matched: tuple[Rule, int] | None = None
        for subscription in subscriptions:
            rule, pattern = subscription.rule, subscription.pattern
            if rule.name in self.failed or (pattern is not None and matched == (rule, pattern.depth)):
                continue
            try:
                matches = rule.look(place) if pattern is None else _match(subscription, pattern, place)
                found = [one for match in matches if (one := _finding(rule, place, match)) is not None]
            except TooLongError:
                raise
            except Exception as problem:
                self.failed.add(rule.name)
                log.warning(
                    "rule %s switched off for this file: %s: %s", rule.name, type(problem).__name__, problem
                )
                continue
            if found and pattern is not None:
                matched = rule, pattern.depth
            added += [each for each in found if self.found.setdefault(_key(each), each) is each]
        return added


def _tokens(
    source: bytes, index: RuleIndex, start: int, end: int
) -> Iterator[tuple[int, str, Sequence[Subscription]]]:
    """Where in a stretch of the text a token begins that some rule waits for."""
    for needle, subscriptions in index.by_token:
        limit = end + len(needle) - 1
        place = source.find(needle, start, limit)
        while place >= 0:
            yield place, needle.decode(), subscriptions
            place = source.find(needle, place + len(needle), limit)


def _apis_inside(reached: Sequence[Found], number: int) -> set[str]:
    """What the calls within one call reach."""
    end = -reached[number][1]
    apis = set()
    number += 1
    while number < len(reached) and reached[number][0] < end:
        apis.add(reached[number][3].api)
        number += 1
    return apis


def _node_of(root: Node, call: Call) -> Node | None:
    node = root.descendant_for_byte_range(call.span.start_byte, call.span.end_byte)
    while node is not None and not call.decorator and node.type != "call":
        node = node.parent
    return node


def _finding(rule: Rule, place: RuleContext, match: Match) -> Finding | None:
    """What to report of a match; None where nothing would be saved."""
    if not rule.under_tape and under_tape(place, match.node):
        return None
    if "graph" not in rule.modes and traced_elsewhere(place):
        return None
    if rule.category in _PER_CALL and runs_once(place):
        return None
    return Finding(
        rule=rule,
        span=_span(place, match.node),
        message=match.message or rule.message,
        call=place.call,
        mode=place.mode,
        related=tuple([_where(place, node) for node in match.related]) if match.related else (),
        _analysis=place.analysis,
        _seen=(place, match),
    )


def _span(place: RuleContext, node: Node) -> Span:
    span = place.call.span if place.call is not None else None
    if span is not None and span.start_byte == node.start_byte and span.end_byte == node.end_byte:
        return span
    return _where(place, node)


def _where(place: RuleContext, node: Node) -> Span:
    """By bytes: the rows of a tree that was parsed in pieces are those of an earlier text."""
    return place.analysis.lines.span(node.start_byte, node.end_byte)


def _match(subscription: Subscription, pattern: Pattern, place: RuleContext) -> tuple[Match, ...]:
    """The match of a rule's pattern with the expression at a place, if there is one."""
    node = pattern.whole(place.node)
    state = pattern.match(place, node) if node is not None else None
    if node is None or state is None or node.has_error:
        return ()
    if pattern.depth < 0 and not (state.is_proven() and _uses_tensorflow(place.analysis)):
        return ()
    place.captures = state.captures
    if not subscription.rule.where(place):
        return ()
    return (Match(node, state.captures, subscription.template, is_proven=state.is_proven),)


def _uses_tensorflow(analysis: Analysis) -> bool:
    """Code that only imports Keras may run on another backend, where TensorFlow's functions do not belong."""
    return b"tensorflow" in analysis.source or analysis.spelling("tensorflow") is not None


def _is_repaired(analysis: Analysis, finding: Finding) -> bool:
    span = finding.span
    return any(span.start_byte <= place < span.end_byte for place, _ in analysis.repairs)
