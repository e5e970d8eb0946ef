"""The index of a workspace, who imports whom: read by a process of its own, taken up by the server."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import TYPE_CHECKING

from energy_lsp.session.worker import BACKGROUND

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer
    from energy_lsp.workspace.folders import Folder

logger = logging.getLogger(__name__)

INDEX = (
    "import sys; sys.path[:1] = []; from pathlib import Path; from energy_code.workspace.project import Project; "
    "Project(Path(sys.argv[1])).index()"
)
FEW = 50
"""Up to this many files are read in the worker; a process would take longer to start."""


async def index(ls: EnergyServer, folder: Folder) -> None:
    """Index a folder and show open files anew: callers in other files decide what runs in a graph."""
    files = await ls.worker.run(folder.files, BACKGROUND)
    ls.set_state("indexing")
    try:
        if len(files) > FEW:
            await _index_apart(folder)
        await ls.worker.run(folder.project().index, BACKGROUND)
    finally:
        ls.set_state("ready" if ls.measurement is None else "measuring")
    ls.files.refresh(one for one in ls.files if one.folder is folder)


async def _index_apart(folder: Folder) -> None:
    """Fill the index on disk; the server then finds it up to date."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        INDEX,
        str(folder.root),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
