"""Tuning from the editor: `energy-lsp tune` as a process of its own, for a program or for one finding."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from energy_code.text.lines import Lines
from energy_data.untrusted.printable import one_line
from energy_data.untrusted.reading import read_source
from energy_data.untrusted.writing import inside
from energy_lsp.features.programs.measure_choice import MeasureChoice
from energy_lsp.features.programs.measuring import run_under_progress
from energy_lsp.presentation.notation.units import duration, marked
from energy_measure.problems import MeasureProblem

if TYPE_CHECKING:
    from energy_lsp.session.server import EnergyServer
    from energy_lsp.workspace.folders import Folder

PATIENCE = 20.0
"""Seconds after a cancel in which it says what is known."""
APPLY, LEAVE = "Apply", "Leave it as it is"


async def tune(
    ls: EnergyServer, target: Path, argument: Mapping[str, Any], token: types.ProgressToken | None
) -> dict[str, Any]:
    """What `energy-lsp tune` prints, its patch as an edit of the workspace, and a sentence. Raises MeasureProblem."""
    rule, line = argument.get("rule"), argument.get("line")
    choice = MeasureChoice.of(argument)

    def command(folder: Folder, script: Path) -> list[str]:
        words = ["tune", str(script), "--project", str(folder.root)]
        words += ["--format", "json", "--progress", "json", "--with-parent"]
        if folder.database is not None:
            words += ["--db", str(folder.database)]
        if folder.settings.measure_python:
            words += ["--python", folder.settings.measure_python]
        words += choice.environment
        if rule:
            words += ["--only", str(rule)]
        if rule and isinstance(line, int):
            words += ["--line", str(line + 1)]
        if isinstance(budget := argument.get("budget"), (int, float)):
            words += ["--budget", str(budget)]
        return [*words, "--", *choice.arguments]

    title = f"Trying {rule} in {target.name}" if rule else f"Tuning {target.name}"
    done = await run_under_progress(ls, target, command, title, token, patience=PATIENCE)
    try:
        outcome: dict[str, Any] = json.loads(done.output)
        edit = await _edit(ls, ls.folders.of(target).root, outcome["edits"])
        return {**outcome, "edit": edit, "text": sentence(outcome)}
    except (ValueError, KeyError, TypeError) as problem:
        raise MeasureProblem(f"`energy-lsp tune` printed no usable result ({problem}).") from problem


async def _edit(ls: EnergyServer, root: Path, edits: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The proven changes as a workspace edit; None without any, or where a text is not the tuned one any more."""
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in edits:
        path = inside(root / edit["file"], [root])
        source = read_source(path) if path is not None else None
        if path is None or source is None:
            return None
        uri = path.as_uri()
        report = await ls.files.report(uri)
        if report is not None and report.source != source:
            return None
        lines = Lines(source)
        places = {}
        for side in ("start", "end"):
            line, character = lines.position(edit[side], ls.client.encoding)
            places[side] = {"line": line, "character": character}
        changes.setdefault(uri, []).append({"range": places, "newText": edit["text"]})
    return {"changes": changes} if changes else None


async def show_tuned(ls: EnergyServer, outcome: Mapping[str, Any]) -> None:
    """Say before and after, and offer to apply it: for clients without a view of their own."""
    kind = types.MessageType.Info
    if outcome["edit"] is None:
        ls.window_show_message(types.ShowMessageParams(kind, one_line(outcome["text"])))
        return
    actions = [types.MessageActionItem(APPLY), types.MessageActionItem(LEAVE)]
    chosen = await ls.window_show_message_request_async(
        types.ShowMessageRequestParams(kind, one_line(outcome["text"]), actions)
    )
    if chosen is not None and chosen.title == APPLY:
        edit = types.WorkspaceEdit(
            changes={
                uri: [_text_edit(one) for one in changes]
                for uri, changes in outcome["edit"]["changes"].items()
            }
        )
        await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, label="Proven savings"))


def _text_edit(one: Mapping[str, Any]) -> types.TextEdit:
    start, end = (types.Position(**one["range"][side]) for side in ("start", "end"))
    return types.TextEdit(types.Range(start, end), one["newText"])


def sentence(outcome: Mapping[str, Any]) -> str:
    """The end of tuning in one line, such as `Proven: ≈ 13.4 J → 7.3 J a run (−46%), 21 s → 9.0 s: missing-function.`"""
    before, after = outcome["before"], outcome["after"]
    first = marked(before["joules"], outcome["estimated"])
    stopped = "Stopped early. " if outcome["interrupted"] else ""
    if after is None:
        tried = "; ".join(
            f"{one['name']}: {one['verdict']}" + (f" ({one['note']})" if one["note"] else "")
            for one in outcome["candidates"][:3]
        )
        nothing = f"{first} a run; no saving that keeps the results was proven here."
        return f"{stopped}{nothing}" + (f" {tried}." if tried else "")
    part = 1 - after["joules"] / before["joules"]
    names = [one["name"] for one in outcome["candidates"] if one["verdict"] == "saves" and one["file"]]
    return (
        f"{stopped}Proven: {first} → {marked(after['joules'], outcome['estimated'])} a run (−{part:.0%}), "
        f"{duration(before['seconds'])} → {duration(after['seconds'])}, results unchanged: {', '.join(names)}."
    )
