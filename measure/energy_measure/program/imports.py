"""What a program imports: files of its project, found from its source as Python would find them.

Beside the folder of the script Python looks where `PYTHONPATH` says and where the program puts into `sys.path`; an installed
project is found in its own folder or in `src`. What a program imports by a name that it makes up can be any of its files.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from energy_data.untrusted.reading import read_source

IMPORTERS = frozenset({"import_module", "__import__"})
LOADERS = frozenset({*IMPORTERS, "run_path", "run_module", "spec_from_file_location", "SourceFileLoader"})
"""What loads a module by a text."""
MOST_LEVELS = 6
"""Folders above a file that `sys.path` is looked for in."""


def reached_files(entry: Path, program: bytes | None = None, project: Path | None = None) -> list[Path]:
    """A script and the modules that it imports, directly or through others: beside it, and in its project if that is given.

    `program`: the text of a notebook's cells, which is then left out itself.
    """
    root = entry.parent
    found: dict[Path, None] = {entry: None} if program is None else {}
    searched = dict.fromkeys([root, *([] if project is None else _installed(project))])
    done: set[tuple[Path, Path]] = set()
    trees: dict[Path, ast.Module] = {}
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if path not in trees:
            own = path == entry and program is not None
            trees[path] = parse_text(program or b"", path) if own else parse(path)
            added = [] if project is None else list(_added(trees[path], path, root, project))
            if any(base not in searched for base in added):
                searched.update(dict.fromkeys(added))
                waiting += found  # what could not be found before may be there
        for base in dict.fromkeys((*searched, path.parent)):
            if (path, base) in done:
                continue
            done.add((path, base))
            for name in imported(trees[path], base, path):
                for candidate in _candidates(base, name):
                    if candidate not in found and candidate.is_file():
                        found[candidate] = None
                        waiting.append(candidate)
    return list(found)


def makes_up_names(path: Path, program: bytes | None = None) -> bool:
    """Whether a file (`program`: the cells of a notebook) imports by names that its source does not tell."""
    tree = parse(path) if program is None else parse_text(program, path)
    return any(
        isinstance(node, ast.Call)
        and (name := _name(node.func)) in LOADERS
        and not (name in IMPORTERS and node.args and isinstance(node.args[0], ast.Constant))
        for node in ast.walk(tree)
    )


def _candidates(base: Path, name: str) -> tuple[Path, ...]:
    if not name:
        return ()
    module = base.joinpath(*name.split("."))
    return module.with_suffix(".py"), module / "__init__.py"


def _installed(project: Path) -> Iterator[Path]:
    """Where an installed project, or `PYTHONPATH`, has modules of the project."""
    yield from (project, project / "src")
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if folder and Path(os.path.abspath(folder)).is_relative_to(project):
            yield Path(os.path.abspath(folder))


def _added(tree: ast.Module, path: Path, root: Path, project: Path) -> Iterator[Path]:
    """Folders of the project that a file may put into `sys.path`: its texts as a path, below it and what it lies in."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        holder = node.func.value
        if isinstance(holder, ast.Attribute) and holder.attr == "path" and _name(holder.value) == "sys":
            texts = [
                part.value
                for argument in node.args
                for part in ast.walk(argument)
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            above = [path.parent, *path.parent.parents[:MOST_LEVELS], root]
            for base in dict.fromkeys(above):
                folder = Path(os.path.normpath(base.joinpath(*texts)))
                if folder.is_relative_to(project) and folder.is_dir():
                    yield folder


def parse(path: Path) -> ast.Module:
    """The syntax tree of a file; an empty one if it has none."""
    try:
        return parse_text(read_source(path), path)
    except OSError:
        return ast.Module([], [])


def parse_text(text: bytes, path: Path) -> ast.Module:
    """The syntax tree of a text; an empty one if it has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the project's own string escapes
            return ast.parse(text, str(path))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def imported(tree: ast.Module, root: Path, path: Path) -> Iterable[str]:
    """Every dotted name that imports in a file may refer to."""
    package = path.relative_to(root).parent.parts if path.is_relative_to(root) else ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _prefixes(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from _prefixes(module)
            for alias in node.names:
                yield f"{module}.{alias.name}" if module else alias.name
        elif isinstance(node, ast.Call) and _name(node.func) in IMPORTERS:
            for text in node.args[:1]:
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield from _prefixes(text.value)


def _name(function: ast.expr) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _prefixes(name: str) -> Iterable[str]:
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])
