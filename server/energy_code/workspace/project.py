"""A workspace: its files as modules that import each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from energy_code.analysis.analysis import Analysis
from energy_code.incremental.engine import Engine
from energy_code.interpreter.domain.definitions import Module
from energy_code.interpreter.limits import MAX_IMPORTERS
from energy_code.workspace.document import Document
from energy_code.workspace.import_index import Each, ImportIndex, Progress, is_small, python_files, relative
from energy_code.workspace.notebook import Notebook, NotebookProblem
from energy_data.catalogue.catalogue import Catalogue
from energy_data.untrusted.reading import read_source, real

MOST_READ_ALONG = 50
"""How many files may stand around a single one for it to be asked which of them import it."""


class Project:
    """A folder of Python files; modules are read when something imports them, and open documents come first."""

    def __init__(self, root: Path, *, store: Path | None = None) -> None:
        self.root = real(root)
        self._index = ImportIndex(self.root, store=store)
        self._importers: dict[str, list[str]] | None = None
        self.named: set[Path] = set()
        """Files that somebody asked for by name, links followed: they may lie outside the root."""
        self.indexed = False
        """Whether it is known who imports whom."""
        self.forget()

    def forget(self) -> None:
        """Forget every file that was read; the index stays. For programs that read thousands once."""
        self.engine = Engine(Catalogue.load(), self.resolve, self.importers)
        self._documents: dict[Path, Document] = {}
        self._resolved: dict[str, Module | None] = {}
        self.stale: list[Document] = []
        """Documents that were edited since their modules were lowered."""

    # files ----------------------------------------------------------------------------------------------------

    def files(self) -> Iterator[Path]:
        """Python files and notebooks of the workspace."""
        return python_files(self.root)

    def index(self, progress: Progress | None = None, each: Each = map) -> ImportIndex:
        """Note who imports whom; what is on disk from an earlier start is used where files are unchanged."""
        if not self._index.entries:
            self._index.load()
        self._index.update(progress=progress, each=each)
        self._resolved = {name: module for name, module in self._resolved.items() if module is not None}
        self._importers = None
        self.indexed = True
        return self._index

    def importers(self, module: Module) -> list[Module]:
        """The modules that import this one, or a package that hands its names on, as far as the index knows."""
        if self._importers is None:
            self._importers = self._reverse()
        names = list(self._importers.get(module.name, ()))
        for name in names:  # grows meanwhile
            if name.endswith("__init__.py") and len(names) < MAX_IMPORTERS:
                users = self._importers.get(self.name_of(self.root / name)[0], ())
                names.extend(user for user in users if user not in names)
        found: list[Module] = []
        for name in names[:MAX_IMPORTERS]:
            document = self.document(self.root / name)
            if document is not None and document.module is not module:
                found.append(document.module)
        return found

    def importing(self, path: Path) -> set[Path]:
        """A file and all that import it, or import what does, as far as the index knows."""
        if self._importers is None:
            self._importers = self._reverse()
        found: set[Path] = set()
        waiting = [real(path)]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += [self.root / name for name in self._importers.get(self.name_of(one)[0], ())]
        return found

    def affected_by(self, paths: Iterable[Path]) -> set[Path]:
        """These files, all that import them, and what all of these import: where their change may mean something else.

        A function is known by what it is given, also when that was made in a third file.
        """
        if self._importers is None:
            self._importers = self._reverse()
        found: set[Path] = set()
        waiting = [real(path) for path in paths]
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting += [self.root / name for name in self._importers.get(self.name_of(path)[0], ())]
        names = {relative(path, self.root) for path in found}
        imported = (self.find(name) for name, by in self._importers.items() if not names.isdisjoint(by))
        return found | {path for path in imported if path is not None}

    def _reverse(self) -> dict[str, list[str]]:
        """Module name → files that import it."""
        result: dict[str, list[str]] = {}
        for name, entry in self._index.entries.items():
            module, is_package = self.name_of(self.root / name)
            here = Module(module, is_package)
            imports = [absolute(here, dotted) for dotted in entry.imports]
            if not self._src_is_package():
                imports = [dotted.removeprefix("src.") for dotted in imports]
            for imported in dict.fromkeys(imports):
                result.setdefault(imported, []).append(name)
        return result

    # modules --------------------------------------------------------------------------------------------------

    def name_of(self, path: Path) -> tuple[str, bool]:
        """The dotted name of a file, seen from the root or from `src`, and whether it is a package."""
        parts = list(Path(relative(path, self.root)).with_suffix("").parts)
        if path.is_absolute() and parts and parts[0] == path.anchor:
            parts = parts[-1:]
        if len(parts) > 1 and parts[0] == "src" and not self._src_is_package():
            parts = parts[1:]
        if parts[-1] == "__init__":
            return ".".join(parts[:-1]) or self.root.name, True
        return ".".join(parts), False

    def _src_is_package(self) -> bool:
        """True when `src` is not a folder of packages but one itself."""
        return (self.root / "src" / "__init__.py").is_file()

    def resolve(self, dotted: str, importer: Module | None = None) -> Module | None:
        """The module of the workspace that an import names; next to the importer counts too, as for scripts."""
        if dotted not in self._resolved:
            path = self.find(dotted)
            document = self._imported(path) if path is not None else None
            self._resolved[dotted] = document.module if document is not None else None
        found = self._resolved[dotted]
        if found is None and importer is not None and "." in importer.name:
            sibling = f"{importer.name.rpartition('.')[0]}.{dotted}"
            return self.resolve(sibling)
        return found

    def _imported(self, path: Path) -> Document | None:
        """The document of an imported file; an empty one for a package whose folder has no `__init__.py`."""
        document = self.document(path)
        if document is None and path.name == "__init__.py" and not path.exists():
            document = Document(b"", path=path, project=self)
            self.add(path, document)
        return document

    def find(self, dotted: str) -> Path | None:
        """The file of a dotted name."""
        parts = dotted.split(".")
        paths = [base.joinpath(*parts) for base in (self.root, self.root / "src")]
        if parts[0] == self.root.name:  # the root itself is the package, or `src` is
            paths += [base.joinpath(*parts[1:]) for base in (self.root, self.root / "src")]
        for path in paths:
            for candidate in (path.with_suffix(".py"), path / "__init__.py"):
                if candidate.is_file():
                    return candidate
            if path.is_dir() and next(path.glob("*.py"), None) is not None:
                return path / "__init__.py"  # a package without that file
        return None

    # documents ------------------------------------------------------------------------------------------------

    def open(self, path: Path, source: str | bytes) -> Document:
        """The document of a file that an editor holds; its text counts instead of the file's."""
        path = real(path)
        known = self._documents.get(path)
        if known is not None:
            known.replace(source)
            return known
        document = Document(source, path=path, project=self)
        self.add(path, document)
        self.engine.edited()  # imports may find it now
        return document

    def add(self, path: Path, document: Document) -> None:
        """Make a document the one of its file."""
        self._documents[path] = document
        self._resolved = {name: module for name, module in self._resolved.items() if module is not None}
        document.lower()

    def close(self, path: Path) -> None:
        """Forget an editor's text: the file on disk counts again, an empty one when it is gone."""
        document = self._documents.get(real(path))
        if document is not None:
            try:
                document.replace(self.read(path))
            except OSError:
                document.replace(b"")

    def refresh(self) -> None:
        """Bring the modules of edited documents up to date."""
        stale, self.stale = self.stale, []
        for document in stale:
            document.lower()

    def document(self, path: Path) -> Document | None:
        """The document of a file (of a notebook: its cells as one program); None when it cannot be read."""
        path = real(path)
        if path not in self._documents:
            try:
                data = self.read(path)
                if path.suffix == ".ipynb":
                    document = Notebook.read(data, path=path, project=self).document
                else:
                    document = Document(data, path=path, project=self)
            except (OSError, NotebookProblem):
                return None
            self.add(path, document)
        return self._documents[path]

    def on_disk(self, path: Path) -> Document:
        """The document of a file that no editor holds, with the text that it has now. Raises what reading it raises."""
        path = real(path)
        text = self.read(path)
        if path not in self._documents:
            self.add(path, Document(text, path=path, project=self))
        document = self._documents[path]
        document.replace(text)
        return document

    def forget_unfinished(self, path: Path) -> bool:
        """Forget what was read of a file if that was broken off for others, so that it can be read again; whether it was."""
        document = self._documents.get(real(path))
        if document is None or not document.gave_way:
            return False
        del self._documents[real(path)]
        self._resolved = {
            name: module for name, module in self._resolved.items() if module is not document.module
        }
        return True

    def read(self, path: Path) -> bytes:
        """The content of a file of the project, or of one that somebody named. Raises OSError for any other."""
        return read_source(path, within=None if real(path) in self.named else self.root)

    def analyse(self, path: Path) -> Analysis | None:
        """The analysis of a file; None when it cannot be read."""
        document = self.document(path)
        return document.analyse() if document is not None else None


def absolute(module: Module, dotted: str) -> str:
    """A dotted name as an import in `module` means it."""
    name = dotted.lstrip(".")
    level = len(dotted) - len(name)
    if not level:
        return name
    package = module.package(level)
    return f"{package}.{name}" if package and name else package or name


def project_of(path: Path) -> Project:
    """The project around a single file: its folder, or the folder above its packages.

    In a small one it is known who imports whom: the file is read as it is when the folder is given.
    """
    folder = real(path).parent
    while (folder / "__init__.py").exists() and folder.parent != folder:
        folder = folder.parent
    if folder.name == "src":  # the programs that use its packages stand beside it
        folder = folder.parent
    project = Project(folder)
    project.named.add(real(path))
    if is_small(folder, MOST_READ_ALONG):
        project.index()
    return project
