"""Settings from the client, workspace folders, and files that change behind the editor's back."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from energy_lsp.features import indexing
from energy_lsp.session.open_file import path_of
from energy_lsp.workspace.settings import SECTION

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer
    from energy_lsp.workspace.folders import Folder

logger = logging.getLogger(__name__)

WATCHED = ("**/*.py", "**/*.ipynb", "**/pyproject.toml", "**/.energy/energy.db")


def register(server: EnergyServer) -> None:
    """Listen for changes of settings, folders and files."""

    @server.feature(types.INITIALIZED)
    async def initialized(ls: EnergyServer, params: types.InitializedParams) -> None:
        _register_watchers(ls)
        await ask_settings(ls)
        for folder in ls.folders.roots:
            ls.begin_task(indexing.index(ls, folder))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(ls: EnergyServer, params: types.DidChangeConfigurationParams) -> None:
        if ls.client.configuration:
            await ask_settings(ls)
            return
        section = params.settings.get(SECTION) if isinstance(params.settings, Mapping) else None
        if isinstance(section, Mapping):
            use_settings(ls, section)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_folders(ls: EnergyServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for gone in params.event.removed:
            if path := path_of(gone.uri):
                ls.folders.remove(path)
        for new in params.event.added:
            if path := path_of(new.uri):
                ls.begin_task(indexing.index(ls, ls.folders.add(path)))
        await ask_settings(ls)
        ls.files.rehome()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched(ls: EnergyServer, params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := path_of(change.uri))]
        if any(path.name == "pyproject.toml" for path in paths):
            use_settings(ls, None)
        if any(path.suffix == ".db" for path in paths):
            ls.look_at_databases()
        sources = [path for path in paths if path.suffix in (".py", ".ipynb")]
        if sources:
            ls.sources_changed(sources)


async def ask_settings(ls: EnergyServer) -> None:
    """Fetch each folder's settings from a client that keeps them by folder."""
    if not ls.client.configuration:
        use_settings(ls, None)
        return
    folders = ls.folders.roots
    items = [types.ConfigurationItem(folder.root.as_uri(), SECTION) for folder in folders]
    try:
        answers = await ls.workspace_configuration_async(
            types.ConfigurationParams(items or [types.ConfigurationItem(section=SECTION)])
        )
    except Exception as problem:
        logger.warning("The client gave no settings: %s", problem)
        return
    if folders:
        for folder, answer in zip(folders, answers, strict=False):
            use_settings(ls, _mapping(answer, ls.folders.default_options), [folder])
    else:
        first = answers[0] if answers else None
        ls.folders.default_options = dict(_mapping(first, ls.folders.default_options))
        use_settings(ls, ls.folders.default_options)


def use_settings(
    ls: EnergyServer, section: Mapping[str, Any] | None, folders: Iterable[Folder] | None = None
) -> None:
    """Read options again and, if any changed, show everything anew. No section: the editor's stay."""
    changed = [folder.configure(section) for folder in folders or ls.folders]
    ls.show_problems()
    if any(changed):
        ls.show_anew()


def _mapping(answer: object, default: Mapping[str, Any]) -> Mapping[str, Any]:
    """A client that has no such section answers null: what it began with holds."""
    return answer if isinstance(answer, Mapping) else default


def _register_watchers(ls: EnergyServer) -> None:
    registrations = []
    if ls.client.watches_files:
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        registrations.append(
            types.Registration(
                "energy-lsp files",
                types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                types.DidChangeWatchedFilesRegistrationOptions(watchers),
            )
        )
    if ls.client.registers_configuration:
        registrations.append(
            types.Registration(
                "energy-lsp settings",
                types.WORKSPACE_DID_CHANGE_CONFIGURATION,
                types.DidChangeConfigurationRegistrationOptions(section=SECTION),
            )
        )
    if registrations:
        ls.client_register_capability(types.RegistrationParams(registrations))
