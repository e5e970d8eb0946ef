"""Pages for questions about a file that may not be open: those are read in the worker, between the jobs for what is."""

from __future__ import annotations

import logging
from functools import partial
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


async def pages_of(ls: EnergyServer, uri: str) -> list[Page]:
    """The pages of a file or notebook, open or not."""
    if ls.files.get(uri) is not None:
        return await ls.files.pages(uri)
    if (path := path_of(uri)) is None:
        return []
    folder = ls.folders.of(path)
    job = partial(pages_on_disk, folder, path, ls.client)
    pages: list[Page] = await ls.worker.run(("read", path, object()), job, BACKGROUND)
    return pages


async def open_pages(ls: EnergyServer) -> list[Page]:
    """The pages of all that is open."""
    return [page for opened in list(ls.files) for page in await ls.files.pages(opened.uri)]


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
