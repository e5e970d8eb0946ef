"""The summary of a file or workspace: files, functions, calls, and each call's share of the energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from energy_lsp.features.status import totals
from energy_lsp.hints import Hint, Total, marked

if TYPE_CHECKING:
    from energy_lsp.pages import Page


def summary_of(uri: str | None, pages: Sequence[Page]) -> dict[str, Any]:
    """What the client's energy view shows."""
    total = sum((page.total for page in pages), Total())
    return {
        "uri": uri,
        **totals(total),
        "files": [
            {"uri": page.uri, "functions": _functions(page, total.joules)} for page in pages if page.hints
        ],
    }


def _functions(page: Page, whole: float) -> list[dict[str, Any]]:
    groups: dict[str, list[Hint]] = {}
    for hint in page.hints:
        groups.setdefault(hint.call.function, []).append(hint)
    return [
        {"name": name, "calls": [_call(page, hint, whole) for hint in hints]}
        for name, hints in groups.items()
    ]


def _call(page: Page, hint: Hint, whole: float) -> dict[str, Any]:
    figure = hint.figure
    where = page.range(hint.call.name)
    known = hint.known_joules
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
        "share": known / whole if known is not None and whole > 0 else None,
    }


def summary_text(summary: dict[str, Any], most: int = 3) -> str:
    """One sentence for clients without a view of their own."""
    calls = [
        call for file in summary["files"] for function in file["functions"] for call in function["calls"]
    ]
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
