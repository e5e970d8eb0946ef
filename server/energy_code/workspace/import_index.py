"""Which file of a workspace imports what, kept on disk so that a second start reads only what changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import platformdirs
import tree_sitter

from energy_code.process.budget import Budget, TooLongError
from energy_code.syntax.node_kinds import LANGUAGE
from energy_code.syntax.tree import parse
from energy_code.text.decoding import decode, encode, parseable
from energy_code.workspace.notebook import NotebookProblem, program_of
from energy_data.untrusted.reading import LARGEST_CACHE, check, read_bytes, read_source
from energy_data.untrusted.walking import walk
from energy_data.untrusted.writing import private_folder, write_file

FORMAT = 1
SKIPPED = frozenset(["node_modules", "__pycache__", "site-packages", "venv", "env", "build", "dist"])
SUFFIXES = (".py", ".ipynb")
IMPORTS = tree_sitter.Query(LANGUAGE, "[(import_statement) (import_from_statement)] @import")

Progress = Callable[[int, int], None]


class IndexedFile(NamedTuple):
    """One file: its state on disk, the hash of its content, and the dotted names it imports (dots for relative)."""

    mtime: int
    size: int
    digest: str
    imports: tuple[str, ...]

    def is_of(self, state: tuple[int, int]) -> bool:
        """Whether the file was written then, with so many bytes."""
        return (self.mtime, self.size) == state


Each = Callable[
    [
        Callable[[Path, "IndexedFile | None"], "IndexedFile | None"],
        Iterable[Path],
        Iterable["IndexedFile | None"],
    ],
    Iterable["IndexedFile | None"],
]
"""A way to call a function for each of many files."""


class ImportIndex:
    """The entries of a workspace by path relative to its root."""

    def __init__(self, root: Path, *, store: Path | None = None) -> None:
        self.root = root
        self.store = store if store is not None else default_store(root)
        self.entries: dict[str, IndexedFile] = {}
        self.read = 0
        """How many files the last update had to read."""

    def load(self) -> None:
        """Take up what an earlier start kept; a damaged or foreign file counts as none."""
        try:
            content = json.loads(read_bytes(self.store, LARGEST_CACHE))
            if content["format"] == FORMAT:
                self.entries = {
                    name: IndexedFile(mtime, size, digest, tuple(imports))
                    for name, (mtime, size, digest, imports) in content["files"].items()
                }
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.entries = {}

    def save(self) -> None:
        """Keep the entries; a cache that cannot be written is none."""
        content = {"format": FORMAT, "files": {name: list(entry) for name, entry in self.entries.items()}}
        try:
            private_folder(self.store.parent)
            write_file(self.store, json.dumps(content, separators=(",", ":")), private=True)
        except OSError:
            return

    def update(
        self, files: Iterable[Path] | None = None, progress: Progress | None = None, each: Each = map
    ) -> None:
        """Bring every entry up to date with the disk; `each` may be the `map` of several processes."""
        paths = list(files if files is not None else python_files(self.root))
        names = [relative(path, self.root) for path in paths]
        old, self.entries, self.read = self.entries, {}, 0
        known = [old.get(name) for name in names]
        made = each(partial(entry_of, self.root), paths, known)
        for done, (name, before, entry) in enumerate(zip(names, known, made, strict=True)):
            if entry is not None:
                self.entries[name] = entry
                self.read += before is None or not entry.is_of((before.mtime, before.size))
            if progress is not None and (done % 32 == 31 or done + 1 == len(paths)):
                progress(done + 1, len(paths))
        if self.entries != old:
            self.save()


def entry_of(root: Path, path: Path, known: IndexedFile | None) -> IndexedFile | None:
    """The entry of one file of a workspace; what is known stands while time, size or content are the same."""
    try:
        status = check(path)
        state = (status.st_mtime_ns, status.st_size)
        if known is not None and known.is_of(state):
            return known
        data = read_source(path, within=root)
    except OSError:
        return None
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    if known is not None and known.digest == digest:
        return IndexedFile(*state, digest, known.imports)
    return IndexedFile(*state, digest, imports_of(data, path.suffix))


def imports_of(data: bytes, suffix: str = ".py") -> tuple[str, ...]:
    """The dotted names a source imports: modules, and names taken from them, which may be modules too."""
    if b"import" not in data:
        return ()
    try:
        source = program_of(data) if suffix == ".ipynb" else parseable(encode(decode(data)))
    except NotebookProblem:
        return ()
    try:
        with Budget().reading():
            tree = parse(source)
    except TooLongError:
        return ()
    cursor = tree_sitter.QueryCursor(IMPORTS)
    found: dict[str, None] = {}
    for node in cursor.captures(tree.root_node).get("import", ()):
        text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        for name in imported_names(text):
            found[name] = None
    return tuple(found)


def imported_names(text: str) -> Iterator[str]:
    """The names in one import statement."""
    words = text.replace("(", " ").replace(")", " ").replace("\\", " ")
    words = "\n".join(line.partition("#")[0] for line in words.split("\n"))
    if words.startswith("from"):
        module, _, names = words[4:].partition(" import")
        module = "".join(module.split())
        yield module
        for name in names.split(","):
            first = name.split()[:1]
            if first and first[0] != "*":
                yield f"{module}{first[0]}" if module.endswith(".") else f"{module}.{first[0]}"
    else:
        for name in words[6:].split(","):
            first = name.split()[:1]
            if first:
                yield first[0]


def python_files(root: Path) -> Iterator[Path]:
    """Python files and notebooks of a folder, without hidden folders, environments, caches and installed packages."""
    for files in files_by_folder(root):
        yield from files


def files_by_folder(root: Path) -> Iterator[list[Path]]:
    """The same, folder by folder."""
    for folder, files in walk(root, is_skipped):
        yield [folder / name for name in files if name.endswith(SUFFIXES) and not name.startswith(".")]


def is_small(root: Path, most: int) -> bool:
    """True for a folder with at most so many Python files, and not many more folders, found out without reading on."""
    files = 0
    for folders, found in enumerate(files_by_folder(root)):
        files += len(found)
        if files > most or folders > 2 * most:
            return False
    return True


def is_skipped(folder: Path, name: str) -> bool:
    """True for folders that hold no code of the project."""
    return name.startswith(".") or name in SKIPPED or os.path.exists(folder / name / "pyvenv.cfg")


def relative(path: Path, root: Path) -> str:
    """The path as the index names it."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.as_posix()


def default_store(root: Path) -> Path:
    """Where the index of a workspace is kept."""
    name = hashlib.blake2b(str(root.resolve()).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Path(platformdirs.user_cache_dir("energy-lsp")) / "index" / f"{name}.json"
