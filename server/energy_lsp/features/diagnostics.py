"""Diagnostics, pulled where the client can and pushed otherwise, never both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.presentation.diagnostics import SOURCE
from energy_lsp.session.browsing import open_pages
from energy_lsp.session.unopened_files import unopened_reports
from energy_lsp.wire.encoding import Encoded, encoded, encoded_object

if TYPE_CHECKING:
    from energy_lsp.presentation.diagnostics import EncodedDiagnostics
    from energy_lsp.session.server import EnergyServer
    from energy_lsp.session.unopened_files import Report

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
        return report(page.told, params.previous_result_id)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def pull_workspace(ls: EnergyServer, params: types.WorkspaceDiagnosticParams) -> Encoded:
        previous = {one.uri: one.value for one in params.previous_result_ids}
        pages = await open_pages(ls)
        unopened = [one async for one in unopened_reports(ls)] if _wants_all(ls) else []

        def put_together() -> Encoded:
            reports = [_of_text(page.told, page.version, previous) for page in pages]
            reports += [_of_text(one, None, previous) for one in unopened]
            return encoded_object(items=Encoded("[" + ",".join(reports) + "]"))

        report: Encoded = await ls.worker.run(put_together)
        return report


def report(told: EncodedDiagnostics, previous: str | None) -> Encoded:
    """What a client that last saw `previous` has to know of an open text."""
    return encoded_object(**_report(told, previous))


def _wants_all(ls: EnergyServer) -> bool:
    """Whether files that are not open are reported too."""
    return any(folder.settings.workspace_diagnostics for folder in ls.folders.roots)


def _of_text(one: EncodedDiagnostics | Report, version: int | None, previous: dict[str, str]) -> Encoded:
    about = _report(one, previous.get(one.uri))
    return encoded_object(uri=encoded(one.uri), version=encoded(version), **about)


def _report(one: EncodedDiagnostics | Report, previous: str | None) -> dict[str, Encoded]:
    """What a client that last saw `previous` has to know."""
    if previous == one.result_id:
        return {"kind": UNCHANGED, "resultId": encoded(one.result_id)}
    return {"kind": FULL, "resultId": encoded(one.result_id), "items": one.encoded}


def push(ls: EnergyServer, told: EncodedDiagnostics) -> None:
    """Publish what changed, to a client that does not pull."""
    shown = told.result_id, told.version
    if ls.client.pulls_diagnostics or ls.published.get(told.uri) == shown:
        return
    ls.published[told.uri] = shown
    version = {} if told.version is None else {"version": encoded(told.version)}
    ls.protocol.tell(
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
        encoded_object(uri=encoded(told.uri), **version, diagnostics=told.encoded),
    )


def withdraw(ls: EnergyServer, uris: list[str]) -> None:
    """Clear what was published for texts that are no longer open."""
    for uri in uris:
        if ls.published.pop(uri, None) is not None:
            ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
