"""Fourth stage, a report: what one text (a file, a notebook cell) has to say about energy, at one version.

Reports are made in the worker's thread and read on the loop; nothing they hold changes later. What is made of one
on demand is asked for in the worker first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from energy_lsp.presentation.figures.account import Account, MachineKey, counts, machine_of
from energy_lsp.presentation.figures.hints import NO_HINTS, Hint, Hints
from energy_lsp.wire.encoding import Encoded

if TYPE_CHECKING:
    from lsprotocol import types

    from energy_code.model import Definition, Mode, Span
    from energy_code.rule_engine.evidence.verdict import Verdict
    from energy_code.rules import Finding
    from energy_code.text.lines import Lines
    from energy_data.database.inside import FileInside
    from energy_lsp.presentation.figures.layers import FileLayers, NotebookLayers
    from energy_lsp.workspace.client import Client
    from energy_lsp.workspace.folders import Folder, ProgramEnergy


class EncodedDiagnostics(NamedTuple):
    """The diagnostics of one text, as they go over the wire."""

    items: Encoded
    result_id: str
    """Changes when they do."""


NO_DIAGNOSTICS = EncodedDiagnostics(Encoded("[]"), "none")


@dataclass(frozen=True)
class FileReport:
    """The hints of one text, and its positions. Spans are those of the program that the text is part of."""

    uri: str
    owner: str
    """The URI of the file or notebook it belongs to."""
    version: int | None
    lines: Lines
    client: Client
    folder: Folder
    base: int = 0
    """Where the text begins in the program: 0 for a file, somewhere else for a notebook's cell."""
    cell_number: int = 0
    """For a notebook's cell: which one it is, counted from 1."""
    place_of_cell: int = 0
    """The same among the code cells alone, counted from 0."""
    hints: Hints = NO_HINTS
    findings: Sequence[Finding] = ()
    functions: Sequence[Definition] = ()
    verdicts: Mapping[tuple[str, Mode], Verdict] = field(default_factory=dict)
    """What the measurements say of each rule that applies here, in the mode it applies in."""
    hotspots: Sequence[Hint] = ()
    """The calls worth a mark."""
    inside: FileInside | None = None
    """What is inside of the calls, as it was measured."""
    program: ProgramEnergy | None = None
    """What the last run took that the calls were measured in."""
    notebook: NotebookLayers | None = None
    """The same of the notebook that a cell is of."""
    file: str = ""
    """Its name in the database."""
    diagnostics: EncodedDiagnostics = NO_DIAGNOSTICS
    """Only of what an editor has open (`reports.diagnostics.with_diagnostics`)."""
    speaks_for: Hints = NO_HINTS
    """Those of the whole program, in the one report that says whether nothing is known: the first cell with calls."""
    _layers: list[FileLayers] = field(default_factory=list, init=False, repr=False, compare=False)
    """One once it was asked for."""

    @property
    def program_joules(self) -> float | None:
        """Net joules of the last run that the calls were measured in."""
        return self.program.joules if self.program is not None else None

    def account(self) -> Account:
        """The sum over all calls."""
        return self.hints.account()

    @property
    def nothing_known(self) -> str:
        """What to say where no call of the file or notebook has a figure."""
        account = self.speaks_for.account()
        return account.label if account.left_out and not account.counted else ""

    def layers(self) -> FileLayers | None:
        """What is inside of the calls, at the lines as they are now; brought there when it is asked for first."""
        if self.inside is None:
            return None
        if not self._layers:
            self._layers.append(self._layers_of(self.inside))
        return self._layers[0]

    def _layers_of(self, inside: FileInside) -> FileLayers:
        if self.notebook is not None:
            return self.notebook.of_cell(self.place_of_cell)
        from energy_lsp.presentation.figures.layers import file_layers

        return file_layers(inside, self.file, self.uri, self.lines.texts())

    @property
    def is_cell(self) -> bool:
        """True for a cell of a notebook."""
        return self.cell_number > 0

    @property
    def whole(self) -> str:
        """What shares are of."""
        return "this notebook" if self.is_cell else "this file"

    @property
    def source(self) -> bytes:
        """The text."""
        return self.lines.source

    def place(self, offset: int) -> tuple[int, int]:
        """A byte of the program as line and character, in the client's position encoding."""
        return self.lines.position(offset - self.base, self.client.encoding)

    def position(self, offset: int) -> types.Position:
        """The same in the protocol's types, which `energy-lsp check` need not load."""
        from lsprotocol import types

        return types.Position(*self.place(offset))

    def range(self, span: Span) -> types.Range:
        """A span in the client's position encoding."""
        from lsprotocol import types

        return types.Range(self.position(span.start_byte), self.position(span.end_byte))

    def start_of(self, span: Span) -> types.Range:
        """The empty range where a span begins."""
        from lsprotocol import types

        start = self.position(span.start_byte)
        return types.Range(start, start)

    def offset(self, position: types.Position) -> int:
        """The byte of the program that a position of the client stands for."""
        return self.base + self.lines.byte_offset(position.line, position.character, self.client.encoding)

    def row(self, offset: int) -> int:
        """The line of this text, counted from 0, that a byte of the program lies in."""
        return self.lines.point(offset - self.base).row

    def end_of_row(self, row: int) -> tuple[int, int]:
        """The end of a line of this text, in the client's position encoding."""
        start = self.lines.byte_offset(row, 0, self.client.encoding)
        return self.place(self.base + start + len(self.lines.line(row).rstrip(b"\r\n")))

    def line(self, row: int) -> str:
        """One line of the text."""
        return self.lines.line(row).decode("utf-8", "replace")

    def hint_at(self, position: types.Position) -> Hint | None:
        """The call whose callee lies under a position; of chained calls the one whose name comes first."""
        return self.hints.under(self.offset(position))

    def hints_in(self, span: Span) -> Hints:
        """Hints of the calls in a function or class."""
        return self.hints.between(span.start_byte, span.end_byte)

    def share(self, hint: Hint) -> float | None:
        """What a call had of all that its machine measured in the file or notebook; None for what is in no sum."""
        figure, joules = hint.figure, hint.known_joules
        if figure is None or joules is None or not counts(figure):
            return None
        return self.share_of(joules, machine_of(figure))

    def share_of(self, joules: float, machine: MachineKey | None = None) -> float | None:
        """The same for some joules of a run; without a machine, of what the main one measured."""
        sums = self.hints.figures.account().machines
        total = next((one.joules for one in sums if machine in (None, one.key)), 0.0)
        return min(1.0, joules / total) if total > 0.0 else None

    def calls_changed_by(self, finding: Finding) -> Sequence[Hint]:
        """The calls whose energy a finding is about: in the code that its rule would write differently."""
        places = [finding.span, *finding.related]
        if finding.rule.whole_function:
            start = finding.span.start_byte
            around = [one for one in self.functions if one.span.start_byte <= start < one.span.end_byte]
            functions = [one.span for one in around if one.kind == "function"]
            inline = [one for one in finding.related if one.start_byte <= start < one.end_byte]
            places = list(finding.related) if inline else functions[-1:] or places
        found = {hint.call.span: hint for place in places for hint in self.hints_in(place)}
        return list(found.values())

    def verdict_of(self, finding: Finding) -> Verdict:
        """What the measurements say of a finding's rule."""
        return self.verdicts[finding.rule.name, finding.mode]
