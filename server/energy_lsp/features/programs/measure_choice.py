"""What a client chose to measure: which programs, with which arguments and interpreter, and how often."""

from __future__ import annotations

import shlex
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
    variables: tuple[tuple[str, str], ...] = ()
    """Of the program's environment."""

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
            _variables(argument.get("environment") or {}),
        )

    @property
    def environment(self) -> list[str]:
        """The options that give a program its variables."""
        return [word for name, value in self.variables for word in ("--env", f"{name}={value}")]

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
        command += self.environment
        for entry in self.entries:
            command += ["--entry", entry]
        return [*command, *further, *(["--", *self.arguments] if self.arguments else [])]


def shown(arguments: Sequence[str]) -> str:
    """A command for a log: the values of variables, which may be secret, are left out."""
    words = [
        word.partition("=")[0] + "=…" if before == "--env" else word
        for before, word in zip(["", *arguments], arguments, strict=False)
    ]
    return shlex.join(["energy-lsp", *words])


def _variables(given: object) -> tuple[tuple[str, str], ...]:
    if isinstance(given, dict) and all(_is_variable(name, value) for name, value in given.items()):
        return tuple(given.items())
    raise MeasureProblem("`environment` maps names of letters, digits and underscores to texts.")


def _is_variable(name: object, value: object) -> bool:
    named = isinstance(name, str) and name.isascii() and name.isidentifier()
    return named and isinstance(value, str) and "\0" not in value


def _texts(argument: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = argument.get(name) or ()
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
        raise MeasureProblem(f"`{name}` must be a list of texts.")
    return tuple(given)
