"""Diagnostics, pulled where the client can and pushed otherwise, never both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.browsing import workspace_pages
from energy_lsp.diagnosis import SOURCE

if TYPE_CHECKING:
    from energy_lsp.files import Opened
    from energy_lsp.pages import Page
    from energy_lsp.server import EnergyServer


def register(server: EnergyServer) -> None:
    """Offer pulled diagnostics; `EnergyServer.begin` takes them back where the client cannot pull."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier=SOURCE),
    )
    async def pull(
        ls: EnergyServer, params: types.DocumentDiagnosticParams
    ) -> types.DocumentDiagnosticReport:
        page = await ls.files.page(params.text_document.uri)
        if page is None:
            return types.RelatedFullDocumentDiagnosticReport(items=[])
        if params.previous_result_id == page.result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=page.result_id)
        return types.RelatedFullDocumentDiagnosticReport(items=page.diagnostics, result_id=page.result_id)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def pull_workspace(
        ls: EnergyServer, params: types.WorkspaceDiagnosticParams
    ) -> types.WorkspaceDiagnosticReport:
        previous = {one.uri: one.value for one in params.previous_result_ids}
        return types.WorkspaceDiagnosticReport([_report(page, previous) async for page in pages_for(ls)])


async def pages_for(ls: EnergyServer) -> AsyncIterator[Page]:
    """All files where some folder wants that, else the open ones."""
    if any(folder.settings.workspace_diagnostics for folder in ls.folders.roots):
        async for page in workspace_pages(ls):
            yield page
    else:
        for opened in list(ls.files):
            for page in await ls.files.pages(opened.uri):
                yield page


def _report(page: Page, previous: dict[str, str]) -> types.WorkspaceDocumentDiagnosticReport:
    if previous.get(page.uri) == page.result_id:
        return types.WorkspaceUnchangedDocumentDiagnosticReport(
            uri=page.uri, version=page.version, result_id=page.result_id
        )
    return types.WorkspaceFullDocumentDiagnosticReport(
        uri=page.uri, version=page.version, items=page.diagnostics, result_id=page.result_id
    )


def push(ls: EnergyServer, opened: Opened) -> None:
    """Publish what changed, to a client that does not pull."""
    if ls.client.pulls_diagnostics:
        return
    for page in opened.pages.values():
        if ls.published.get(page.uri) != (page.result_id, page.version):
            ls.published[page.uri] = (page.result_id, page.version)
            ls.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(page.uri, page.diagnostics, page.version)
            )


def withdraw(ls: EnergyServer, uris: list[str]) -> None:
    """Clear what was published for texts that are no longer open."""
    for uri in uris:
        if ls.published.pop(uri, None) is not None:
            ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
