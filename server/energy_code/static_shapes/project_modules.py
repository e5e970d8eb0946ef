"""Finds the modules of a project that a program imports, on disk: beside it, and from the project's folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from energy_code.static_shapes.walking.modules import Find, ModuleSource
from energy_data.untrusted.reading import real

Read = Callable[[Path], bytes]


def finder(program: Path, root: Path, read: Read, name_of: Callable[[Path], str] = str) -> Find:
    """What finds the modules of a program; `name_of`: how files are named in what is found."""
    folders = list(dict.fromkeys([real(program).parent, real(root), real(root) / "src"]))
    files = {name_of(program): real(program)}
    known: dict[Path, ModuleSource | None] = {}

    def find(dotted: str, level: int, asking: str) -> ModuleSource | None:
        parts = [part for part in dotted.split(".") if part]
        starts = folders
        if level:
            file = files.get(asking)
            if file is None:
                return None
            start = file.parent
            for _ in range(level - 1):
                start = start.parent
            starts = [start]
        for start in starts:
            if not start.is_relative_to(folders[-2]) and start not in folders:
                continue
            base = start.joinpath(*parts)
            for path, package in ((base.with_name(base.name + ".py"), False), (base / "__init__.py", True)):
                source = _source(path, package)
                if source is not None:
                    return source
        return None

    def _source(path: Path, package: bool) -> ModuleSource | None:
        if path not in known:
            known[path] = None
            try:
                if path.is_file():
                    data = read(path)
                    name = name_of(path)
                    files[name] = real(path)
                    known[path] = ModuleSource(
                        data.decode("utf-8", errors="replace"), name, str(path), package
                    )
            except (OSError, ValueError):
                return None
        return known[path]

    return find
