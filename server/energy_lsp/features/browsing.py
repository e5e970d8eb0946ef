"""Pages for questions about a file that may not be open: those are read in the worker, between the jobs for what is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from energy_lsp.presentation.pipeline import reports_on_disk
from energy_lsp.session.open_file import path_of
from energy_lsp.session.worker import BACKGROUND

if TYPE_CHECKING:
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.session.server import EnergyServer


async def reports_of(ls: EnergyServer, uri: str) -> list[FileReport]:
    """The reports of a file or notebook, open or not."""
    if ls.files.get(uri) is not None:
        return await ls.files.reports(uri)
    if (path := path_of(uri)) is None:
        return []
    folder = ls.folders.of(path)
    job = partial(reports_on_disk, folder, path, ls.client)
    reports: list[FileReport] = await ls.worker.run(job, BACKGROUND)
    return reports


async def open_reports(ls: EnergyServer) -> list[FileReport]:
    """The reports of all that is open."""
    return [report for opened in list(ls.files) for report in await ls.files.reports(opened.uri)]
