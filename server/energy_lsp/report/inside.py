"""The inside of calls on the page of a report: an icicle, ranked footprints, and the energy distribution diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from energy_data.model import Inside, Measurement, Part
from energy_lsp.inside.diagram import as_json, levels, opening
from energy_lsp.inside.footprints import summarised_footprints, tensor_footprints
from energy_lsp.inside.groups import LayerGroup

RANKED = 40


def inside_data(
    parts: Sequence[Part], inside: Inside | None, measurements: Sequence[Measurement]
) -> dict[str, Any] | None:
    """What the page needs; None where nothing is known of the inside."""
    if not parts:
        return None
    calls = {one.id: one for one in measurements}
    found = levels(parts, inside.flows if inside is not None else ())
    return {
        "note": inside.note if inside is not None else "",
        "parts": [_part(part, calls) for part in parts],
        "layers": [_ranked(group) for group in tensor_footprints(parts)[:RANKED]],
        "blocks": [_ranked(group) for group in summarised_footprints(parts)[:RANKED]],
        "levels": as_json(found),
        "opening": opening(found),
    }


def _part(part: Part, calls: dict[str, Measurement]) -> list[Any]:
    call = calls.get(part.measurement_id)
    name = f"{call.api.rpartition('.')[2]} ({call.file}:{call.line})" if call is not None else "call"
    operations = sorted(part.operations.items(), key=lambda item: -item[1])
    place = f"{part.file}:{part.line}" if part.line else ""
    return [name, part.path, part.direction, part.kind, place, part.joules, operations]


def _ranked(group: LayerGroup) -> list[Any]:
    place = f"{group.file}:{group.line}" if group.line else ""
    return [group.name, place, group.joules, group.low, group.high, group.share, group.watts, group.count]
