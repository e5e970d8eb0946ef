"""A workspace: its files as modules that import each other."""

from __future__ import annotations

from pathlib import Path

from energy_code.analysis import Analysis
from energy_code.document import Document
from energy_code.engine import Engine
from energy_code.modules import Module
from energy_data.catalogue import Catalogue

SKIPPED = frozenset(["node_modules", "__pycache__", "site-packages", "venv", "env"])


class Project:
    """A folder of Python files; modules are read when something imports them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.engine = Engine(Catalogue.load(), self.resolve)
        self.documents: dict[Path, Document] = {}
        self.modules: dict[Path, Module] = {}
        self._resolved: dict[str, Module | None] = {}

    def module_of(self, path: Path | None) -> Module:
        """The module that a file is."""
        if path is None:
            return Module("__main__")
        if path not in self.modules:
            name, is_package = self.name_of(path)
            self.modules[path] = Module(name, is_package)
        return self.modules[path]

    def name_of(self, path: Path) -> tuple[str, bool]:
        """The dotted name of a file, seen from the root."""
        try:
            relative = path.resolve().relative_to(self.root.resolve())
        except ValueError:
            return path.stem, False
        parts = list(relative.with_suffix("").parts)
        if parts[-1] == "__init__":
            return ".".join(parts[:-1]) or "__init__", True
        return ".".join(parts), False

    def resolve(self, dotted: str) -> Module | None:
        """The module of the workspace that an import names."""
        if dotted not in self._resolved:
            self._resolved[dotted] = None
            path = self.find(dotted)
            if path is not None:
                document = self.document(path)
                self._resolved[dotted] = document.module if document is not None else None
        module = self._resolved[dotted]
        return module

    def find(self, dotted: str) -> Path | None:
        """The file of a dotted name, from the root or from a `src` folder."""
        parts = dotted.split(".")
        for base in (self.root, self.root / "src"):
            path = base.joinpath(*parts)
            for candidate in (path.with_suffix(".py"), path / "__init__.py"):
                if candidate.is_file():
                    return candidate
        return None

    def document(self, path: Path) -> Document | None:
        """The document of a file; None when it cannot be read."""
        if path not in self.documents:
            try:
                source = path.read_bytes()
            except OSError:
                return None
            document = self.documents[path] = Document(source, path=path, project=self)
            document.lower()
        return self.documents[path]

    def analyse(self, path: Path) -> Analysis | None:
        """The analysis of a file."""
        document = self.document(path)
        return document.analysis if document is not None else None
