"""The summary of a file or workspace: files, functions, calls, and each call's share of the energy."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from energy_lsp.features.status import totals
from energy_lsp.predicting.same_shapes import nearest
from energy_lsp.presentation.figures.account import NOTHING, Account, counts, machine_of
from energy_lsp.presentation.notation.units import marked
from energy_lsp.presentation.words.calls import known_from, provenance
from energy_lsp.presentation.words.layers import creates, layer_label
from energy_lsp.wire.encoding import Encoded, encoded, encoded_list, encoded_object

if TYPE_CHECKING:
    from energy_data.database.inside import CallParts
    from energy_data.model import Part
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport

_SCHEME = re.compile(r"^[^:]+:(//[^/]*)?")


def summary_of(uri: str | None, parts: Sequence[tuple[Account, dict[str, Any]]]) -> dict[str, Any]:
    """What the client's energy view shows, put together from the texts' sums and summaries."""
    account = sum((part for part, _ in parts), NOTHING)
    files = [file for _, file in parts if file["functions"]]
    _add_sums(parts)
    for call in _calls(files):
        part_of = call.pop("part_of")
        counts = account.main is not None and part_of == list(account.main.key) and account.joules > 0
        call["share"] = min(1.0, call["total_joules"] / account.joules) if counts else None
    for layer in (layer for file in files for layer in file["layers"]):
        # Layers are known from this machine's own runs, and so is the sum that comes first.
        whole = account.joules if account.main is not None and account.main.key[0] == "here" else 0.0
        layer["of_all"] = min(1.0, layer["joules"] / whole) if whole > 0.0 else None
    return {"uri": uri, **totals(account), "files": files}


def _add_sums(parts: Sequence[tuple[Account, dict[str, Any]]]) -> None:
    """The sums of functions and files: the cells of a notebook are one file, and what they share a name of one function."""
    sums: dict[tuple[str, str | None], Account] = {}
    named: list[tuple[tuple[str, str | None], dict[str, Any]]] = []
    for account, file in parts:
        path = _SCHEME.sub("", file["uri"]).partition("#")[0]
        functions = [
            ((path, one["name"]), Account.from_json(one.pop("account")), one) for one in file["functions"]
        ]
        for key, known, shown in [((path, None), account, file), *functions]:
            sums[key] = sums.get(key, NOTHING) + known
            named.append((key, shown))
    for key, shown in named:
        shown["known_joules"] = sums[key].joules
        shown["text"] = sums[key].label.removeprefix("⚡ ")


def encoded_summary(summary: dict[str, Any]) -> Encoded:
    """A summary as it goes over the wire."""
    head = {name: encoded(value) for name, value in summary.items() if name != "files"}
    return encoded_object(**head, files=encoded_list(summary["files"]))


def file_summary(report: FileReport, *, opened: bool = False) -> dict[str, Any]:
    """One text: its functions and their calls, without their shares of a whole that is not known yet.

    Only texts that somebody opened are gone through for calls with the same shapes: a workspace has thousands.
    """
    groups: dict[str, list[Hint]] = {}
    for hint in report.hints:
        groups.setdefault(hint.call.function, []).append(nearest(report, hint) if opened else hint)
    functions = [
        {
            "name": name,
            "account": Account.of((hint.figure, hint.times) for hint in hints).as_json(),
            "calls": [_call(report, hint) for hint in hints],
        }
        for name, hints in groups.items()
    ]
    return {"uri": report.uri, "functions": functions, "layers": layers_summary(report)}


def _calls(files: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for file in files:
        for function in file["functions"]:
            yield from function["calls"]


def _call(report: FileReport, hint: Hint) -> dict[str, Any]:
    figure = hint.figure
    where = report.range(hint.call.name)
    known = hint.joules_per_call is not None and figure is not None
    total = hint.known_joules
    return {
        "api": hint.call.api,
        "range": {
            "start": {"line": where.start.line, "character": where.start.character},
            "end": {"line": where.end.line, "character": where.end.character},
        },
        "joules": hint.joules_per_call,
        "low": figure.low if known and figure else None,
        "high": figure.high if known and figure else None,
        "runs": hint.times,
        "times": hint.times,
        "times_from": hint.times_from,
        "total_joules": total,
        "first_joules": figure.first if known and figure else None,
        "origin": figure.origin if figure else None,
        "source": figure.source if figure else None,
        "layer": figure.source if figure else None,
        "estimated": hint.estimated,
        "inside": _inside(report, hint),
        "creates_layer": _creates_layer(report, hint),
        "edited": figure.edited if figure else False,
        "text": "" if total is None else marked(total, hint.estimated),
        "each_text": "" if hint.joules_per_call is None else marked(hint.joules_per_call, hint.estimated),
        "known_from": known_from(figure) if figure else "",
        "provenance": provenance(figure) if figure else "",
        "part_of": list(machine_of(figure)) if figure is not None and counts(figure) else None,
    }


def layers_summary(report: FileReport) -> list[dict[str, Any]]:
    """The lines that create layers, with what these had: for heat by line."""
    layers = report.layers()
    if layers is None:
        return []
    return [
        {
            "line": row,
            "joules": (total := sum(use.joules for use in uses)),
            "text": marked(total, layers.estimated),
            "label": layer_label(uses, layers),
            "share": uses[0].share,
            "of": _call_place(report, uses[0].call),
            "uses": [
                {
                    **_call_place(report, use.call),
                    "joules": use.joules,
                    "text": marked(use.joules, layers.estimated),
                    "share": use.share,
                    "forward": use.of("forward"),
                    "backward": use.of("backward"),
                }
                for use in uses
            ],
        }
        for row, uses in sorted(layers.created.items())
    ]


def _call_place(report: FileReport, call: CallParts) -> dict[str, Any]:
    """A call by what it calls and where it was measured; where it is now, if that is known."""
    uri, row = _now(report, call.file, call.line)
    return {"api": call.api, "file": call.file, "line": call.line, "uri": uri, "row": row}


def _now(report: FileReport, file: str, line: int) -> tuple[str | None, int | None]:
    """URI and row of a measured line, to jump to; nothing for one that was changed, or is not of the project."""
    layers = report.layers()
    if not line or layers is None:
        return None, None
    if file == layers.file:
        place = layers.place(file, line)
        return (place.uri, place.row) if place is not None else (None, None)
    uri = report.folder.address(file)
    return (uri, line - 1) if uri is not None else (None, None)


def _creates_layer(report: FileReport, hint: Hint) -> bool:
    """Whether the call makes a layer of which more is known than what making it took."""
    layers = report.layers()
    row = report.row(hint.call.span.start_byte)
    return layers is not None and layers.speaks_of(row) and creates(hint, layers.created.get(row, ()))


def _inside(report: FileReport, hint: Hint) -> list[dict[str, Any]]:
    """What a call went into, for a view that opens it; the costliest first."""
    layers = report.layers()
    if layers is None:
        return []
    row = report.row(hint.call.span.start_byte)
    for call in layers.calls.get(row, ()):
        if call.api == hint.call.api:
            parts = sorted(call.parts, key=lambda part: -part.joules)
            together: defaultdict[str, float] = defaultdict(float)
            for part in parts:
                together[_layer_of(part)] += part.joules
            return [
                _part(report, part, call.joules, together[_layer_of(part)], estimated=layers.estimated)
                for part in parts
            ]
    return []


def _layer_of(part: Part) -> str:
    """What the passes of a layer have in common; what is no layer's, by what it is."""
    return part.path if part.direction in ("forward", "backward") else part.direction


def _part(report: FileReport, part: Part, whole: float, layer: float, *, estimated: bool) -> dict[str, Any]:
    uri, row = _now(report, part.file, part.line)
    return {
        "path": part.path,
        "kind": part.kind,
        "pass": part.direction,
        "joules": part.joules,
        "text": marked(part.joules, estimated),
        "layer_text": marked(layer, estimated),
        "share": part.joules / whole if whole else 0.0,
        "count": part.count,
        "file": part.file or None,
        "line": row,
        "uri": uri,
    }


def summary_text(summary: dict[str, Any], most: int = 3) -> str:
    """One sentence for clients without a view of their own."""
    calls = list(_calls(summary["files"]))
    known = [call for call in calls if call["share"] is not None]
    if not known:
        return f"No energy is known yet for the {len(calls)} calls here: measure to learn it."
    costliest = sorted(known, key=lambda call: -call["total_joules"])[:most]
    listed = ", ".join(
        f"{call['api']} (line {call['range']['start']['line'] + 1}) {call['text']}" for call in costliest
    )
    return f"{summary['text']}. Costliest: {listed}."
