"""Progress on standard error: a bar, lines, or JSON for editors."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from energy_lsp.terminal.countdown import EVERY_SECONDS, time_left
from energy_lsp.terminal.echo import echo, say

if TYPE_CHECKING:
    from energy_measure.session import Progress

Tell = Callable[["Progress"], None]
Announce = Callable[[str], None]


@contextmanager
def progress_display(kind: str, *, shared: bool) -> Iterator[tuple[Tell, Announce]]:
    """Show progress; `shared`: the program prints to standard error too, so a moving bar would be torn."""
    if kind == "json":
        yield _Json().tell, _announce_json
    elif kind == "none":
        yield (lambda progress: None), (lambda line: None)
    elif shared or not sys.stderr.isatty():
        yield _Lines().tell, _announce
    else:
        with _bar() as tell:
            yield tell, _announce


class _Lines:
    """One line for each stage, and one a minute within a long one."""

    def __init__(self) -> None:
        self.shown = ""
        self.last = 0.0

    def tell(self, progress: Progress) -> None:
        stage = progress.message.split(" (")[0]
        if stage != self.shown or time.monotonic() - self.last >= EVERY_SECONDS:
            self.shown, self.last = stage, time.monotonic()
            left = time_left(progress.seconds_left)
            # Of a program that never ran here nobody knows how far it is.
            echo(f"[{progress.fraction:4.0%}] {stage}, {left}" if left else f"[    ] {stage}", err=True)


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[left]}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=1.0, left="")

        def tell(progress: Progress) -> None:
            bar.update(
                task,
                description=progress.message,
                completed=progress.fraction,
                left=time_left(progress.seconds_left),
            )

        yield tell


def _announce(line: str) -> None:
    say(line, err=True)


class _Json:
    """An object a line, not more than one a second for one stage."""

    def __init__(self) -> None:
        self.shown = ""

    def tell(self, progress: Progress) -> None:
        left = time_left(progress.seconds_left)
        message = f"{progress.message}{', ' + left if left else ''}"
        if message == self.shown:
            return
        self.shown = message
        step = {
            "message": message,
            "percentage": round(100 * progress.fraction),
            "seconds_left": progress.seconds_left,
        }
        echo(json.dumps(step), err=True)


def _announce_json(line: str) -> None:
    echo(json.dumps({"message": line.strip(), "percentage": 0}), err=True)
