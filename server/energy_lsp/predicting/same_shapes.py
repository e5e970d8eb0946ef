"""What another call took that was given the same shapes, for a call that was not measured itself.

Worked out when somebody asks, for hovers, the energy view and findings of `check`; never part of a sum.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from energy_code.static_shapes.walking.notes import Found
    from energy_code.workspace.project import Project
    from energy_data.model import Figure
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport

RecordedShape = tuple[tuple[int, int], tuple[str, ...]]
"""Line and column of a call, and what a run saw there."""
OFTEN = 10
"""Runs from which on a call finds what it needs in caches."""
LONGEST = 400_000
"""Bytes of a text beyond which nobody goes through it for shapes while somebody waits."""


def nearest(report: FileReport, hint: Hint) -> Hint:
    """A call with the nearest figure that there is: one of its own, else that of a call with the same shapes."""
    figure = alike(report, hint)
    return hint if figure is None else hint._replace(figure=figure)


def alike(report: FileReport, hint: Hint) -> Figure | None:
    """What another call of the same API took that was given the same shapes; None where more is known, or nothing.

    In a graph a call is no call of its own, and a model's shapes say too little of its work.
    """
    call, folder = hint.call, report.folder
    if hint.has_own_figure or call.mode != "eager" or call.decorator:
        return None
    if not folder.trusted or not folder.was_measured_with_shapes(call.api):
        return None
    # Going through a program for its shapes is loaded for the few calls that need it.
    from energy_lsp.predicting.shapes import place_of

    asked = [each for each in shapes_on(report).get(place_of(call), ()) if not each.inside]
    if len(asked) != 1 or asked[0].call is None or not asked[0].signature:
        return None
    return folder.with_shapes(call.api, asked[0].signature, often=call.runs.times >= OFTEN)


def shapes_on(report: FileReport) -> Found:
    """The shapes that the calls of a report are given, as far as a run saw them or the source tells."""
    path, source = program_of(report)
    if path is None or source is None or len(source) > LONGEST:
        return {}
    from energy_lsp.predicting.recorded import recorded_shapes  # as above

    recorded = recorded_shapes((hint.call, hint.figure) for hint in report.hints)
    return _shapes(path, source, report.folder.project(), tuple(sorted(recorded.items())))


def program_of(report: FileReport) -> tuple[Path | None, bytes | None]:
    """The file of a text, and the whole program: of a cell its notebook as it was saved, if the cell is still that."""
    from pygls.uris import to_fs_path  # `check` starts without the protocol's packages

    name = to_fs_path(report.owner) if report.owner.startswith("file:") else None
    path = Path(name) if name else None
    if not report.is_cell or path is None:
        return path, report.source
    document = report.folder.project().document(path)
    source = None if document is None else document.lines().source
    kept = source is not None and source[report.base : report.base + len(report.source)] == report.source
    return path, source if kept else None


@lru_cache(maxsize=4)
def _shapes(path: Path, source: bytes, project: Project, recorded: tuple[RecordedShape, ...]) -> Found:
    """The shapes in a text; what its imports hold is read again when the text changes."""
    from energy_lsp.predicting.shapes import shapes_of  # as above

    return shapes_of(path, source.decode("utf-8", "replace"), project, dict(recorded))
