"""Running rules over a file: only the calls that some rule asks for are looked at."""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from energy_code.calls import Call
from energy_code.ruling.pattern import Pattern, canonical, compile_pattern, same_api
from energy_code.ruling.place import Match, Place, Shared, span_of
from energy_code.ruling.rule import Finding, Rule, Safety
from energy_code.ruling.tapes import under_tape
from energy_code.ruling.tracing import traced_elsewhere

if TYPE_CHECKING:
    from tree_sitter import Node

    from energy_code.analysis import Analysis

log = logging.getLogger(__name__)


class _Watch(NamedTuple):
    """What one rule waits for at one API or token."""

    rule: Rule
    api: str
    pattern: Pattern | None
    template: str | None


class _Index(NamedTuple):
    by_name: Mapping[str, Sequence[_Watch]]
    """Last part of the API's name → who waits for it."""
    by_token: Mapping[str, Sequence[_Watch]]


@functools.lru_cache(maxsize=64)
def _index(rules: tuple[Rule, ...]) -> _Index:
    by_name: dict[str, list[_Watch]] = {}
    by_token: dict[str, list[_Watch]] = {}
    for watch in (watch for rule in rules for watch in _watches(rule)):
        if watch.pattern is not None and watch.pattern.depth < 0:
            by_token.setdefault(watch.api, []).append(watch)
        else:
            by_name.setdefault(watch.api.rpartition(".")[2], []).append(watch)
    return _Index(by_name, by_token)


@functools.cache
def _watches(rule: Rule) -> tuple[_Watch, ...]:
    found = [
        _Watch(rule, pattern.anchor, pattern, change.after)
        for change in rule.changes
        for pattern in compile_pattern(change.before, rule.signatures)
    ]
    found += [_Watch(rule, canonical(api), None, None) for api in rule.apis]
    return tuple(found)


def find(analysis: Analysis, rules: Iterable[Rule]) -> list[Finding]:
    """What the rules would write differently in a file, in the order of the text.

    A rule that fails is left out for this file, with one line in the log.
    """
    index = _index(tuple(rule for rule in rules if rule.saves))
    failed: set[str] = set()
    found: dict[tuple[str, int, int], Finding] = {}
    for watch, place in _candidates(analysis, index):
        rule = watch.rule
        if rule.name in failed:
            continue
        try:
            for finding in _findings(watch, place):
                found.setdefault((rule.name, finding.span.start_byte, finding.span.end_byte), finding)
        except Exception as problem:
            failed.add(rule.name)
            log.warning(
                "rule %s switched off for this file: %s: %s", rule.name, type(problem).__name__, problem
            )
    kept = (f for f in found.values() if f.rule.name not in failed and not _ignored(analysis, f))
    return sorted(
        kept, key=lambda finding: (finding.span.start_byte, -finding.span.end_byte, finding.rule.name)
    )


def _candidates(analysis: Analysis, index: _Index) -> Iterator[tuple[_Watch, Place]]:
    root = analysis.tree.root_node
    shared = Shared(analysis.source)
    for call in analysis.calls:
        watches = index.by_name.get(call.api.rpartition(".")[2])
        if watches is None:
            continue
        node: Node | None = None
        for watch in watches:
            if watch.api != call.api and not same_api(call.api, watch.api):
                continue
            if watch.pattern is not None and not all(map(shared.has, watch.pattern.words)):
                continue
            node = node or _node_of(root, call)
            if node is not None:
                yield watch, Place(analysis, node, call, shared)
    for token, watches in index.by_token.items():
        for node in _tokens(analysis, token):
            for watch in watches:
                yield watch, Place(analysis, node, None, shared)


def _node_of(root: Node, call: Call) -> Node | None:
    node = root.descendant_for_byte_range(call.span.start_byte, call.span.end_byte)
    while node is not None and not call.decorator and node.type != "call":
        node = node.parent
    return node


def _tokens(analysis: Analysis, token: str) -> Iterator[Node]:
    needle = token.encode()
    if needle not in analysis.source:
        return
    for found in re.finditer(re.escape(needle), analysis.source):
        node = analysis.tree.root_node.descendant_for_byte_range(found.start(), found.start() + 1)
        if node is not None and node.parent is not None and node.type in (token, "identifier"):
            yield node.parent


def _findings(watch: _Watch, place: Place) -> Iterator[Finding]:
    rule = watch.rule
    if place.mode not in rule.modes:
        return
    for match in _matches(watch, place):
        if "graph" not in rule.modes and traced_elsewhere(place):
            return
        place.captures = match.captures
        if not rule.under_tape and under_tape(place, match.node):
            continue
        yield Finding(
            rule=rule,
            span=span_of(match.node),
            message=match.message or rule.message,
            safety=_safety(rule, place, match),
            call=place.call,
            mode=place.mode,
            related=tuple(span_of(node) for node in match.related),
            _analysis=place.analysis,
            _match=match,
        )


def _matches(watch: _Watch, place: Place) -> Iterator[Match]:
    if watch.pattern is None:
        yield from watch.rule.look(place)
        return
    bound = watch.pattern.match(place, place.node)
    if bound is None:
        return
    node, state = bound
    if watch.pattern.depth < 0 and (state.weak or not _uses_tensorflow(place)):
        return
    place.captures = state.captures
    function = node.child_by_field_name("function")
    if function is not None:
        state.captures["callee"] = function
    if not node.has_error and watch.rule.where(place):
        yield Match(node, state.captures, watch.template, weak=state.weak)


def _uses_tensorflow(place: Place) -> bool:
    """Code that only imports Keras may run on another backend, where TensorFlow's functions do not belong."""
    return place.analysis.spelling("tensorflow") is not None or b"tensorflow" in place.analysis.source


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
