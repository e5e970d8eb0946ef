"""Checking many files on all cores."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from energy_data.untrusted.reading import real
from energy_data.untrusted.walking import walk
from energy_data.untrusted.writing import inside
from energy_lsp.checking.fixing import fix_file
from energy_lsp.checking.items import FileResult, result_of
from energy_lsp.presentation.pipeline import read_pages
from energy_lsp.session.client import Client
from energy_lsp.session.folders import Folder, matches
from energy_lsp.session.settings import project_root

logger = logging.getLogger(__name__)

CLIENT = Client(encoding="utf-32")
"""A terminal counts columns in characters."""
SKIPPED = frozenset(
    {".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", "build", "dist"}
)
SUFFIXES = frozenset({".py", ".ipynb"})
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


class Scope(NamedTuple):
    """What somebody named, and whether it is to be fixed."""

    named: tuple[Path, ...] = ()
    fix: bool = False


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Python files and notebooks at and below the paths, each once, in a stable order."""
    found: dict[Path, None] = {}
    for path in paths:
        for file in _walk(path) if path.is_dir() else [path]:
            found[file.absolute()] = None
    return list(found)


def kept(files: Sequence[Path], paths: Sequence[Path], options: Mapping[str, object]) -> list[Path]:
    """The files that no pattern excludes: of the settings relative to their project, of the command line also relative to
    where it runs and to the folders that it names, as outside of a repository every folder is a project of its own."""
    patterns = options.get("exclude", ())
    assert isinstance(patterns, tuple)
    bases = [Path.cwd(), *(path.absolute() for path in paths if path.is_dir())]
    return [
        file
        for file in files
        if not _folder(project_root(file), tuple(sorted(options.items()))).excludes(file)
        and not any(
            matches(file.relative_to(base).as_posix(), pattern)
            for base in bases
            if file.is_relative_to(base)
            for pattern in patterns
        )
    ]


def _walk(root: Path) -> Iterator[Path]:
    for folder, files in walk(root, lambda folder, name: name in SKIPPED or name.startswith(".")):
        for name in files:
            if os.path.splitext(name)[1] in SUFFIXES:
                yield folder / name


def check_files(
    files: Sequence[Path], options: Mapping[str, object], scope: Scope, progress: Progress
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
                done.update(zip(futures[future], future.result(), strict=True))
                progress("Checking", len(done), len(files))
    return [done[file] for file in files]


def _cut(files: Sequence[Path], size: int) -> list[Sequence[Path]]:
    return [files[start : start + size] for start in range(0, len(files), size)]


def _index_all(files: Sequence[Path], options: Mapping[str, object], progress: Progress) -> None:
    """Learn who imports whom, on all cores; the processes that check take it over."""
    with ProcessPoolExecutor(CORES) as pool:
        for folder in _folders(files, options):
            folder.project.index(partial(progress, "Indexing"), partial(pool.map, chunksize=CHUNK))


def _check_chunk(files: Sequence[Path], options: Mapping[str, object], scope: Scope) -> list[FileResult]:
    results = [check_file(file, options, scope) for file in files]
    for folder in _folders(files, options):
        folder.project.forget()
    return results


def check_file(path: Path, options: Mapping[str, object], scope: Scope) -> FileResult:
    """Check one file; what is wrong with the file itself is part of the result."""
    folder = _folder(project_root(path), tuple(sorted(options.items())))
    name = shown_path(path)
    if folder.excludes(path):
        return FileResult(name)
    if not folder.project.indexed:
        folder.project.index()
    try:
        if path in scope.named:
            folder.project.named.add(real(path))
        if not scope.fix:
            return result_of(read_pages(folder, path, CLIENT), name, 0)
        target = inside(path, scope.named)
        if target is None:
            found = result_of(read_pages(folder, path, CLIENT), name, 0)
            return replace(found, problem="was not fixed: it is a link that leads out of the paths given")
        pages, fixed = fix_file(target, lambda: read_pages(folder, path, CLIENT))
        return result_of(pages, name, fixed)
    except Exception as problem:
        logger.debug("Checking %s failed", path, exc_info=True)
        return FileResult(name, problem=f"could not be checked ({_reason(problem)})")


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
    roots = {project_root(path.absolute()): None for path in paths}
    return [_folder(root, tuple(sorted(options.items()))) for root in roots]


def shown_path(path: Path) -> str:
    """A path relative to where the command runs, with forward slashes; as it is when it lies elsewhere."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def _reason(problem: Exception) -> str:
    return (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)
