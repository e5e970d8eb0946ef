"""From hints to diagnostics: a file's energy hotspots and the substitution rules that apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from energy_lsp.hints import HOTSPOT, HOTSPOT_PAGE, Hint, cost, provenance
from energy_lsp.settings import Severity

if TYPE_CHECKING:
    from energy_code.rules import Finding
    from energy_lsp.client import Client
    from energy_lsp.pages import Page

SOURCE = "energy-lsp"

LSP_SEVERITY: dict[Severity, types.DiagnosticSeverity] = {
    "hint": types.DiagnosticSeverity.Hint,
    "information": types.DiagnosticSeverity.Information,
    "warning": types.DiagnosticSeverity.Warning,
    "error": types.DiagnosticSeverity.Error,
}


def diagnose(page: Page) -> list[types.Diagnostic]:
    """A page's diagnostics, in the order of the text."""
    settings, client = page.folder.settings, page.client
    found = [_of_finding(page, finding, client) for finding in page.findings]
    if settings.hotspot_severity != "off":
        found += [_of_hotspot(page, hint, client) for hint in page.hotspots]
    found.sort(key=lambda one: (one.range.start.line, one.range.start.character, str(one.code)))
    return found


def _of_finding(page: Page, finding: Finding, client: Client) -> types.Diagnostic:
    rule = finding.rule
    related = [(page.range(span), "Part of the same rewrite") for span in finding.related]
    message = f"{finding.message}: {page.verdict_of(finding).text}"
    data = {
        "rule": rule.name,
        "version": page.version,
        "start": finding.span.start_byte,
        "end": finding.span.end_byte,
    }
    where = page.range(finding.span)
    return _diagnostic(page, client, where, rule.name, rule.url, message, related, data)


def _of_hotspot(page: Page, hint: Hint, client: Client) -> types.Diagnostic:
    assert hint.figure is not None
    message = f"Energy hotspot: {hint.call.api}, {cost(hint)}. {provenance(hint.figure)}"
    related = []
    if client.related_information and (around := page.function_around(hint.call)) is not None:
        total = page.hints_in(around.span).total
        related.append((page.start_of(around.span), f"{around.name}: {total.label}"))
    where = page.range(hint.call.name)
    data = {"rule": HOTSPOT, "version": page.version}
    return _diagnostic(page, client, where, HOTSPOT, HOTSPOT_PAGE, message, related, data)


def _diagnostic(
    page: Page,
    client: Client,
    where: types.Range,
    code: str,
    url: str,
    message: str,
    related: list[tuple[types.Range, str]],
    data: dict[str, Any],
) -> types.Diagnostic:
    settings = page.folder.settings
    severity = settings.hotspot_severity if code == HOTSPOT else settings.rule_severity
    return types.Diagnostic(
        range=where,
        message=message,
        severity=LSP_SEVERITY[severity],
        code=code,
        code_description=types.CodeDescription(url) if client.code_description else None,
        source=SOURCE,
        related_information=[
            types.DiagnosticRelatedInformation(types.Location(page.uri, place), text)
            for place, text in related
        ]
        if client.related_information and related
        else None,
        data=data if client.diagnostic_data else None,
    )
