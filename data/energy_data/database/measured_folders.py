"""In which folder a file was measured, where nothing marks a project: that of the program that used it.

A program in `work/` that imports `work/models/net.py` is measured as the project `work`. Asked about the file alone, nobody
would know: without a repository, `work/models` is as good a project as any.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from energy_data.paths import is_marked, project_root
from energy_data.project_identity import folder_id


class MeasuredFolders:
    """Folders without a mark, known from what was measured in them."""

    def __init__(self, files: Mapping[tuple[str, str], str]) -> None:
        self._files = files
        """When each file was measured last, by the folder's identity and the file's name in it."""
        self._folders = {folder for folder, _ in files}

    def root_of(self, path: Path) -> Path:
        """The folder that a file was measured in last; of a file in a marked project, or never measured, as usual."""
        root = project_root(path)
        if not self._folders or is_marked(root):
            return root
        measured = [
            (when, folder)
            for folder in path.parents
            if (name := folder_id(folder)) in self._folders
            and (when := self._files.get((name, path.relative_to(folder).as_posix()))) is not None
        ]
        return max(measured)[1] if measured else root
