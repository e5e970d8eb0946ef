"""What a client chose to measure: which programs, with which arguments and interpreter, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy_measure.problems import MeasureProblem

if TYPE_CHECKING:
    from energy_lsp.workspace.folders import Folder

FULL_RUNS = "5"


@dataclass(frozen=True, slots=True)
class MeasureChoice:
    """All of it may be left out: then the settings say."""

    entries: tuple[str, ...] = ()
    """Programs of a folder, relative to it."""
    arguments: tuple[str, ...] = ()
    """Of the program."""
    python: str = ""
    how_often: str = ""
    """`quick`, `full`, or as the settings say."""
    inside: str = ""
    """`all` looks into every step."""
    create_environment: bool = False

    @classmethod
    def of(cls, argument: Mapping[str, Any]) -> MeasureChoice:
        """What a client sent. Raises MeasureProblem for what no choice can be."""
        how_often, inside = argument.get("howOften") or "", argument.get("inside") or ""
        if how_often not in ("", "quick", "full") or inside not in ("", "auto", "all", "off"):
            raise MeasureProblem("`howOften` is quick or full, and `inside` is auto, all or off.")
        return cls(
            _texts(argument, "entries"),
            _texts(argument, "arguments"),
            str(argument.get("python") or ""),
            how_often,
            inside,
            bool(argument.get("createEnvironment")),
        )

    def command(self, folder: Folder, target: Path) -> list[str]:
        """The arguments of `energy-lsp` that measure a file or folder."""
        settings = folder.settings
        command = ["measure", str(target), "--project", str(folder.root)]
        command += ["--format", "json", "--progress", "json", "--with-parent"]
        if folder.database is not None:
            command += ["--db", str(folder.database)]
        if python := self.python or settings.measure_python:
            command += ["--python", python]
        further: Sequence[str] = settings.measure_arguments
        if self.how_often:
            further = [one for one in further if one != "--quick"]
            command += ["--quick"] if self.how_often == "quick" else ["--repeat", FULL_RUNS]
        if self.inside:
            command += ["--inside", self.inside]
        if self.create_environment:
            command.append("--create-env")
        for entry in self.entries:
            command += ["--entry", entry]
        return [*command, *further, *(["--", *self.arguments] if self.arguments else [])]


def _texts(argument: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = argument.get(name) or ()
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
        raise MeasureProblem(f"`{name}` must be a list of texts.")
    return tuple(given)
