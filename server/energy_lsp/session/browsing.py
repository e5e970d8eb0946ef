"""Pages for questions about a file that may not be open: those are read in the worker, between the jobs for what is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from energy_lsp.presentation.pipeline import pages_on_disk
from energy_lsp.session.open_files import path_of
from energy_lsp.session.worker import BACKGROUND

if TYPE_CHECKING:
    from energy_lsp.presentation.file_report import FileReport
    from energy_lsp.session.server import EnergyServer


async def pages_of(ls: EnergyServer, uri: str) -> list[FileReport]:
    """The pages of a file or notebook, open or not."""
    if ls.files.get(uri) is not None:
        return await ls.files.pages(uri)
    if (path := path_of(uri)) is None:
        return []
    folder = ls.folders.of(path)
    job = partial(pages_on_disk, folder, path, ls.client)
    pages: list[FileReport] = await ls.worker.run(job, BACKGROUND)
    return pages


async def open_pages(ls: EnergyServer) -> list[FileReport]:
    """The pages of all that is open."""
    return [page for opened in list(ls.files) for page in await ls.files.pages(opened.uri)]
