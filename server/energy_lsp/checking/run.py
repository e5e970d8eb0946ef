"""Checking many files on all cores."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from energy_data.database.measured_folders import MeasuredFolders
from energy_data.database.store import EnergyStore
from energy_data.paths import absolute
from energy_data.untrusted.reading import real
from energy_data.untrusted.writing import inside
from energy_lsp.checking.fixing import fix_file
from energy_lsp.checking.items import FileResult, result_of
from energy_lsp.presentation.pipeline import read_reports
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folder, matches

logger = logging.getLogger(__name__)

CLIENT = Client(encoding="utf-32")
"""A terminal counts columns in characters."""
CORES = os.cpu_count() or 1
FEW = 16
"""Up to this many files are not worth a second process."""
CHUNK = 50
"""The largest portion for a process; what it has read is forgotten after each."""
ENOUGH = 250
"""Files after which a process gives way to a new one: with it goes its garbage, and looking for that would take
as long as checking."""

Progress = Callable[[str, int, int], None]
"""Hears what is being done, to how many files it is, and how many there are."""


class CheckScope(NamedTuple):
    """What somebody named, and whether it is to be fixed."""

    named: tuple[Path, ...] = ()
    fix: bool = False


def kept(files: Sequence[Path], paths: Sequence[Path], options: Mapping[str, object]) -> list[Path]:
    """The files that no pattern excludes: of the settings relative to their project, of the command line also relative to
    where it runs and to the folders that it names, as outside of a repository every folder is a project of its own."""
    patterns = options.get("exclude", ())
    assert isinstance(patterns, tuple)
    bases = [Path.cwd(), *(absolute(path) for path in paths if path.is_dir())]
    return [
        file
        for file in files
        if not _folder_of(file, options).excludes(file)
        and not any(
            matches(file.relative_to(base).as_posix(), pattern)
            for base in bases
            if file.is_relative_to(base)
            for pattern in patterns
        )
    ]


def check_files(
    files: Sequence[Path], options: Mapping[str, object], scope: CheckScope, progress: Progress
) -> list[FileResult]:
    """Check all files; `progress` hears what is done, and how far."""
    if len(files) <= FEW:
        results = []
        for file in files:
            results.append(check_file(file, options, scope))
            progress("Checking", len(results), len(files))
        return results
    _index_all(files, options, progress)
    done: dict[Path, FileResult] = {}
    for part in _cut(files, CORES * ENOUGH):
        chunks = _cut(part, max(1, min(CHUNK, len(part) // (4 * CORES))))
        with ProcessPoolExecutor(min(CORES, len(chunks)), initializer=gc.disable) as pool:
            futures = {pool.submit(_check_chunk, chunk, options, scope): chunk for chunk in chunks}
            for future in as_completed(futures):
                with suppress(BrokenProcessPool):
                    done.update(zip(futures[future], future.result(), strict=True))
                progress("Checking", len(done), len(files))
        for file in part:
            if file not in done:  # a process ended: each file that is left gets one of its own
                done[file] = _check_apart(file, options, scope)
                progress("Checking", len(done), len(files))
    return [done[file] for file in files]


def _check_apart(file: Path, options: Mapping[str, object], scope: CheckScope) -> FileResult:
    """Check a file that may take the process with it that reads it."""
    with ProcessPoolExecutor(1, initializer=gc.disable) as pool:
        try:
            return pool.submit(check_file, file, options, scope).result()
        except BrokenProcessPool:
            return FileResult(shown_path(file), problem="could not be checked (its reader was ended)")


def _cut(files: Sequence[Path], size: int) -> list[Sequence[Path]]:
    return [files[start : start + size] for start in range(0, len(files), size)]


def _index_all(files: Sequence[Path], options: Mapping[str, object], progress: Progress) -> None:
    """Learn who imports whom, on all cores; the processes that check take it over."""
    with ProcessPoolExecutor(CORES) as pool:
        for folder in _folders(files, options):
            folder.project().index(partial(progress, "Indexing"), partial(pool.map, chunksize=CHUNK))


def _check_chunk(files: Sequence[Path], options: Mapping[str, object], scope: CheckScope) -> list[FileResult]:
    results = [check_file(file, options, scope) for file in files]
    for folder in _folders(files, options):
        folder.project().forget()
    return results


def check_file(path: Path, options: Mapping[str, object], scope: CheckScope) -> FileResult:
    """Check one file; what is wrong with the file itself is part of the result."""
    folder = _folder_of(path, options)
    name = shown_path(path)
    if folder.excludes(path):
        return FileResult(name)
    if not folder.project().indexed:
        folder.project().index()
    try:
        if path in scope.named:
            folder.project().named.add(real(path))
        if not scope.fix:
            return result_of(read_reports(folder, path, CLIENT), name, 0)
        target = _to_fix(path, scope, folder.root)
        why = "it leads out of the paths given, by a link"
        if target is not None:
            try:
                reports, fixed = fix_file(target, lambda: read_reports(folder, path, CLIENT))
                return result_of(reports, name, fixed)
            except OSError as problem:
                why = _reason(problem)
        found = result_of(read_reports(folder, path, CLIENT), name, 0)
        return replace(found, problem=f"was not fixed: {why}")
    except Exception as problem:
        logger.debug("Checking %s failed", path, exc_info=True)
        return FileResult(name, problem=f"could not be checked ({_reason(problem)})")


def _to_fix(path: Path, scope: CheckScope, project: Path) -> Path | None:
    """The file behind a path; None where it leads out of the paths given, or by a folder that is a link out of the project
    or of where the command runs."""
    target = inside(path, scope.named)
    out = any(
        path.is_relative_to(root) and not target.is_relative_to(real(root))
        for root in (project, Path.cwd())
        if target is not None
    )
    return None if out else target


def _folder_of(path: Path, options: Mapping[str, object]) -> Folder:
    """The project of a path; where nothing marks one, the folder of the program that it was measured in."""
    database = options.get("database")
    root = _measured_folders(str(database) if database else None).root_of(path)
    return _folder(root, tuple(sorted(options.items())))


@lru_cache(maxsize=1)
def _measured_folders(database: str | None) -> MeasuredFolders:
    store = EnergyStore.open(Path(database) if database else None, None, strict=False)
    try:
        return MeasuredFolders(store.measured_in_folders())
    finally:
        store.close()  # a forked process must not inherit it


@lru_cache(maxsize=64)
def _folder(root: Path, options: tuple[tuple[str, object], ...]) -> Folder:
    folder = Folder(root, command_line=dict(options))
    folder.configure()
    return folder


def problems_of(paths: Sequence[Path], options: Mapping[str, object]) -> list[str]:
    """What is wrong with the settings and databases of the projects that the paths lie in."""
    problems: list[str] = []
    for folder in _folders(paths, options):
        problems += folder.database_problems() + folder.problems
    return problems


def budget_of(paths: Sequence[Path], options: Mapping[str, object]) -> float:
    """The budget for everything checked together: the smallest that the projects set, 0 for none."""
    budgets = [folder.settings.budget for folder in _folders(paths, options)]
    return min((budget for budget in budgets if budget > 0), default=0.0)


def _folders(paths: Sequence[Path], options: Mapping[str, object]) -> list[Folder]:
    folders = [_folder_of(absolute(path), options) for path in paths]
    return list({folder.root: folder for folder in folders}.values())


def shown_path(path: Path) -> str:
    """A path relative to where the command runs, with forward slashes; as it is when it lies elsewhere."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def _reason(problem: Exception) -> str:
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)
