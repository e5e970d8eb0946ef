"""What to run in a project folder: scripts that nothing else imports and that reach TensorFlow."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from energy_code.model import Call
from energy_data.untrusted.reading import read_source
from energy_data.untrusted.walking import walk
from energy_measure.problems import MeasureProblem
from energy_measure.program.imports import imported, parse

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "env", "build", "dist"})
NOT_PROGRAMS = frozenset({"setup.py", "conftest.py", "noxfile.py", "__init__.py"})


@dataclass(frozen=True, slots=True)
class ModuleEntry:
    """What a file of the project says about how it is used."""

    path: Path
    has_main_block: bool
    imports: frozenset[Path]
    """Files of the project that it imports."""
    calls: bool
    """It calls an API somewhere."""
    calls_at_import: bool
    """It calls an API at its top level."""


def python_files(root: Path) -> list[Path]:
    """The Python files of a project, without environments and what tools have left."""
    return list(_files(root, ".py"))


def some_python_files(root: Path, most: int) -> list[Path]:
    """The same of a project that may be a whole disk: as many as may be looked at."""
    return list(islice(_files(root, ".py"), most))


def notebook_files(root: Path) -> list[Path]:
    """The notebooks of a project, in the same folders."""
    return list(_files(root, ".ipynb"))


def _files(root: Path, ending: str) -> Iterator[Path]:
    for folder, files in walk(root, _is_skipped):
        yield from (folder / name for name in files if name.endswith(ending))


def _is_skipped(folder: Path, name: str) -> bool:
    return name in SKIPPED_FOLDERS or name.startswith(".") or os.path.exists(folder / name / "pyvenv.cfg")


def is_empty(script: Path) -> bool:
    """Whether a script holds nothing but comments and blank lines."""
    lines = (line.strip() for line in read_source(script).splitlines())
    return all(not line or line.startswith(b"#") for line in lines)


def named_entry_points(root: Path, names: Iterable[str]) -> list[Path]:
    """Entry points that settings or the command line name, relative to the project or to where we are."""
    found = []
    for name in names:
        candidates = [path for path in (root / name, Path(name)) if path.is_file()]
        if not candidates:
            raise MeasureProblem(
                f"The entry point {name} is not a file in {root}; give --entry another path."
            )
        found.append(candidates[0])
    return found


def find_entry_points(
    root: Path, files: Sequence[Path], calls_of: Callable[[Path], Sequence[Call]]
) -> list[Path]:
    """Scripts with a main block or API calls at top level, imported by no other module, that reach an API."""
    modules = [module for path in files if (module := read_module(root, path, files, calls_of)) is not None]
    imported = {target for module in modules for target in module.imports if target != module.path}
    by_path = {module.path: module for module in modules}
    found = [
        module.path
        for module in modules
        if (module.has_main_block or module.calls_at_import)
        and module.path not in imported
        and not _is_no_program(module.path)
        and any(by_path[path].calls for path in _reached(module.path, by_path))
    ]
    if not found:
        raise MeasureProblem(
            f"No script in {root} calls TensorFlow from a main block or its top level; name one with --entry."
        )
    return sorted(found)


def read_module(
    root: Path, path: Path, files: Sequence[Path], calls_of: Callable[[Path], Sequence[Call]]
) -> ModuleEntry | None:
    """Read one file; None if it is empty or no Python."""
    tree = parse(path)
    if not tree.body:
        return None
    calls = calls_of(path)
    known = _names(root, path, files)
    return ModuleEntry(
        path=path,
        has_main_block=path.name == "__main__.py" or any(map(_is_main_block, tree.body)),
        imports=frozenset(known[name] for name in imported(tree, root, path) if name in known),
        calls=bool(calls),
        calls_at_import=any(call.function == "" for call in calls),
    )


def _is_no_program(path: Path) -> bool:
    return path.name in NOT_PROGRAMS or path.name.startswith("test_") or path.name.endswith("_test.py")


def _is_main_block(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If):
        return False
    names = {node.id for node in ast.walk(statement.test) if isinstance(node, ast.Name)}
    texts = {node.value for node in ast.walk(statement.test) if isinstance(node, ast.Constant)}
    return "__name__" in names and "__main__" in texts


def _names(root: Path, importer: Path, files: Sequence[Path]) -> dict[str, Path]:
    """Dotted names that import a file: from the root, from `src`, from the importer's own folder."""
    names: dict[str, Path] = {}
    for base in (root, root / "src", importer.parent):
        for path in files:
            if path.is_relative_to(base):
                parts = path.relative_to(base).with_suffix("").parts
                parts = parts[:-1] if parts[-1] == "__init__" else parts
                if parts:
                    names[".".join(parts)] = path
    return names


def _reached(start: Path, modules: dict[Path, ModuleEntry]) -> set[Path]:
    reached = {start}
    waiting = [start]
    while waiting:
        for path in modules[waiting.pop()].imports:
            if path in modules and path not in reached:
                reached.add(path)
                waiting.append(path)
    return reached
