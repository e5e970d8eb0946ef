"""The summary of a file or workspace: files, functions, calls, and each call's share of the energy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from energy_lsp.encoding import Encoded, encoded, encoded_list, encoded_object
from energy_lsp.features.status import totals
from energy_lsp.hints import Hint, Total, marked

if TYPE_CHECKING:
    from energy_lsp.pages import Page


def summary_of(uri: str | None, parts: Sequence[tuple[Total, dict[str, Any]]]) -> dict[str, Any]:
    """What the client's energy view shows, put together from the texts' sums and summaries."""
    total = sum((part for part, _ in parts), Total())
    files = [file for _, file in parts if file["functions"]]
    for call in _calls(files):
        known = call["joules"] is not None and total.joules > 0
        call["share"] = call["joules"] * call["runs"] / total.joules if known else None
    return {"uri": uri, **totals(total), "files": files}


def encoded_summary(summary: dict[str, Any]) -> Encoded:
    """A summary as it goes over the wire."""
    head = {name: encoded(value) for name, value in summary.items() if name != "files"}
    return encoded_object(**head, files=encoded_list(summary["files"]))


def file_summary(page: Page) -> dict[str, Any]:
    """One text: its functions and their calls, without their shares of a whole that is not known yet."""
    groups: dict[str, list[Hint]] = {}
    for hint in page.hints:
        groups.setdefault(hint.call.function, []).append(hint)
    functions = [
        {"name": name, "calls": [_call(page, hint) for hint in hints]} for name, hints in groups.items()
    ]
    return {"uri": page.uri, "functions": functions}


def _calls(files: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for file in files:
        for function in file["functions"]:
            yield from function["calls"]


def _call(page: Page, hint: Hint) -> dict[str, Any]:
    figure = hint.figure
    where = page.range(hint.call.name)
    return {
        "api": hint.call.api,
        "range": {
            "start": {"line": where.start.line, "character": where.start.character},
            "end": {"line": where.end.line, "character": where.end.character},
        },
        "joules": figure.total if figure else None,
        "low": figure.low if figure else None,
        "high": figure.high if figure else None,
        "runs": hint.call.runs.times,
        "layer": figure.layer if figure else None,
        "estimated": hint.estimated,
    }


def summary_text(summary: dict[str, Any], most: int = 3) -> str:
    """One sentence for clients without a view of their own."""
    calls = list(_calls(summary["files"]))
    known = [call for call in calls if call["joules"] is not None]
    if not known:
        return f"No energy is known yet for the {len(calls)} calls here: measure to learn it."
    hungriest = sorted(known, key=lambda call: -call["joules"] * call["runs"])[:most]
    listed = ", ".join(
        f"{call['api']} (line {call['range']['start']['line'] + 1}) "
        f"{marked(call['joules'] * call['runs'], call['estimated'])}"
        for call in hungriest
    )
    total = marked(summary["known_joules"], summary["estimated"])
    return f"{total} known, {summary['unknown_calls']} calls unknown. Hungriest: {listed}."
