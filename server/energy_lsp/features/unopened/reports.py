"""What is known of the files that are not open: reported as they are on disk, and kept until something changes there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from energy_lsp.features.unopened.background_reader import TextSummary, read
from energy_lsp.presentation.reports.file import EncodedDiagnostics
from energy_lsp.wire.encoding import Encoded

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer
    from energy_lsp.workspace.folders import Folder

Stamps = Mapping[Path, tuple[int, int]]
"""Files, and for each when it was written and how long it is."""


TextDiagnostics = tuple[str, EncodedDiagnostics]
"""The URI of a text and its diagnostics."""


class Reports:
    """The reports of one folder. Editors ask every few seconds: only what changed meanwhile is read again."""

    def __init__(self) -> None:
        self._basis: object = None
        self._stamps: Stamps = {}
        self._known: dict[Path, list[TextDiagnostics]] = {}

    async def newest(self, ls: EnergyServer, folder: Folder) -> Mapping[Path, list[TextDiagnostics]]:
        """The reports of all files of the folder as they are on disk."""
        stamps: Stamps = await ls.worker.run(partial(stamps_of, folder))
        basis = (folder.generation, folder.settings, ls.client)
        if basis != self._basis:
            wanted = list(stamps)
        elif stamps != self._stamps:
            opened = {one.path for one in ls.files}
            job = partial(affected_by, folder, self._stamps, stamps, opened)
            affected: set[Path] = await ls.worker.run(job)
            wanted = [path for path in stamps if path in affected]
        else:
            return self._known
        known = {path: self._known.get(path, []) for path in stamps}
        async for path, texts in read(ls, folder, wanted, "diagnostics"):
            known[path] = [(uri, EncodedDiagnostics(Encoded(items), result)) for uri, result, items in texts]
        self._basis, self._stamps, self._known = basis, stamps, known
        return known


def affected_by(folder: Folder, before: Stamps, now: Stamps, opened: Set[Path | None]) -> set[Path]:
    """Where the difference between two states of the disk may mean something else."""
    changed = [path for path in {**before, **now} if before.get(path) != now.get(path)]
    for path in changed:
        if path not in opened:
            folder.changed(path)
    affected = folder.project().affected_by(changed)
    folder.project().index()
    return affected | folder.project().affected_by(changed)


def stamps_of(folder: Folder) -> dict[Path, tuple[int, int]]:
    """The files of a folder with their state on disk; one that goes meanwhile is left out."""
    found = {}
    for path in folder.files():
        try:
            status = path.stat()
        except OSError:
            continue
        found[path] = (status.st_mtime_ns, status.st_size)
    return found


class UnopenedReports:
    """The reports of all folders of the workspace."""

    def __init__(self) -> None:
        self._of_folders: defaultdict[Path, Reports] = defaultdict(Reports)

    async def all_of(self, ls: EnergyServer) -> AsyncIterator[TextDiagnostics]:
        """The diagnostics of all files that are not open."""
        seen = {one.path for one in ls.files}
        for folder in ls.folders.roots:
            reports = await self._of_folders[folder.root].newest(ls, folder)
            for path in reports.keys() - seen:
                seen.add(path)
                for report in reports[path]:
                    yield report


async def unopened_summaries(ls: EnergyServer) -> AsyncIterator[TextSummary]:
    """The sums and summaries of all files of the workspace that are not open."""
    seen = {one.path for one in ls.files}
    for folder in ls.folders.roots:
        files: list[Path] = await ls.worker.run(folder.files)
        wanted = [path for path in files if path not in seen]
        seen.update(wanted)
        async for _, texts in read(ls, folder, wanted, "summary"):
            for summary in texts:
                yield summary
