"""Last stage, from a report to encoded diagnostics: a file's energy hotspots and the substitution rules that apply.

They are put into words once. After an edit that only moves them, no more than their places is written anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from energy_lsp.presentation.wording import HOTSPOT, HOTSPOT_PAGE, hotspot
from energy_lsp.wire.encoding import Encoded

if TYPE_CHECKING:
    from energy_code.analysis.comment_edits import Shift
    from energy_code.rules import Finding
    from energy_lsp.presentation.file_report import FileReport
    from energy_lsp.presentation.hints import Hint
    from energy_lsp.session.settings import Severity

SOURCE = "energy-lsp"
SEVERITIES: Mapping[Severity, int] = {"error": 1, "warning": 2, "information": 3, "hint": 4}
"""The protocol's numbers."""

Stretch = tuple[int, int]
"""First byte and the one behind the last, in the program."""
Place = Callable[[int], tuple[int, int]]
"""Line and character of a byte."""


class EncodedDiagnostics(NamedTuple):
    """The diagnostics of one text at one version, as they go over the wire."""

    uri: str
    version: int | None
    encoded: Encoded
    result_id: str
    """Changes when the diagnostics do."""

    @classmethod
    def of(cls, uri: str, version: int | None, marks: Iterable[Mark], place: Place) -> EncodedDiagnostics:
        """Write down where some marks stand."""
        text = "[" + ",".join([mark.encoded(version, place) for mark in marks]) + "]"
        return cls(uri, version, Encoded(text), hashlib.blake2b(text.encode(), digest_size=8).hexdigest())


class Mark(NamedTuple):
    """One diagnostic: what it says, already encoded, and the stretches that it speaks of."""

    at: Stretch
    code: str
    said: str
    """Its members that stay the same wherever it stands."""
    related: Sequence[tuple[Stretch, str]]
    """Related places, each with the rest of its object."""
    data: str | None
    """What the client sends back, but for the version; None for clients that do not."""

    def moved(self, shift: Shift) -> Mark:
        """The same after an edit that moved what stands behind it."""
        related = [(shift.of(*stretch), said) for stretch, said in self.related]
        return self._replace(at=shift.of(*self.at), related=related)

    def encoded(self, version: int | None, place: Place) -> str:
        """The whole diagnostic."""
        text = f'{{"range":{_range(self.at, place)},{self.said}'
        if self.related:
            places = [f'{{"location":{{"range":{_range(at, place)},{said}}}' for at, said in self.related]
            text += f',"relatedInformation":[{",".join(places)}]'
        if self.data is not None:
            start, end = self.at
            number = json.dumps(version)
            text += f',"data":{{{self.data},"version":{number},"start":{start},"end":{end}}}'
        return text + "}"


def _range(stretch: Stretch, place: Place) -> str:
    (line, character), (last, end) = map(place, stretch)
    return f'{{"start":{{"line":{line},"character":{character}}},"end":{{"line":{last},"character":{end}}}}}'


def diagnose(page: FileReport) -> list[Mark]:
    """A page's diagnostics, in the order of the text."""
    found = [_of_finding(page, finding) for finding in page.findings]
    if page.folder.settings.hotspot_severity != "off":
        found += [_of_hotspot(page, hint) for hint in page.hotspots]
    found.sort(key=lambda mark: (mark.at[0], mark.code))
    return found


def _of_finding(page: FileReport, finding: Finding) -> Mark:
    rule = finding.rule
    related = [((one.start_byte, one.end_byte), "Part of the same rewrite") for one in finding.related]
    at = finding.span.start_byte, finding.span.end_byte
    return _mark(page, at, rule.name, rule.url, *finding_text(page, finding), related)


def finding_text(page: FileReport, finding: Finding) -> tuple[str, Severity]:
    """What is said of a finding: what to do, what it was measured to save, what that is here; and how loudly."""
    settings, impact = page.folder.settings, page.impact_of(finding)
    message = f"{finding.message}: {page.verdict_of(finding).text}"
    if impact is None:
        return message, settings.rule_severity
    smallest = settings.smallest_share
    severity: Severity = "hint" if impact.is_below(smallest) else settings.rule_severity
    said = impact.text(smallest)
    return f"{said[:1].upper()}{said[1:]}. {message}", severity


def _of_hotspot(page: FileReport, hint: Hint) -> Mark:
    assert hint.figure is not None
    message = hotspot(hint, page.share(hint))
    related = []
    if page.client.related_information and (around := page.function_around(hint.call)) is not None:
        start = around.span.start_byte
        related.append(((start, start), f"{around.name}: {page.hints_in(around.span).account.label}"))
    name = hint.call.name
    severity = page.folder.settings.hotspot_severity
    return _mark(page, (name.start_byte, name.end_byte), HOTSPOT, HOTSPOT_PAGE, message, severity, related)


def _mark(
    page: FileReport,
    at: Stretch,
    code: str,
    url: str,
    message: str,
    severity: Severity,
    related: Sequence[tuple[Stretch, str]],
) -> Mark:
    client = page.client
    said: dict[str, Any] = {
        "message": message,
        "severity": SEVERITIES[severity],
        "code": code,
        "source": SOURCE,
    }
    if client.code_description:
        said["codeDescription"] = {"href": url}
    uri = json.dumps(page.uri)
    places = [(where, f'"uri":{uri}}},"message":{json.dumps(text)}') for where, text in related]
    data = f'"rule":{json.dumps(code)}' if client.diagnostic_data else None
    return Mark(at, code, json.dumps(said)[1:-1], places if client.related_information else (), data)
