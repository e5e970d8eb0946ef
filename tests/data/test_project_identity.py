"""Which project a folder is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from energy_data import project_identity
from energy_data.project_identity import project_id, project_ids


@pytest.fixture(autouse=True)
def own_salt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_identity, "salt_file", lambda: tmp_path / "data" / "salt")
    _as_a_new_process()


def _as_a_new_process() -> None:
    project_identity._salt.cache_clear()
    project_identity._project_ids.cache_clear()


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


def repository(folder: Path, text: str = "print(1)\n") -> Path:
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "main.py").write_text(text)
    git(folder, "add", "main.py")
    git(folder, "commit", "-qm", f"First of {folder.name}")
    return folder


def test_a_clone_is_the_same_project_whatever_came_later(tmp_path: Path) -> None:
    first = repository(tmp_path / "one")
    git(tmp_path, "clone", "-q", str(first), "two")
    git(first, "commit", "-q", "--allow-empty", "-m", "Later")
    assert project_id(first) == project_id(tmp_path / "two")


def test_other_repositories_and_projects_inside_of_one_are_other_projects(tmp_path: Path) -> None:
    first = repository(tmp_path / "one")
    (first / "inner").mkdir()
    other = repository(tmp_path / "other")
    assert len({project_id(first), project_id(first / "inner"), project_id(other)}) == 3


def test_a_folder_without_commits_is_known_by_where_it_lies(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    one, other = map(project_id, folders)
    assert one != other
    assert "a" not in one.removeprefix("folder-").split("/")
    _as_a_new_process()
    assert project_id(folders[0]) == one


def test_what_was_measured_before_the_first_commit_is_found_after_it(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    before = project_id(folder)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "First")
    _as_a_new_process()
    assert project_id(folder) != before
    assert before in project_ids(folder)


def test_a_part_of_the_history_has_no_first_commit(tmp_path: Path) -> None:
    first = repository(tmp_path / "one")
    git(first, "commit", "-q", "--allow-empty", "-m", "Later")
    git(tmp_path, "clone", "-q", "--depth", "1", first.as_uri(), "shallow")
    assert project_id(tmp_path / "shallow").startswith("folder-")


def test_without_a_place_for_the_salt_there_is_an_identity_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_identity, "salt_file", lambda: Path("/dev/null/salt"))
    assert project_id(tmp_path).startswith("folder-")
