"""The call sites of a program and its instrumented sources."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import libcst

from energy_code.analysis.call_text import call_text
from energy_code.model import Call, Span
from energy_code.workspace.notebook import Notebook, neutralised
from energy_code.workspace.project import Project
from energy_data.catalogue.catalogue import Catalogue
from energy_data.model import CallKind, PhaseName
from energy_data.untrusted.reading import read_source
from energy_measure.program.compiled_steps import called_with, steps_by_hand
from energy_measure.program.instrumentation import Target, instrument
from energy_measure.program.notebook_magics import cell_magic, left_out, line_commands

DATA_FUNCTIONS = frozenset(
    {
        "audio_dataset_from_directory",
        "get_file",
        "image_dataset_from_directory",
        "load_data",
        "load_img",
        "text_dataset_from_directory",
    }
)


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call in the source that is measured."""

    api: str
    file: str
    """Relative to the project, with forward slashes."""
    line: int
    """1-based; in a notebook it counts the lines of all code cells, one behind the other."""
    pure: bool
    """May be replayed."""
    place: str
    """Where a person finds it: `model.py:12`, `study.ipynb cell 4:2`."""
    column: int = 0
    """1-based, in characters."""
    function: str = ""
    """Qualified name of the function around it."""
    text: str = ""
    """What the call looks like: see `energy_code.analysis.call_text`."""
    kind: CallKind = "api"
    phase: PhaseName = "calls"
    listed: bool = True
    """It is a call that figures are shown for, rather than something else that was recorded."""
    cell: int | None = None
    """The cell of a notebook, 1-based."""
    cell_line: int = 0
    """The line in it."""

    @property
    def is_call(self) -> bool:
        """Whether it counts as a call: what it holds is not unaccounted for."""
        return self.listed or self.kind == "iteration"


@dataclass(slots=True)
class Instrumented:
    """A program ready to run with probes."""

    sites: list[CallSite] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    """Instrumented text by the real path of the file."""
    cells: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    """Cells of a notebook by the notebook's real path."""
    graph_calls: dict[str, list[list[Any]]] = field(default_factory=dict)
    """Calls that may be probed while AutoGraph traces, per file or cell: see `GraphProbes`."""
    problems: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """What of a notebook does not run, a sentence each."""
    project: str = ""
    """The folder that file names are relative to."""
    notebooks: dict[str, str] = field(default_factory=dict)
    """For the title of each cell the notebook's file, as the database writes it."""
    cell_rows: dict[str, int] = field(default_factory=dict)
    """For the title of each cell the row of its first line in all cells, one behind the other."""

    def specification(
        self, entry: Path, cwd: Path, arguments: Sequence[str], *, gpu: bool, marking: bool = False
    ) -> dict[str, Any]:
        """What `launcher.py` needs to run one entry point, named as seen from the folder it runs in.

        `gpu`: wait for it around calls; `marking`: note the process's CPU time about long ones.
        """
        specification: dict[str, Any] = {
            "entry": str(entry),
            "arguments": list(arguments),
            "sources": self.sources,
            "sites": len(self.sites),
            "pure": [number for number, site in enumerate(self.sites) if site.pure],
            "gpu": gpu,
            "marking": marking,
            "graph_calls": self.graph_calls,
            "project": self.project,
        }
        cells = self.cells.get(os.path.realpath(cwd / entry))
        return specification if cells is None else {**specification, "cells": cells}

    def add_file(self, path: Path, project: Project, root: Path) -> None:
        """Instrument one module or script."""
        document = project.document(path)
        if document is None:
            return
        file = relative(path, root)
        self.project = os.path.realpath(root)
        calls = [call for call in document.analyse().calls() if not call.decorator]
        source = document.source
        sites = [_site(call, file, source, f"{file}:{call.span.start.row + 1}") for call in calls]
        spans = [(call.span, call.name) for call in calls]
        for step in steps_by_hand(source, {(span.start_byte, span.end_byte) for span, _ in spans}):
            spans.append((step.span, step.name))
            place = f"{file}:{step.span.start.row + 1}"
            sites.append(_compiled(step.api, step.span, step.function, file, source, place))
        real = os.path.realpath(path)
        text = self._instrument(source.decode(), real, spans, sites)
        if text is not None:
            self.sources[real] = text

    def add_notebook(self, path: Path, project: Project, root: Path) -> bytes:
        """Instrument the cells of a notebook, each by itself; gives the text of all of them."""
        notebook = Notebook.read(project.read(path), path=path, project=project)
        file = relative(path, root)
        self.project = os.path.realpath(root)
        found: dict[int, list[tuple[tuple[Span, Span], CallSite]]] = {n: [] for n in notebook.numbers}
        for call in notebook.analyse().calls():
            if not call.decorator:
                cell, span = notebook.locate(call.span)
                place = f"{file} cell {cell + 1}:{span.start.row + 1}"
                name = notebook.locate(call.name)[1]
                site = _site(call, file, notebook.document.source, place)
                site = replace(site, cell=cell + 1, cell_line=span.start.row + 1)
                found[cell].append(((span, name), site))
        cells: list[dict[str, str]] = []
        for number, source in zip(notebook.numbers, notebook.sources, strict=True):
            text = neutralised(source).decode()
            spans, sites = [spans for spans, _ in found[number]], [site for _, site in found[number]]
            title = f"<{path.name} cell {number + 1}>"
            self.notebooks[title] = file
            first = notebook.program_offset(number, 0)
            self.cell_rows[title] = notebook.document.lines().point(first).row
            instrumented = self._instrument(text, title, spans, sites)
            cells.append({"name": title, "source": text, "instrumented": instrumented or text})
            written = source.decode("utf-8", "replace")
            if commands := line_commands(written, text):
                cells[-1]["shell"] = json.dumps(commands)
            if magic := cell_magic(written):
                cells[-1]["magic"] = json.dumps(magic)
            self.left_out += [
                f"{file} cell {number + 1}: `{one}` is left out." for one in left_out(written, text)
            ]
        self.cells[os.path.realpath(path)] = cells
        return notebook.document.source

    def note_syntax(self, path: Path, root: Path) -> None:
        """Note why a file in which no call was found cannot be parsed, if that is so."""
        try:
            libcst.parse_module(read_source(path))
        except libcst.ParserSyntaxError as error:
            self._note(relative(path, root), error)
        except UnicodeDecodeError:
            return  # not in the encoding that it names: Python will say so

    def _note(self, file: str, error: libcst.ParserSyntaxError) -> None:
        sentence = f"{file} cannot be measured: its line {error.raw_line} cannot be parsed."
        if sentence not in self.problems:
            self.problems.append(sentence)

    def _instrument(
        self, text: str, filename: str, spans: Sequence[tuple[Span, Span]], sites: Sequence[CallSite]
    ) -> str | None:
        """The text with probes; None where there is nothing to instrument, or no way to.

        `filename`: what the compiled code will name; `spans`: of each call and of the name that it calls.
        """
        if not sites:
            return None
        first = len(self.sites)
        targets = [
            Target(span.start_byte, span.end_byte, first + number, site.api)
            for number, ((span, _), site) in enumerate(zip(spans, sites, strict=True))
        ]
        try:
            instrumented = instrument(text, targets)
        except libcst.ParserSyntaxError as error:
            self._note(sites[0].file, error)
            return None
        self.sites += sites
        source = text.encode()
        self.graph_calls[filename] = [
            [
                span.start.row + 1,
                span.start.column,
                span.end.row + 1,
                span.end.column,
                target.site,
                source[name.start_byte : name.end_byte].decode(),
            ]
            for (span, name), target in zip(spans, targets, strict=True)
            if _is_plain_function(target.api)
        ]
        return instrumented


def _is_plain_function(api: str) -> bool:
    """Functions that AutoGraph calls as they are; not those that speak to AutoGraph itself."""
    entry = Catalogue.load().find(api)
    return (
        entry is not None
        and entry.kind == "function"
        and api.startswith("tensorflow.")
        and not api.startswith("tensorflow.autograph.")
    )


def _site(call: Call, file: str, source: bytes, place: str) -> CallSite:
    entry = Catalogue.load().find(call.api)
    if call.api.startswith("tensorflow.distribute.") and call.api.endswith(".run"):
        function = called_with(source[call.span.start_byte : call.span.end_byte], call.function)
        return _compiled(function or call.api, call.span, call.function, file, source, place)
    return CallSite(
        call.api,
        file,
        call.span.start.row + 1,
        entry is not None and entry.pure,
        place,
        column_of(source, call.span.start_byte),
        call.function,
        call_text(source[call.span.start_byte : call.span.end_byte]),
        phase="data" if reads_data(call.api) else "calls",
    )


def _compiled(api: str, span: Span, function: str, file: str, source: bytes, place: str) -> CallSite:
    """A call of a function of the program that is run as one step."""
    text = call_text(source[span.start_byte : span.end_byte])
    column = column_of(source, span.start_byte)
    return CallSite(
        api, file, span.start.row + 1, False, place, column, function, text, "compiled", "compiled"
    )


def reads_data(api: str) -> bool:
    """Whether an API reads data into the program."""
    return (
        ".datasets." in api
        or api.startswith(("tensorflow.io.read", "tensorflow.io.decode", "tensorflow.io.parse"))
        or api.rpartition(".")[2] in DATA_FUNCTIONS
    )


def column_of(source: bytes, byte: int) -> int:
    """The column of a place in bytes: 1-based, in characters."""
    start = source.rfind(b"\n", 0, byte) + 1
    return len(source[start:byte].decode("utf-8", "replace")) + 1


def relative(path: Path, project: Path) -> str:
    """A path as the database writes it; the whole path for a file outside the project."""
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(project))
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else real.as_posix()
