"""Replaces cells of a notebook in its very text: whatever else it holds, and how it is laid out, stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # in every Python, and what `json` itself uses

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

Extent = tuple[int, int]


def with_sources(text: str, sources: Mapping[int, str]) -> str:
    """A notebook's text with other sources of some cells, by their number from 0."""
    found = list(_cell_sources(text))
    for number in sorted(sources, reverse=True):
        start, end = found[number]
        written = text[start:end]
        new = (
            _lines(written, sources[number]) if written.startswith("[") else _string(sources[number], written)
        )
        text = text[:start] + new + text[end:]
    return text


def _cell_sources(text: str) -> Iterator[Extent]:
    """Where each cell's source stands."""
    cells = dict(_members(text, _after_space(text, 0)))["cells"]
    for start, _ in _elements(text, cells[0]):
        yield dict(_members(text, start))["source"]


def _members(text: str, start: int) -> Iterator[tuple[str, Extent]]:
    """The names of an object's members and where their values stand."""
    at = _after_space(text, start + 1)
    while text[at] != "}":
        name, at = scanstring(text, at + 1)
        begin = _after_space(text, _after_space(text, at) + 1)
        end = _DECODER.raw_decode(text, begin)[1]
        yield name, (begin, end)
        at = _after_comma(text, end)


def _elements(text: str, start: int) -> Iterator[Extent]:
    """Where the elements of an array stand."""
    at = _after_space(text, start + 1)
    while text[at] != "]":
        end = _DECODER.raw_decode(text, at)[1]
        yield at, end
        at = _after_comma(text, end)


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None  # it matches nothing too
    return match.end()


def _after_comma(text: str, at: int) -> int:
    at = _after_space(text, at)
    return _after_space(text, at + 1) if text[at] == "," else at


def _lines(written: str, source: str) -> str:
    """A list of lines, those that are as they were in their very spelling."""
    places = list(_elements(written, 0))
    if not places:
        return json.dumps(source.splitlines(keepends=True))
    spelled = {json.loads(written[start:end]): written[start:end] for start, end in places}
    before, behind = written[: places[0][0]], written[places[-1][1] :]
    between = written[places[0][1] : places[1][0]] if len(places) > 1 else "," + before[1:]
    lines = [spelled.get(line) or _string(line, written) for line in source.splitlines(keepends=True)]
    return before + between.join(lines) + behind


def _string(source: str, like: str) -> str:
    """A string, with other letters than ASCII's written as the rest has them."""
    return json.dumps(source, ensure_ascii="\\u" in like)
