from __future__ import annotations

from pathlib import Path

import pytest

from energy_code.rules import Edit
from energy_code.text.lines import Lines
from energy_lsp.presentation.reports.edits import applied, combine, ignore_edit
from energy_lsp.presentation.reports.file import FileReport
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folder, Folders, matches


def report(text: str) -> FileReport:
    return FileReport("file:///a.py", "file:///a.py", 1, Lines(text.encode()), Client(), Folder(Path("/")))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a = 1\nb = 2\n", "a = 1\nb = 2  # energy: ignore[pow2]\n"),
        ("a = 1\r\nb = 2   \r\n", "a = 1\r\nb = 2  # energy: ignore[pow2]\r\n"),
        ("a\nb  # energy: ignore[l2-loss]", "a\nb  # energy: ignore[l2-loss, pow2]"),
        ("a\nb  # energy: ignore[]\n", "a\nb  # energy: ignore[pow2]\n"),
        ("a\né", "a\né  # energy: ignore[pow2]"),
    ],
)
def test_a_rule_is_ignored_by_a_comment(text: str, after: str) -> None:
    one = report(text)
    assert applied(one, [ignore_edit(one, 1, "pow2")]).decode() == after


def test_fixes_that_overlap_wait_for_another_round() -> None:
    first, inside, later = Edit(0, 10, "x"), Edit(3, 5, "y"), Edit(10, 12, "z")
    assert combine([[first], [inside], [later]]) == [first, later]


def test_an_import_that_two_fixes_need_is_added_once() -> None:
    imported = Edit(0, 0, "import x\n")
    assert combine([[imported, Edit(5, 6, "a")], [imported, Edit(8, 9, "b")]]) == [
        imported,
        Edit(5, 6, "a"),
        Edit(8, 9, "b"),
    ]


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("old/a.py", "old/**", True),
        ("old/deep/a.py", "old", True),
        ("older/a.py", "old", False),
        ("src/test_a.py", "*/test_*.py", True),
        ("a.py", "b.py", False),
    ],
)
def test_patterns_leave_files_out(path: str, pattern: str, expected: bool) -> None:
    assert matches(path, pattern) is expected


def test_a_file_belongs_to_the_innermost_folder(tmp_path: Path) -> None:
    inner = tmp_path / "packages" / "one"
    inner.mkdir(parents=True)
    folders = Folders({})
    outer_folder, inner_folder = folders.add(tmp_path), folders.add(inner)
    assert folders.of(inner / "a.py") is inner_folder
    assert folders.of(tmp_path / "a.py") is outer_folder
    assert folders.of(inner) is inner_folder  # measuring a whole workspace asks for its root
    folders.remove(inner)
    assert folders.of(inner / "a.py") is outer_folder
