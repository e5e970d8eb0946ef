"""Diagnostics, pulled where the client can and pushed otherwise, never both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.browsing import workspace_pages
from energy_lsp.diagnosis import SOURCE
from energy_lsp.encoding import Encoded, encoded, encoded_object

if TYPE_CHECKING:
    from energy_lsp.files import Opened
    from energy_lsp.pages import Page
    from energy_lsp.server import EnergyServer

FULL, UNCHANGED = Encoded('"full"'), Encoded('"unchanged"')


def register(server: EnergyServer) -> None:
    """Offer pulled diagnostics; `EnergyServer.begin` takes them back where the client cannot pull."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier=SOURCE),
    )
    async def pull(ls: EnergyServer, params: types.DocumentDiagnosticParams) -> Encoded:
        page = await ls.files.page(params.text_document.uri)
        if page is None:
            return encoded(types.RelatedFullDocumentDiagnosticReport(items=[]))
        return encoded_object(**_report(page, params.previous_result_id))

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def pull_workspace(ls: EnergyServer, params: types.WorkspaceDiagnosticParams) -> Encoded:
        previous = {one.uri: one.value for one in params.previous_result_ids}
        reports = [
            encoded_object(
                uri=encoded(page.uri),
                version=encoded(page.version),
                **_report(page, previous.get(page.uri)),
            )
            async for page in pages_for(ls)
        ]
        return encoded_object(items=Encoded("[" + ",".join(reports) + "]"))


async def pages_for(ls: EnergyServer) -> AsyncIterator[Page]:
    """All files where some folder wants that, else the open ones."""
    if any(folder.settings.workspace_diagnostics for folder in ls.folders.roots):
        async for page in workspace_pages(ls):
            yield page
    else:
        for opened in list(ls.files):
            for page in await ls.files.pages(opened.uri):
                yield page


def _report(page: Page, previous: str | None) -> dict[str, Encoded]:
    """What a client that last saw `previous` has to know."""
    if previous == page.result_id:
        return {"kind": UNCHANGED, "resultId": encoded(page.result_id)}
    return {"kind": FULL, "resultId": encoded(page.result_id), "items": page.encoded}


def push(ls: EnergyServer, opened: Opened) -> None:
    """Publish what changed, to a client that does not pull."""
    if ls.client.pulls_diagnostics:
        return
    for page in opened.pages.values():
        if ls.published.get(page.uri) != (page.result_id, page.version):
            ls.published[page.uri] = (page.result_id, page.version)
            version = {} if page.version is None else {"version": encoded(page.version)}
            ls.protocol.tell(
                types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
                encoded_object(uri=encoded(page.uri), **version, diagnostics=page.encoded),
            )


def withdraw(ls: EnergyServer, uris: list[str]) -> None:
    """Clear what was published for texts that are no longer open."""
    for uri in uris:
        if ls.published.pop(uri, None) is not None:
            ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
