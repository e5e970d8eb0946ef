"""Diagnostics, pulled where the client can and pushed otherwise, never both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.features.browsing import open_reports
from energy_lsp.features.unopened.reports import UnopenedReports
from energy_lsp.presentation.reports.diagnostics import SOURCE
from energy_lsp.wire.encoding import Encoded, encoded, encoded_object

if TYPE_CHECKING:
    from energy_lsp.presentation.reports.file import EncodedDiagnostics, FileReport
    from energy_lsp.session.open_file import Opened
    from energy_lsp.session.server import EnergyServer

FULL, UNCHANGED = Encoded('"full"'), Encoded('"unchanged"')


def register(server: EnergyServer) -> None:
    """Push diagnostics, and offer pulled ones; `EnergyServer.begin` takes those back where the client cannot pull."""
    server.on_report.append(partial(push, server))
    server.on_close.append(partial(withdraw, server))
    unopened_reports = UnopenedReports()

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier=SOURCE),
    )
    async def pull(ls: EnergyServer, params: types.DocumentDiagnosticParams) -> Encoded:
        report = await ls.files.report(params.text_document.uri)
        if report is None:
            return encoded(types.RelatedFullDocumentDiagnosticReport(items=[]))
        return pulled(report.diagnostics, params.previous_result_id)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def pull_workspace(ls: EnergyServer, params: types.WorkspaceDiagnosticParams) -> Encoded:
        previous = {one.uri: one.value for one in params.previous_result_ids}
        reports = await open_reports(ls)
        unopened = [one async for one in unopened_reports.all_of(ls)] if _wants_all(ls) else []

        def put_together() -> Encoded:
            texts = [_of_text(report.uri, report.version, report.diagnostics, previous) for report in reports]
            texts += [_of_text(uri, None, diagnostics, previous) for uri, diagnostics in unopened]
            return encoded_object(items=Encoded("[" + ",".join(texts) + "]"))

        answer: Encoded = await ls.worker.run(put_together)
        return answer


def pulled(diagnostics: EncodedDiagnostics, previous: str | None) -> Encoded:
    """What a client that last saw `previous` has to know of an open text."""
    return encoded_object(**_report(diagnostics, previous))


def _wants_all(ls: EnergyServer) -> bool:
    """Whether files that are not open are reported too."""
    return any(folder.settings.workspace_diagnostics for folder in ls.folders.roots)


def _of_text(
    uri: str, version: int | None, diagnostics: EncodedDiagnostics, previous: dict[str, str]
) -> Encoded:
    about = _report(diagnostics, previous.get(uri))
    return encoded_object(uri=encoded(uri), version=encoded(version), **about)


def _report(diagnostics: EncodedDiagnostics, previous: str | None) -> dict[str, Encoded]:
    """What a client that last saw `previous` has to know."""
    result = encoded(diagnostics.result_id)
    if previous == diagnostics.result_id:
        return {"kind": UNCHANGED, "resultId": result}
    return {"kind": FULL, "resultId": result, "items": diagnostics.items}


def push(ls: EnergyServer, opened: Opened) -> None:
    """Publish what changed, to a client that does not pull."""
    for report in opened.reports.values():
        push_report(ls, report)


def push_report(ls: EnergyServer, report: FileReport) -> None:
    """The same for one text."""
    shown = report.diagnostics.result_id, report.version
    if ls.client.pulls_diagnostics or ls.published.get(report.uri) == shown:
        return
    ls.published[report.uri] = shown
    version = {} if report.version is None else {"version": encoded(report.version)}
    ls.protocol.notify_encoded(
        types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS,
        encoded_object(uri=encoded(report.uri), **version, diagnostics=report.diagnostics.items),
    )


def withdraw(ls: EnergyServer, uris: Sequence[str]) -> None:
    """Clear what was published for texts that are no longer open."""
    for uri in uris:
        if ls.published.pop(uri, None) is not None:
            ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
