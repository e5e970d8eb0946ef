"""The call sites of a program and its instrumented sources."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import libcst

from energy_code.calls import Call, Span
from energy_code.notebook import Notebook, neutralised
from energy_code.project import Project
from energy_data.catalogue import Catalogue
from energy_measure.instrument import Target, instrument


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

    def specification(
        self, entry: Path, cwd: Path, arguments: Sequence[str], *, gpu: bool, marking: bool = False
    ) -> dict[str, Any]:
        """What `launch.py` needs to run one entry point, named as seen from the folder it runs in.

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
        }
        cells = self.cells.get(os.path.realpath(cwd / entry))
        return specification if cells is None else {**specification, "cells": cells}

    def add_file(self, path: Path, project: Project, root: Path) -> None:
        """Instrument one module or script."""
        document = project.document(path)
        if document is None:
            return
        file = relative(path, root)
        calls = [call for call in document.analysis.calls if not call.decorator]
        sites = [_site(call, file, f"{file}:{call.span.start.row + 1}") for call in calls]
        real = os.path.realpath(path)
        text = self._instrument(
            document.source.decode(), real, [(call.span, call.name) for call in calls], sites
        )
        if text is not None:
            self.sources[real] = text

    def add_notebook(self, path: Path, project: Project, root: Path) -> bytes:
        """Instrument the cells of a notebook, each by itself; gives the text of all of them."""
        notebook = Notebook.read(path.read_bytes(), path=path, project=project)
        file = relative(path, root)
        found: dict[int, list[tuple[tuple[Span, Span], CallSite]]] = {n: [] for n in notebook.numbers}
        for call in notebook.analysis.calls:
            if not call.decorator:
                cell, span = notebook.locate(call.span)
                place = f"{file} cell {cell + 1}:{span.start.row + 1}"
                name = notebook.locate(call.name)[1]
                found[cell].append(((span, name), _site(call, file, place)))
        cells = []
        for number, source in zip(notebook.numbers, notebook.sources, strict=True):
            text = neutralised(source).decode()
            spans, sites = [spans for spans, _ in found[number]], [site for _, site in found[number]]
            title = f"<{path.name} cell {number + 1}>"
            instrumented = self._instrument(text, title, spans, sites)
            cells.append({"name": title, "source": text, "instrumented": instrumented or text})
        self.cells[os.path.realpath(path)] = cells
        return notebook.document.source

    def note_syntax(self, path: Path, root: Path) -> None:
        """Note why a file in which no call was found cannot be parsed, if that is so."""
        try:
            libcst.parse_module(path.read_bytes())
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


def _site(call: Call, file: str, place: str) -> CallSite:
    entry = Catalogue.load().find(call.api)
    return CallSite(call.api, file, call.span.start.row + 1, entry is not None and entry.pure, place)


def relative(path: Path, project: Path) -> str:
    """A path as the database writes it; the whole path for a file outside the project."""
    real, root = Path(os.path.realpath(path)), Path(os.path.realpath(project))
    return real.relative_to(root).as_posix() if real.is_relative_to(root) else real.as_posix()
