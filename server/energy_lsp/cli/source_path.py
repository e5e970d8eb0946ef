"""Programs and folders that a command is given by name."""

from __future__ import annotations

import os
from typing import Any

import click

from energy_data.untrusted.printable import visible


class SourcePath(click.Path):
    """A program or a folder of them; a device or a pipe under that name would be read for ever."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, refused where it leads to something else."""
        path = super().convert(value, param, ctx)
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            self.fail(f"{visible(path)} is a device or a pipe: name a file or a folder.", param, ctx)
        return path
