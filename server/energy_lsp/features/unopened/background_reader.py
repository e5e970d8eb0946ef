"""Reading many files that are not open: in a process of its own, which takes what it read with it when it ends.

In the server's own process thousands of files would share the interpreter with the editor's questions, and stay in
memory. The process gets an order on its standard input and writes a line of JSON for each text.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from energy_lsp.features.summary import file_summary
from energy_lsp.presentation.pipeline import reports_on_disk
from energy_lsp.session.worker import BACKGROUND
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folder
from energy_lsp.workspace.settings import Settings

if TYPE_CHECKING:
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.session.server import EnergyServer

logger = logging.getLogger(__name__)

READ = (
    "import sys; sys.path[:1] = []; from energy_lsp.features.unopened.background_reader import main; main()"
)
FEW = 50
"""Up to this many files are read in the worker; a process would take longer to start."""
PORTION = 50
"""After so many files the process forgets what it has read of the project."""
MOST_TRIES = 3
"""How often a file is begun that takes long while open ones are edited."""
LONGEST_LINE = 1 << 28
POLITENESS = 10
"""The process lets the editor and what the user runs go first."""

What = Literal["diagnostics", "summary"]
TextSummary = list[Any]
"""What is written of one text: plain JSON."""


@dataclass(frozen=True)
class ReadingOrder:
    """What to read, for whom, and what to write of it."""

    what: What
    root: Path
    trusted: bool
    settings: Settings
    client: Client
    paths: Sequence[Path]


async def read(
    ls: EnergyServer, folder: Folder, paths: Sequence[Path], what: What
) -> AsyncIterator[tuple[Path, list[TextSummary]]]:
    """What is written of each file, in their order: a text for a Python file, one for each cell of a notebook."""
    if len(paths) > FEW:
        order = ReadingOrder(what, folder.root, folder.trusted, folder.settings, ls.client, paths)
        async for path, texts in _read_apart(order, folder):
            yield path, texts
        return
    if paths:
        await ls.worker.run(partial(know_importers, folder), BACKGROUND)
    for path in paths:
        job = partial(_write_all, WRITERS[what], folder, path, ls.client)
        texts = await ls.worker.run(job, BACKGROUND)
        for _ in range(MOST_TRIES - 1):  # what was broken off for an open file is read again behind it
            if not await ls.worker.run(partial(folder.project().forget_unfinished, path), BACKGROUND):
                break
            texts = await ls.worker.run(job, BACKGROUND)
        yield path, texts


def know_importers(folder: Folder) -> None:
    """Who imports whom decides what functions are given, so that it has to be known before files are read."""
    if not folder.project().indexed:
        folder.project().index()


async def _read_apart(order: ReadingOrder, folder: Folder) -> AsyncIterator[tuple[Path, list[TextSummary]]]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        READ,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(pickle.dumps(order))
        with suppress(ConnectionError):
            await process.stdin.drain()
        for path in order.paths:
            line = await process.stdout.readline()
            if not line:
                logger.warning("Reading %s ended at %s", order.root, path)
                break
            problems, texts = json.loads(line)
            folder.notify(problems)
            yield path, texts
    finally:
        process.stdin.close()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def main() -> None:
    """The process: read an order, write a line for each file."""
    order: ReadingOrder = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        if hasattr(os, "nice"):
            os.nice(POLITENESS)
        with suppress(BrokenPipeError):  # nobody wants to know any more
            for line in follow(order):
                print(line, file=out, flush=True)


def follow(order: ReadingOrder) -> Iterator[str]:
    """A line for each file of an order: what is wrong with the database or a rule, and what is written of the texts."""
    folder = Folder(order.root, order.trusted, settings=order.settings)
    folder.project().index()
    paths = iter(order.paths)
    while portion := list(islice(paths, PORTION)):
        for path in portion:
            texts = _write_all(WRITERS[order.what], folder, path, order.client)
            problems, folder.problems = folder.problems, []
            yield json.dumps([problems, texts])
        folder.project().forget()


def _write_all(
    write: Callable[[FileReport], TextSummary], folder: Folder, path: Path, client: Client
) -> list[TextSummary]:
    return [write(report) for report in reports_on_disk(folder, path, client)]


def write_diagnostics(report: FileReport) -> TextSummary:
    """URI, result and diagnostics, these as JSON already."""
    from energy_lsp.presentation.reports.diagnostics import encoded_diagnostics  # not for summaries

    items, result = encoded_diagnostics(report)
    return [report.uri, result, items]


def write_summary(report: FileReport) -> TextSummary:
    """The sum, and what the summary says of the text."""
    return [report.account().as_json(), file_summary(report)]


WRITERS: dict[What, Callable[[FileReport], TextSummary]] = {
    "diagnostics": write_diagnostics,
    "summary": write_summary,
}
