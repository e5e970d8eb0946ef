"""Programs and folders that a command is given by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from energy_data.untrusted.printable import visible
from energy_data.untrusted.reading import NotRead, check_stored, largest_source


class SourcePath(click.Path):
    """A program or a folder of them; a device or a pipe under that name would be read for ever."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, refused where it leads to something else."""
        path = super().convert(value, param, ctx)
        if os.path.isfile(path):
            try:
                program = Path(os.fsdecode(path))
                check_stored(program, largest_source(program))
            except NotRead as problem:
                self.fail(f"{visible(path)} is not read: {problem.strerror}.", param, ctx)
            except OSError:
                pass  # who opens it says why it cannot be
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            self.fail(
                f"{visible(path)} is a device or a pipe, not a regular file: name a file or a folder.",
                param,
                ctx,
            )
        return path
