"""Workspace folders: each with its own settings, project index and view of the energy database."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from energy_lsp.workspace import settings
from energy_lsp.workspace.settings import Settings

if TYPE_CHECKING:
    from energy_code.model import Mode
    from energy_code.rule_engine.evidence.verdict import Verdict
    from energy_code.rules import Rule
    from energy_code.workspace.project import Project
    from energy_data.database.inside import FileInside
    from energy_data.database.store import EnergyStore
    from energy_data.model import Figure, MeasuredSite, RuleEvidence

logger = logging.getLogger(__name__)

T = TypeVar("T")

NO_DATABASE = Path(os.devnull) / "none"
"""A restricted workspace reads no database, its own neither: published figures alone."""


class ProgramEnergy(NamedTuple):
    """What one run of a program took."""

    joules: float
    """Net, all of it."""
    calls: Mapping[str, float]
    """By API, without what the calls spent on tracing, callbacks and reading data; empty where nobody noted it."""


class FolderCache:
    """What a folder has learnt from its databases, until they or the settings change."""

    def __init__(self) -> None:
        self.general: dict[str, Figure | None] = {}
        """What is known of each API wherever it is called."""
        self.with_shapes: frozenset[str] | None = None
        """The APIs of which calls with known shapes were measured somewhere; None before anybody asked."""
        self.sites: dict[str, Sequence[MeasuredSite]] = {}
        """The measured calls of each file."""
        self.verdicts: dict[tuple[str, Mode], Verdict] = {}
        """What measurements say of each rule that applied somewhere, in the mode it applied in."""
        self.programs: dict[str, ProgramEnergy | None] = {}
        """What the last run took of the program that each file was measured in."""
        self.inside: dict[str, FileInside | None] = {}
        """What is inside of the calls of each file, and which layers it creates."""


@dataclass
class Folder:
    """One project. The store and the index are opened on first use, in the worker's thread."""

    root: Path
    trusted: bool = True
    command_line: Mapping[str, object] = field(default_factory=dict)
    settings: Settings = settings.DEFAULTS
    problems: list[str] = field(default_factory=list)
    """Messages about options, the database and rules, waiting to be shown once."""
    _editor: dict[str, object] = field(default_factory=dict)
    _store: EnergyStore | None = None
    _seen: object = None
    """The database's state on disk when it was last looked at."""
    _project: Project | None = None
    _told: set[str] = field(default_factory=set)
    generation: int = 0
    """Grows when the database is read again."""
    _rules: Sequence[Rule] | None = None
    known: FolderCache = field(default_factory=FolderCache)
    _project_ids: Sequence[str] | None = None

    def configure(self, editor: Mapping[str, object] | None = None) -> bool:
        """Read the options again; True when they changed. `editor` is what the editor's section holds."""
        if editor is not None:
            self._editor, problems = settings.read(editor, "Editor settings")
            self.notify(problems)
        project: dict[str, object] = {}
        if self.trusted:
            project, problems = settings.read_pyproject(self.root)
            self.notify(problems)
        else:  # nothing of it is opened but sources, and nothing that its settings name
            self._editor = {
                name: value for name, value in self._editor.items() if name not in settings.OPENING
            }
        before, self.settings = self.settings, settings.combine(project, self._editor, self.command_line)
        self.known, self._rules = FolderCache(), None
        if before.database != self.settings.database:
            self._store = (
                None  # SQLite lets no other thread than the worker's close it; its last reference does
            )
        return before != self.settings

    def apart(self) -> Folder:
        """The same folder for a thread of its own: it shares nothing that changes."""
        return replace(
            self,
            problems=[],
            _store=None,
            _seen=None,
            _project=None,
            _told=set(self._told),
            known=FolderCache(),
        )

    def notify(self, problems: Iterable[str]) -> None:
        """Remember messages for the user; each is shown once."""
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                self.problems.append(problem)

    def rules(self) -> Sequence[Rule]:
        """The rules that the settings let look; names of none in the settings are told."""
        chosen = self._rules
        if chosen is None:
            from energy_code import rules

            selected, ignored = self.settings.select, self.settings.ignore
            self.notify(
                f"`{option}`: there is no rule `{name}`."
                for option, names in (("select", selected), ("ignore", ignored))
                for name in names
                if name not in rules.ALL
            )
            chosen = self._rules = [
                rule
                for name, rule in rules.ALL.items()
                if name not in ignored and (not selected or name in selected)
            ]
        return chosen

    def project(self) -> Project:
        """The index of the folder's Python files."""
        if self._project is None:
            from energy_code.workspace.project import Project

            self._project = Project(self.root)
        return self._project

    def store(self) -> EnergyStore:
        """The energy database as this folder sees it: own, team's and published figures."""
        if self._store is None:
            from energy_data.database.store import EnergyStore

            if self.trusted:
                store = EnergyStore.open(self.database, self.root, strict=False)
            else:
                store = EnergyStore.open(NO_DATABASE, None, strict=False)
            self._seen = store.stamp()
            self._store = store
            self.notify(store.problems)
        return self._store

    def database_problems(self) -> list[str]:
        """What is wrong with the databases; nothing stays open, as a forked process must not inherit it."""
        if not self.trusted:
            return []
        from energy_data.database.store import EnergyStore

        store = EnergyStore.open(self.database, self.root, strict=False)
        store.close()
        return store.problems

    @property
    def database(self) -> Path | None:
        """The database that the settings name; None for the usual one."""
        chosen = self.settings.database
        return self.root / Path(chosen).expanduser() if chosen else None

    def database_changed(self) -> bool:
        """True once for each change of the database on disk since it was opened."""
        if self._store is None:
            return False
        before, self._seen = self._seen, self._store.stamp()
        return before != self._seen

    def reopen(self) -> None:
        """Read the database again."""
        self.known = FolderCache()
        self.generation += 1
        if self._store is not None:
            self._store.reopen()
            self.notify(self._store.problems)

    def files(self) -> list[Path]:
        """The Python files and notebooks of the folder."""
        return [path for path in self.project().files() if not self.excludes(path)]

    def changed(self, path: Path) -> None:
        """A source file changed on disk, or its editor let go of it: the file counts as it is on disk."""
        if self._project is not None:
            self._project.close(path)

    def general(self, apis: Iterable[str]) -> Mapping[str, Figure | None]:
        """What is known of each API wherever it is called."""
        known = self.known.general
        for api in set(apis) - known.keys():
            known[api] = self._ask(api)
        return known

    def was_measured_with_shapes(self, api: str) -> bool:
        """Whether it is worth working out the shapes of a call: some call of its API was measured with known ones."""
        if self.known.with_shapes is None:
            nothing: frozenset[str] = frozenset()
            found = self._answered(lambda: frozenset(self.store().apis_with_shapes()), nothing)
            self.known.with_shapes = found
        return api in self.known.with_shapes

    def with_shapes(self, api: str, shapes: tuple[str, ...], *, often: bool = False) -> Figure | None:
        """What another call of an API took that was given the same shapes."""
        figure = self._answered(lambda: self.store().with_shapes(api, shapes, often=often), None)
        return None if figure is None or (figure.estimated and not self.settings.estimates) else figure

    def sites(self, path: Path | None) -> Sequence[MeasuredSite]:
        """The measured calls of a file, asked for once until the database changes."""
        file = self.relative(path)
        if file is None:
            return ()
        known = self.known.sites
        if file not in known:
            known[file] = self._answered(lambda: self.store().sites(file), ())
            if not self.settings.estimates:
                known[file] = [site for site in known[file] if not site.figure.estimated]
        return known[file]

    def _ask(self, api: str) -> Figure | None:
        """The store's answer, as far as the settings want to see it."""
        figure = self._answered(lambda: self.store().lookup(api), None)
        if figure is None or (figure.estimated and not self.settings.estimates):
            return None
        return None if figure.source == "published" and not self.settings.published else figure

    def _answered(self, question: Callable[[], T], otherwise: T) -> T:
        """An answer of the store; a row that cannot be read counts as nothing known."""
        try:
            answer = question()
        except Exception as problem:
            logger.exception("Asking the energy database failed")
            self.notify([f"The energy database could not be read for some calls ({type(problem).__name__})."])
            return otherwise
        if self.store().problems:
            self.notify(self.store().problems)
        return answer

    def evidence(self, rule: str) -> list[RuleEvidence]:
        """Measured comparisons for a rule."""
        try:
            return list(self.store().evidence(rule))
        except Exception as problem:
            logger.exception("Evidence for %s could not be read", rule)
            self.notify([f"The energy database could not be read for some rules ({problem})."])
            return []

    def program(self, path: Path | None) -> ProgramEnergy | None:
        """What the last run took in which a file's calls were measured."""
        file = self.relative(path)
        if file is None:
            return None
        known = self.known.programs
        if file not in known:
            runs = [site.run_id for site in self.sites(path) if site.figure.of_last_run]
            most = max(set(runs), key=runs.count, default=None)
            known[file] = None if most is None else self._answered(lambda: self._energy_of(most), None)
        return known[file]

    def _energy_of(self, run: str) -> ProgramEnergy | None:
        joules = self.store().run_joules(run)
        return None if joules is None else ProgramEnergy(joules, self.store().run_calls(run))

    def project_ids(self) -> Sequence[str]:
        """What the database knows the project by."""
        if self._project_ids is None:
            from energy_data.project_identity import project_ids

            self._project_ids = project_ids(self.root)
        return self._project_ids

    def inside(self, path: Path | None) -> FileInside | None:
        """What is inside of a file's calls, by this machine's own measurements."""
        file = self.relative(path)
        if file is None or not self.trusted:
            return None
        known = self.known.inside
        if file not in known:
            # The database is loaded here because an editor that shows no file needs none.
            from energy_data.database.inside import inside_of_file
            from energy_data.problems import DatabaseProblem
            from energy_data.project_identity import project_ids

            try:
                known[file] = inside_of_file(self.store().db, file, self.root, project_ids(self.root))
            except DatabaseProblem as problem:  # who asks for figures of its calls is told
                logger.debug("The inside of %s could not be read: %s", file, problem)
                known[file] = None
            except Exception:
                logger.exception("The inside of %s could not be read", file)
                known[file] = None
        found = known[file]
        return None if found is not None and found.estimated and not self.settings.estimates else found

    def relative(self, path: Path | None) -> str | None:
        """A path as the database writes it: relative to the project, with forward slashes."""
        if path is None:
            return None
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.as_posix()

    def address(self, file: str) -> str | None:
        """The URI of a Python file by its name in the database; None for one that is not of the project."""
        path = Path(file)
        if path.is_absolute() or ".." in path.parts or path.suffix != ".py":
            return None
        return (self.root / path).as_uri()

    def leaves_out(self, path: Path | None) -> frozenset[str]:
        """The rules that are not to be reported in a file; `*` stands for all."""
        if not self.settings.per_file_ignore or (relative := self.relative(path)) is None:
            return frozenset()
        entries = (entry.rpartition(":") for entry in self.settings.per_file_ignore)
        return frozenset(rule.strip() for pattern, _, rule in entries if matches(relative, pattern.strip()))

    def excludes(self, path: Path | None) -> bool:
        """True when the settings leave this file alone."""
        if not self.settings.exclude or (relative := self.relative(path)) is None:
            return False
        return any(matches(relative, pattern) for pattern in self.settings.exclude)


def matches(relative: str, pattern: str) -> bool:
    """True when a relative path, or a folder above it, matches a pattern."""
    from fnmatch import fnmatchcase

    pattern = pattern.rstrip("/").removesuffix("/**")
    parts = relative.split("/")
    return any(fnmatchcase("/".join(parts[: end + 1]), pattern) for end in range(len(parts)))


class Folders:
    """The workspace: several folders, or none for a client that opens single files."""

    def __init__(self, command_line: Mapping[str, object]) -> None:
        self._command_line = command_line
        self._folders: dict[Path, Folder] = {}
        self._loose: dict[Path, Folder] = {}
        self.trusted = True
        self.default_options: dict[str, object] = {}
        """The editor's options where it has none for a folder: what it began with, or those of single files."""

    def __iter__(self) -> Iterator[Folder]:
        return iter([*self._folders.values(), *self._loose.values()])

    @property
    def roots(self) -> list[Folder]:
        """The folders that the client opened."""
        return list(self._folders.values())

    def add(self, root: Path) -> Folder:
        """A folder joined the workspace."""
        folder = self._folders.get(root)
        if folder is not None:
            folder.configure()
            return folder
        folder = self._folders[root] = Folder(root, self.trusted, self._command_line)
        folder.configure(self.default_options)
        return folder

    def remove(self, root: Path) -> None:
        """A folder left the workspace."""
        self._folders.pop(root, None)

    def of(self, path: Path | None) -> Folder:
        """The innermost folder that holds a path, or is it; a file outside all of them gets its own project's."""
        if path is None:
            return next(iter(self._folders.values()), None) or self._loose_folder(Path.cwd())
        for holder in (path, *path.parents):
            if holder in self._folders:
                return self._folders[holder]
        return self._loose_folder(settings.project_root(path))

    def _loose_folder(self, root: Path) -> Folder:
        if root not in self._loose:
            self._loose[root] = Folder(root, self.trusted, self._command_line)
            self._loose[root].configure(self.default_options)
        return self._loose[root]
