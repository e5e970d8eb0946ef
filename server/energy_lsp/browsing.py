"""Pages of what is not open: files on disk, read in the worker between the jobs for what is."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.files import path_of
from energy_lsp.making import make_notebook_pages, make_page
from energy_lsp.worker import BACKGROUND

if TYPE_CHECKING:
    from energy_lsp.client import Client
    from energy_lsp.folders import Folder
    from energy_lsp.pages import Page
    from energy_lsp.server import EnergyServer

logger = logging.getLogger(__name__)


async def pages_of(ls: EnergyServer, uri: str | None) -> AsyncIterator[Page]:
    """The pages of a file or notebook, open or not; of the whole workspace for no URI."""
    if uri is None:
        async for page in workspace_pages(ls):
            yield page
        return
    if ls.files.get(uri) is not None:
        for page in await ls.files.pages(uri):
            yield page
    elif path := path_of(uri):
        for page in await _read(ls, ls.folders.of(path), path):
            yield page


async def workspace_pages(ls: EnergyServer) -> AsyncIterator[Page]:
    """The pages of all files: those that are open as they are in the editor, the others as on disk."""
    seen = set()
    for opened in list(ls.files):
        seen.add(opened.path)
        for page in await ls.files.pages(opened.uri):
            yield page
    for folder in ls.folders.roots:
        for path in await ls.worker.run(("files", folder.root), folder.files):
            if path not in seen:
                seen.add(path)
                for page in await _read(ls, folder, path):
                    yield page


async def _read(ls: EnergyServer, folder: Folder, path: Path) -> list[Page]:
    job = ("read", path, id(asyncio.current_task()))
    pages: list[Page] = await ls.worker.run(job, lambda: pages_on_disk(folder, path, ls.client), BACKGROUND)
    return pages


def pages_on_disk(folder: Folder, path: Path, client: Client) -> list[Page]:
    """The pages of a file; none when it cannot be read."""
    try:
        return read_pages(folder, path, client)
    except Exception as problem:
        logger.warning("%s could not be read: %s", path, problem)
        return []


def read_pages(folder: Folder, path: Path, client: Client) -> list[Page]:
    """The pages of a file or notebook as it is on disk. Raises what reading it raises."""
    from energy_code.document import Document

    if path.suffix == ".ipynb":
        return make_notebook_pages(path, folder, client)
    document = Document(path.read_bytes(), path=path, project=folder.project)
    return [make_page(path.as_uri(), path, document, folder, client, None)]
