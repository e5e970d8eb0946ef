"""Code actions: fix one place or all that is safe, see why, ignore, measure. Edits come on resolve."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from energy_lsp.presentation.reports.diagnostics import SOURCE
from energy_lsp.presentation.reports.edits import combine, ignore_edit
from energy_lsp.presentation.reports.impact import impact_of
from energy_lsp.presentation.words.calls import HOTSPOT

if TYPE_CHECKING:
    from energy_code.rules import Edit, Finding
    from energy_lsp.presentation.figures.hints import Hint
    from energy_lsp.presentation.reports.file import FileReport
    from energy_lsp.session.server import EnergyServer

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.energyLsp"
QUICK_FIX = types.CodeActionKind.QuickFix
MEASURE = "energyLsp.server.measure"
WHY = "energyLsp.server.why"
INSIDE = "energyLsp.server.inside"
CALL_HISTORY = "energyLsp.server.callHistory"
CHEAPER = "energyLsp.server.cheaper"
SHOW_REPORT = "energyLsp.server.showReport"
TUNE = "energyLsp.server.tune"
SHOW_TUNED = "energyLsp.server.showTuned"


def register(server: EnergyServer) -> None:
    """Offer code actions."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([QUICK_FIX, FIX_ALL, types.CodeActionKind.Source], resolve_provider=True),
    )
    async def code_actions(
        ls: EnergyServer, params: types.CodeActionParams
    ) -> list[types.CodeAction | types.Command]:
        report = await ls.files.report(params.text_document.uri)
        if report is None:
            return []
        actions = actions_at(report, params, trusted=ls.folders.trusted)
        if not ls.client.code_action_literals:
            return [action.command for action in actions if action.command is not None]
        if not ls.client.code_action_resolve:
            for action in actions:
                await _resolve(ls, report, action)
        return list(actions)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(ls: EnergyServer, action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        report = await ls.files.report(data["uri"]) if isinstance(data, dict) and "uri" in data else None
        if report is not None:
            await _resolve(ls, report, action)
        return action


def actions_at(
    report: FileReport, params: types.CodeActionParams, *, trusted: bool
) -> list[types.CodeAction]:
    """What is offered for a range, as far as the client wants to see it."""
    only = params.context.only
    start, end = report.offset(params.range.start), report.offset(params.range.end)
    actions: list[types.CodeAction] = []
    if _wanted(QUICK_FIX, only):
        here = [one for one in report.findings if one.span.start_byte <= end and start <= one.span.end_byte]
        for finding in sorted(here, key=lambda one: -saved(report, one)):
            matching = _matching(report, params.context.diagnostics, finding)
            actions += _for_finding(report, finding, matching, trusted=trusted)
        for hint in report.hotspots:
            if hint.call.name.start_byte <= end and start <= hint.call.name.end_byte:
                actions += _for_hotspot(report, hint, trusted=trusted)
    if _wanted(FIX_ALL, only) and any(finding.safety() == "safe" for finding in report.findings):
        data = {"uri": report.uri, "version": report.version, "all": True}
        actions.append(types.CodeAction("Fix all that is safe (energy)", FIX_ALL, data=data))
    if _wanted(types.CodeActionKind.Source, only) and trusted and (report.hints or only):
        command = types.Command(
            f"Measure the energy of {report.whole}", MEASURE, arguments=[{"uri": report.owner}]
        )
        actions.append(types.CodeAction(command.title, types.CodeActionKind.Source, command=command))
        if not report.is_cell:
            command = types.Command("Tune this program", SHOW_TUNED, arguments=[{"uri": report.owner}])
            actions.append(types.CodeAction(command.title, types.CodeActionKind.Source, command=command))
    return actions


def _for_finding(
    report: FileReport, finding: Finding, diagnostics: Sequence[types.Diagnostic], *, trusted: bool
) -> Iterable[types.CodeAction]:
    rule = finding.rule
    if finding.safety() != "none":
        yield types.CodeAction(
            fix_title(report, finding),
            QUICK_FIX,
            diagnostics=list(diagnostics) or None,
            is_preferred=finding.safety() == "safe",
            data={
                "uri": report.uri,
                "version": report.version,
                "rule": rule.name,
                "start": finding.span.start_byte,
            },
        )
    if finding.safety() != "none" and trusted and not report.is_cell:
        line = report.row(finding.span.start_byte)
        one = {"uri": report.uri, "rule": rule.name, "line": line}
        trial = types.Command(f"Try this fix here ({rule.name})", SHOW_TUNED, arguments=[one])
        yield types.CodeAction(trial.title, QUICK_FIX, diagnostics=list(diagnostics) or None, command=trial)
    command = types.Command(
        f"Why? The evidence for {rule.name}", WHY, arguments=[{"rule": rule.name, "uri": report.uri}]
    )
    yield types.CodeAction(command.title, QUICK_FIX, diagnostics=list(diagnostics) or None, command=command)
    yield _ignore(report, rule.name, report.row(finding.span.start_byte), diagnostics)


def _for_hotspot(report: FileReport, hint: Hint, *, trusted: bool) -> Iterable[types.CodeAction]:
    """What one wants at a costly call: measure, look inside, the report, what would cost less."""
    row, name = report.row(hint.call.name.start_byte), hint.call.api.rpartition(".")[2]
    layers = report.layers()
    known = layers is not None and any(one.api == hint.call.api for one in layers.calls.get(row, ()))
    here: dict[str, Any] = {"uri": report.uri, "line": row}
    offered = []
    if trusted:
        offered.append((f"Measure here again: {name}", MEASURE, {"uri": report.owner}))
    if known:
        offered.append((f"Look inside {name}", INSIDE, here))
    elif trusted:
        offered.append((f"Measure and look inside {name}", MEASURE, {"uri": report.owner, "inside": "all"}))
    offered += [
        ("Open the report of the last run", SHOW_REPORT, {"uri": report.owner}),
        ("What could cost less?", CHEAPER, here),
    ]
    offered.append((f"History of {name}", CALL_HISTORY, here))
    for title, command, argument in offered:
        wanted = types.Command(title, command, arguments=[argument])
        yield types.CodeAction(title, QUICK_FIX, command=wanted)
    yield _ignore(report, HOTSPOT, report.row(hint.call.span.start_byte), ())


def saved(report: FileReport, finding: Finding) -> float:
    """Joules that a fix would save here, per call times runs: the fixes' order."""
    impact = impact_of(report, finding)
    if impact is not None:
        return impact.joules
    from energy_code.rule_engine.evidence.verdict import joules_saved

    runs = finding.call.runs if finding.call is not None else None
    return joules_saved(report.verdict_of(finding).evidence, runs)


def fix_title(report: FileReport, finding: Finding) -> str:
    """What the fix does, what it was measured to save, and whether a person has to look at it."""
    from energy_code.rule_engine.evidence.verdict import brief

    check = "" if finding.safety() == "safe" else " (check that it is equal)"
    return f"{finding.rule.title}{check}: {brief(report.verdict_of(finding))}"


def _ignore(
    report: FileReport, rule: str, row: int, diagnostics: Sequence[types.Diagnostic]
) -> types.CodeAction:
    data = {"uri": report.uri, "version": report.version, "ignore": rule, "row": row}
    return types.CodeAction(
        f"Ignore {rule} here", QUICK_FIX, diagnostics=list(diagnostics) or None, data=data
    )


async def _resolve(ls: EnergyServer, report: FileReport, action: types.CodeAction) -> None:
    """Fill in the edit. A text that moved on since gets none: the client asks again for the new one."""
    data: Any = action.data
    if action.edit is not None or not isinstance(data, dict) or data.get("version") != report.version:
        return
    edits = await ls.worker.run(lambda: edits_for(report, data))
    if edits:
        action.edit = whole_edit(report, edits, versioned=ls.client.document_changes)


def whole_edit(report: FileReport, edits: Iterable[Edit], *, versioned: bool) -> types.WorkspaceEdit:
    """A workspace edit for one text, in the client's own positions."""
    changes = [
        types.TextEdit(
            types.Range(report.position(edit.start_byte), report.position(edit.end_byte)),
            edit.text,
        )
        for edit in edits
    ]
    if versioned:
        document = types.OptionalVersionedTextDocumentIdentifier(uri=report.uri, version=report.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(changes))])
    return types.WorkspaceEdit(changes={report.uri: changes})


def edits_for(report: FileReport, data: dict[str, Any]) -> list[Edit]:
    """The edits that an action stands for; runs in the worker, as libcst takes its time."""
    if "ignore" in data:
        return [ignore_edit(report, int(data["row"]), str(data["ignore"]))]
    if data.get("all"):
        return combine(finding.edits() for finding in report.findings if finding.safety() == "safe")
    for finding in report.findings:
        if finding.rule.name == data.get("rule") and finding.span.start_byte == data.get("start"):
            return finding.edits()
    return []


def _matching(
    report: FileReport, diagnostics: Sequence[types.Diagnostic], finding: Finding
) -> list[types.Diagnostic]:
    """The client's own copies of a finding's diagnostic, for the editor to tie the fix to."""
    return [
        one
        for one in diagnostics
        if one.source == SOURCE
        and one.code == finding.rule.name
        and one.range.start.line == report.row(finding.span.start_byte)
    ]


def _wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a kind is among those asked for; `source` asks for `source.fixAll` too."""
    value = kind.value if isinstance(kind, types.CodeActionKind) else kind
    if only is None:
        return value != types.CodeActionKind.SourceFixAll.value
    wanted = [one.value if isinstance(one, types.CodeActionKind) else one for one in only]
    return any(one == "" or value == one or value.startswith(one + ".") for one in wanted)
