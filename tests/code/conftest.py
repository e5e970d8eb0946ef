"""What the tests of the reader share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from energy_code.model import Call
from energy_code.workspace.document import Document
from energy_code.workspace.project import Project

Found = list[tuple[int, str]]


@pytest.fixture
def calls_of() -> Callable[[str], list[Call]]:
    """The calls of a program given as (indented) text."""

    def read(source: str) -> list[Call]:
        return list(Document(dedent(source)).analyse().calls())

    return read


@pytest.fixture
def apis_of(calls_of: Callable[[str], list[Call]]) -> Callable[[str], Found]:
    """(line, API) of every call of a program; lines count from 1 behind a leading line break."""

    def read(source: str) -> Found:
        return [(call.span.start.row, call.api) for call in calls_of("\n" + dedent(source).lstrip("\n"))]

    return read


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[[dict[str, str]], Project]:
    """A workspace made of files by path."""

    def make(files: dict[str, str]) -> Project:
        for name, text in files.items():
            path = tmp_path / "workspace" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text), encoding="utf-8")
        return Project(tmp_path / "workspace", store=tmp_path / "index.json")

    return make
