"""Last stage, from a report to diagnostics: a file's energy hotspots and the substitution rules that apply.

They are encoded where the report is made, in the worker: on the loop those of a long file would keep others waiting.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lsprotocol import types

from energy_lsp.presentation.reports.file import EncodedDiagnostics
from energy_lsp.presentation.reports.impact import finding_line, impact_of, severity_of
from energy_lsp.presentation.reports.overlaps import key, not_in_addition, overlaps
from energy_lsp.presentation.words.calls import HOTSPOT, HOTSPOT_PAGE, hotspot
from energy_lsp.wire.encoding import encoded_list

if TYPE_CHECKING:
    from energy_code.model import Span
    from energy_code.rules import Finding
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.presentation.reports.impact import Impact
    from energy_lsp.workspace.settings import Severity

SOURCE = "energy-lsp"
SEVERITIES: Mapping[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


Impacts = Callable[["FileReport", "Finding"], "Impact | None"]
"""What a finding of a report is worth; None where that is not known."""


def with_diagnostics(report: FileReport, impact: Impacts = impact_of) -> FileReport:
    """The report with its diagnostics, encoded."""
    return replace(report, diagnostics=encoded_diagnostics(report, impact))


def encoded_diagnostics(report: FileReport, impact: Impacts = impact_of) -> EncodedDiagnostics:
    """A report's diagnostics as they go over the wire."""
    text = encoded_list(diagnostics_of(report, impact))
    return EncodedDiagnostics(text, hashlib.blake2b(text.encode(), digest_size=8).hexdigest())


def diagnostics_of(report: FileReport, impact: Impacts = impact_of) -> list[types.Diagnostic]:
    """A report's diagnostics, in the order of the text."""
    worth = [(finding, impact(report, finding)) for finding in report.findings]
    shared = overlaps(report, worth)
    found = [
        (
            finding.span.start_byte,
            finding.rule.name,
            _of_finding(report, finding, known, shared.get(key(finding))),
        )
        for finding, known in worth
    ]
    if report.folder.settings.hotspot_severity != "off":
        found += [(hint.call.name.start_byte, HOTSPOT, _of_hotspot(report, hint)) for hint in report.hotspots]
    return [diagnostic for _, _, diagnostic in sorted(found, key=lambda one: one[:2])]


def _of_finding(
    report: FileReport, finding: Finding, impact: Impact | None, instead: Finding | None
) -> types.Diagnostic:
    rule = finding.rule
    related = [(report.range(span), "Part of the same rewrite") for span in finding.related]
    message, severity = finding_line(report, finding, impact), severity_of(report, impact)
    message += not_in_addition(instead)
    return _diagnostic(report, finding.span, rule.name, rule.url, message, severity, related)


def _of_hotspot(report: FileReport, hint: Hint) -> types.Diagnostic:
    assert hint.figure is not None
    message, severity = (
        hotspot(hint, report.share(hint), report.whole),
        report.folder.settings.hotspot_severity,
    )
    return _diagnostic(report, hint.call.name, HOTSPOT, HOTSPOT_PAGE, message, severity, ())


def _diagnostic(
    report: FileReport,
    span: Span,
    code: str,
    url: str,
    message: str,
    severity: Severity,
    related: Sequence[tuple[types.Range, str]],
) -> types.Diagnostic:
    client = report.client
    diagnostic = types.Diagnostic(
        report.range(span), message, severity=SEVERITIES[severity], code=code, source=SOURCE
    )
    if client.code_description:
        diagnostic.code_description = types.CodeDescription(url)
    if client.related_information and related:
        diagnostic.related_information = [
            types.DiagnosticRelatedInformation(types.Location(report.uri, where), text)
            for where, text in related
        ]
    if client.diagnostic_data:
        place = {"version": report.version, "start": span.start_byte, "end": span.end_byte}
        diagnostic.data = {"rule": code, **place}
    return diagnostic
