"""Which call of a text is which measured one, after whatever edits came since.

By what the call looks like first: function and text, and their order where several look alike. Of those that are left over,
a call of the same API in the same function is the measured one edited, and its figure is that of before. What was measured
before texts were noted is found by its line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from energy_data.model import Figure, MeasuredSite


class WrittenCall(NamedTuple):
    """A call as it stands in the text now. Line and column count from 1."""

    place: int
    """Its number among the calls of the text."""
    api: str
    function: str
    text: str
    line: int
    column: int


class Matching:
    """The figures of a text's calls, by their numbers."""

    def __init__(self, calls: Sequence[WrittenCall], sites: Sequence[MeasuredSite]) -> None:
        self.figures: dict[int, Figure] = {}
        self._calls = list(calls)
        self._sites = [site for site in sites if site.text]
        newest: dict[str, str] = {}
        for site in self._sites:
            newest[site.function] = max(newest.get(site.function, ""), site.started)
        self._pair(lambda one: (one.api, one.function, one.text))
        # A function that was renamed, or a call that was moved into another one.
        self._pair(lambda one: (one.api, one.text))
        # What older runs measured may be gone from the code for long: no call is its edited form.
        self._sites = [site for site in self._sites if site.started == newest[site.function]]
        self._pair(lambda one: (one.api, one.function), edited=True)
        self._by_line([site for site in sites if not site.text])

    def _pair(self, key: Callable[[WrittenCall | MeasuredSite], Hashable], *, edited: bool = False) -> None:
        """Pair calls and sites that are alike: all in their order, or those nearest each other."""
        calls: dict[Hashable, list[WrittenCall]] = {}
        for call in self._calls:
            calls.setdefault(key(call), []).append(call)
        sites: dict[Hashable, list[MeasuredSite]] = {}
        for site in self._sites:
            sites.setdefault(key(site), []).append(site)
        paired: set[int] = set()
        found: set[int] = set()
        for alike, of_sites in sites.items():
            of_calls = calls.get(alike, [])
            if not of_calls:
                continue
            if len(of_calls) == len(of_sites):
                pairs = list(zip(of_calls, of_sites, strict=True))
            else:
                pairs = _nearest(of_calls, of_sites)
            for call, site in pairs:
                self.figures[call.place] = replace(site.figure, edited=True) if edited else site.figure
                paired.add(call.place)
                found.add(id(site))
        self._calls = [call for call in self._calls if call.place not in paired]
        self._sites = [site for site in self._sites if id(site) not in found]

    def _by_line(self, sites: Sequence[MeasuredSite]) -> None:
        """Several calls of an API on one line share what was measured there."""
        measured = {(site.api, site.line): site.figure for site in sites}
        apis = {site.api for site in sites}
        asked = [call for call in self._calls if call.api in apis]
        sharing = Counter((call.api, call.line) for call in asked)
        for call in asked:
            figure = measured.get((call.api, call.line))
            if figure is not None:
                times = max(1, round((figure.times or 1) / sharing[call.api, call.line]))
                self.figures[call.place] = replace(figure, times=times)


def _nearest(
    calls: Sequence[WrittenCall], sites: Sequence[MeasuredSite]
) -> list[tuple[WrittenCall, MeasuredSite]]:
    """Pairs of those that stand nearest each other; what is left over has no partner."""
    distances = sorted(
        (abs(call.line - site.line), abs(call.column - site.column), number, other)
        for number, call in enumerate(calls)
        for other, site in enumerate(sites)
    )
    pairs: dict[int, int] = {}
    for _, _, number, other in distances:
        if number not in pairs and other not in pairs.values():
            pairs[number] = other
    return [(calls[number], sites[other]) for number, other in sorted(pairs.items())]
