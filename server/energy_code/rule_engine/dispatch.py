"""Which rules wait for which calls, and what a call must look like for a rule to look closer.

Everything here is answered from what the reader has of a call already: most calls are turned away before any
syntax is looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from energy_code.ir.expressions import Attribute, CallExpression, Name
from energy_code.rule_engine.patterns.pattern import Need, Pattern, canonical, compile_pattern, same_api
from energy_code.rule_engine.rule import Rule

if TYPE_CHECKING:
    from energy_code.analysis.calls import Found
    from energy_code.model import Mode

_MOST_INDICES = 64
_INDICES: dict[tuple[int, ...], RuleIndex] = {}
_NO_APIS: frozenset[str] = frozenset()


Gate = Callable[[Sequence["Found"], int], bool]
"""Whether one of the calls of a file is given what a rule needs to see, and stands where it needs to stand."""


@dataclass(slots=True, eq=False)
class Subscription:
    """What one rule waits for at one API or token."""

    rule: Rule
    api: str
    pattern: Pattern | None
    template: str | None
    modes: frozenset[Mode]
    gates: tuple[Gate, ...] = ()
    inside: frozenset[str] = _NO_APIS
    """APIs that the arguments must call."""
    near: frozenset[str] = _NO_APIS
    """APIs that the same statement must call besides."""


def _in_loop(reached: Sequence[Found], number: int) -> bool:
    site = reached[number][3]
    return site.in_unknown_loop or site.times != 1


def _in_a_row(reached: Sequence[Found], number: int) -> bool:
    api = reached[number][3].api
    return any(
        found[3].api == api
        for found in (*reached[max(number - 1, 0) : number], *reached[number + 1 : number + 2])
    )


def _with_keyword(keyword: str) -> Gate:
    def gate(reached: Sequence[Found], number: int) -> bool:
        return any(name == keyword for name, _ in reached[number][2].keywords)

    return gate


def _behind(api: str) -> Gate:
    """A method of what a call of that API gives: of calls that begin at the same place the next shorter one."""

    def gate(reached: Sequence[Found], number: int) -> bool:
        function = reached[number][2].function
        receiver = function.value if type(function) is Attribute else None
        for _, _, expression, site in reached[number + 1 : number + 3]:
            if expression is receiver and not site.decorator:
                return same_api(site.api, api)
        return False

    return gate


def _with_argument(need: Need) -> Gate:
    """An argument, and one of a kind that can fit."""
    position, keyword, kinds = need
    a_call, a_name = kinds == ("call",), kinds is None or "identifier" in kinds

    def gate(reached: Sequence[Found], number: int) -> bool:
        call = reached[number][2]
        given = call.positional[position] if 0 <= position < len(call.positional) else None
        if given is None:
            for name, value in call.keywords:
                if name == keyword:
                    given = value
        kind = type(given)
        return given is not None and (kind is CallExpression if a_call else a_name or kind is not Name)

    return gate


def _gates(rule: Rule, pattern: Pattern | None) -> tuple[Gate, ...]:
    if pattern is not None:
        return tuple([_with_argument(need) for need in pattern.needs if need.position or need.kinds])
    found: list[Gate] = [_in_loop] if rule.in_loop else []
    found += [_in_a_row] if rule.in_a_row else []
    found += [_with_keyword(rule.keyword)] if rule.keyword is not None else []
    found += [_behind(canonical(rule.follows))] if rule.follows is not None else []
    return tuple(found)


class _Waiting(dict[str, tuple[Subscription, ...]]):
    """API → who waits for its calls, or for those of the same method of a base class."""

    def __init__(self, by_name: Mapping[str, Sequence[Subscription]]) -> None:
        super().__init__()
        self._by_name = by_name

    def __missing__(self, api: str) -> tuple[Subscription, ...]:
        named = self._by_name.get(api.rpartition(".")[2], ())
        found = self[api] = tuple(watch for watch in named if same_api(api, watch.api))
        return found


class RuleIndex:
    """Who waits for what, of some rules."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        """Held, so that no other rule gets the identity of one of these."""
        by_name: dict[str, list[Subscription]] = {}
        """Last part of the API's name → who waits for it."""
        self.waiting = _Waiting(by_name)
        by_token: dict[str, list[Subscription]] = {}
        for watch in (watch for rule in rules if rule.saves for watch in _watches(rule)):
            if watch.pattern is not None and watch.pattern.depth < 0:
                by_token.setdefault(watch.api, []).append(watch)
            else:
                by_name.setdefault(watch.api.rpartition(".")[2], []).append(watch)
        self.by_token = [(token.encode(), watches) for token, watches in by_token.items()]
        """A token of the text, and who waits for it."""


def index_of(rules: Sequence[Rule]) -> RuleIndex:
    """The index of some rules, made once; found by their identities, to hash the rules would take longer."""
    key = tuple(map(id, rules))
    known = _INDICES.get(key)
    if known is None:
        if len(_INDICES) >= _MOST_INDICES:
            _INDICES.clear()
        known = _INDICES[key] = RuleIndex(rules)
    return known


@functools.cache
def _watches(rule: Rule) -> tuple[Subscription, ...]:
    found = [
        Subscription(
            rule,
            pattern.anchor,
            pattern,
            change.after,
            rule.modes,
            _gates(rule, pattern),
            pattern.inside,
            pattern.near - pattern.inside - {pattern.anchor},
        )
        for change in rule.changes
        for pattern in compile_pattern(change.before, rule.signatures)
    ]
    gates = _gates(rule, None)
    found += [Subscription(rule, canonical(api), None, None, rule.modes, gates) for api in rule.apis]
    return tuple(found)
