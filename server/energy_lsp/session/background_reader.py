"""Reading many files that are not open: in a process of its own, which takes what it read with it when it ends.

In the server's own process thousands of files would share the interpreter with the editor's questions, and stay in
memory. The process gets an order on its standard input and tells a line of JSON for each text.
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

from energy_lsp.presentation.pipeline import pages_on_disk
from energy_lsp.session.client import Client
from energy_lsp.session.folders import Folder
from energy_lsp.session.settings import Settings
from energy_lsp.session.worker import BACKGROUND

if TYPE_CHECKING:
    from energy_lsp.presentation.file_report import FileReport
    from energy_lsp.session.server import EnergyServer

logger = logging.getLogger(__name__)

READ = "import sys; sys.path[:1] = []; from energy_lsp.session.background_reader import main; main()"
FEW = 50
"""Up to this many files are read in the worker; a process would take longer to start."""
PORTION = 50
"""After so many files the process forgets what it has read of the project."""
LONGEST_LINE = 1 << 28
POLITENESS = 10
"""The process lets the editor and what the user runs go first."""

What = Literal["diagnostics", "summary"]
EncodedDiagnostics = list[Any]
"""What is told of one text: plain JSON."""


@dataclass(frozen=True)
class Order:
    """What to read, for whom, and what to tell of it."""

    what: What
    root: Path
    trusted: bool
    settings: Settings
    client: Client
    paths: Sequence[Path]


async def read(
    ls: EnergyServer, folder: Folder, paths: Sequence[Path], what: What
) -> AsyncIterator[tuple[Path, list[EncodedDiagnostics]]]:
    """What is told of each file, in their order: a text for a Python file, one for each cell of a notebook."""
    if len(paths) > FEW:
        order = Order(what, folder.root, folder.trusted, folder.settings, ls.client, paths)
        async for path, told in _read_apart(order, folder):
            yield path, told
        return
    if paths:
        await ls.worker.run(partial(know_importers, folder), BACKGROUND)
    for path in paths:
        job = partial(_tell_all, TELLING[what], folder, path, ls.client)
        yield path, await ls.worker.run(job, BACKGROUND)


def know_importers(folder: Folder) -> None:
    """Who imports whom decides what functions are given, so that it has to be known before files are read."""
    if not folder.project.indexed:
        folder.project.index()


async def _read_apart(order: Order, folder: Folder) -> AsyncIterator[tuple[Path, list[EncodedDiagnostics]]]:
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
            problems, told = json.loads(line)
            folder.tell(problems)
            yield path, told
    finally:
        process.stdin.close()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def main() -> None:
    """The process: read an order, tell a line for each file."""
    order: Order = pickle.load(sys.stdin.buffer)
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as out:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        if hasattr(os, "nice"):
            os.nice(POLITENESS)
        with suppress(BrokenPipeError):  # nobody wants to know any more
            for line in follow(order):
                print(line, file=out, flush=True)


def follow(order: Order) -> Iterator[str]:
    """A line for each file of an order: what is wrong with the database or a rule, and what is told of the texts."""
    folder = Folder(order.root, order.trusted, settings=order.settings)
    folder.project.index()
    paths = iter(order.paths)
    while portion := list(islice(paths, PORTION)):
        for path in portion:
            told = _tell_all(TELLING[order.what], folder, path, order.client)
            problems, folder.problems = folder.problems, []
            yield json.dumps([problems, told])
        folder.project.forget()


def _tell_all(
    tell: Callable[[FileReport], EncodedDiagnostics], folder: Folder, path: Path, client: Client
) -> list[EncodedDiagnostics]:
    return [tell(page) for page in pages_on_disk(folder, path, client)]


def tell_diagnostics(page: FileReport) -> EncodedDiagnostics:
    """URI, result and diagnostics, these as JSON already."""
    return [page.uri, page.result_id, page.encoded]


def tell_summary(page: FileReport) -> EncodedDiagnostics:
    """The sum, and what the summary says of the text."""
    from energy_lsp.features.summary import file_summary

    return [page.account.as_json(), file_summary(page)]


TELLING: dict[What, Callable[[FileReport], EncodedDiagnostics]] = {
    "diagnostics": tell_diagnostics,
    "summary": tell_summary,
}
