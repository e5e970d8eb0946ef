"""A notebook as one script, which trials run, and what was chosen as edits of its cells.

The script has the cells' code at the same bytes, so that an edit of it is one of the cell it lies in.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from energy_code.rule_engine.context import Edit
from energy_code.text.decoding import decode
from energy_code.workspace.notebook import Notebook, NotebookProblem
from energy_code.workspace.notebook_text import with_sources
from energy_measure.problems import MeasureProblem
from energy_measure.tuning.candidate import Candidate, edited

SUFFIX = ".ipynb"


class TunedNotebook:
    """The notebook that is tuned, as it was read before the first run."""

    def __init__(self, path: Path, name: str) -> None:
        """`name`: relative to the project."""
        self.name = name
        try:
            self.data = path.read_bytes()
            self._cells = Notebook.read(self.data, path=path)
            with_sources(decode(self.data), {})  # one of the old format cannot be written
        except (NotebookProblem, KeyError) as problem:
            raise MeasureProblem(
                f"{path} cannot be read as a notebook: open it in Jupyter and save it again."
            ) from problem

    @property
    def is_empty(self) -> bool:
        """Whether its cells do nothing."""
        lines = b"\n".join(self._cells.sources).splitlines()
        return all(not line.strip() or line.strip().startswith((b"#", b"%", b"!")) for line in lines)

    def source(self, cell: int) -> bytes:
        """The source of a cell, which is counted from 1."""
        return self._cells.sources[self._cells.numbers.index(cell - 1)]

    def placed(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Candidates with their cells and the lines in these; those that would change two cells at once are left out."""
        return [self._placed(one) for one in candidates if self._fits(one)]

    def _placed(self, candidate: Candidate) -> Candidate:
        if candidate.file != self.name:
            return candidate
        starts = [self._cells.document.lines().point(start).row for start in self._cells.starts]
        index = max(0, bisect_right(starts, candidate.line - 1) - 1)
        return replace(
            candidate,
            cell=self._cells.numbers[index] + 1,
            line=candidate.line - starts[index],
            places=[self._placed(one) for one in candidate.places if self._fits(one)],
        )

    def _fits(self, candidate: Candidate) -> bool:
        return all(
            edit.end_byte <= self._cells.starts[place] + len(self._cells.sources[place])
            for edit in candidate.edits.get(self.name, ())
            for place in [self._cell_at(edit)]
        )

    def _cell_at(self, edit: Edit) -> int:
        return max(0, bisect_right(self._cells.starts, edit.start_byte) - 1)

    def edited(self, edits: Sequence[Edit]) -> bytes:
        """The notebook's text with some edits of the script."""
        by_cell: dict[int, list[Edit]] = {}
        for edit in edits:
            place = self._cell_at(edit)
            start = self._cells.starts[place]
            moved = Edit(edit.start_byte - start, edit.end_byte - start, edit.text)
            by_cell.setdefault(place, []).append(moved)
        sources = {
            self._cells.numbers[place]: edited(self._cells.sources[place], some).decode("utf-8")
            for place, some in by_cell.items()
        }
        return with_sources(decode(self.data), sources).encode()
