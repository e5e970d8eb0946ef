"""Every feature on the wire, with a client that can do everything and with one that can do nothing."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from answer_shapes import as_dict, fits
from energy_data.database.database import Database
from energy_lsp.features import answers
from rule_savings import SAVES

pytestmark = pytest.mark.asyncio

FIT = (14, 15)
POW = (15, 15)
MATMUL = (20, 20)


async def test_hover_tells_cost_provenance_and_documentation(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        text = await session.hover(uri, *FIT)
        assert text is not None
        assert text.startswith("**⚡ 120 J · 100% of this file** · `keras.Sequential.fit`")
        for part in (
            "12\\.0 J per call",
            "95% interval 10\\.8 to 13\\.2 J",
            "× 10 calls \\= 120 J".replace("\\=", "="),
            "CPU ████████░░  75%",
            "RAM ██░░░░░░░░  25%",
            "Measured here, at this call\\.\n",
            "Test CPU · rapl · 2026\\-11\\-16",
            "5 runs",
            "](https://",
        ):
            assert part in text, text


async def test_hover_is_plain_text_for_a_client_without_markdown(start: Any) -> None:
    async with start("minimal") as session:
        uri = session.open("model.py")
        text = await session.hover(uri, *FIT)
        assert text is not None
        assert text.startswith(
            "⚡ 120 J · 100% of this file · keras.Sequential.fit\n\nMeasured here, at this call."
        )
        assert "**" not in text


async def test_hover_is_silent_where_no_api_is_called(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        assert await session.hover(uri, 0, 3) is None
        assert await session.hover(uri, 9, 12) is None


async def test_hover_shows_the_cheaper_alternative(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        text = await session.hover(uri, *POW)
        assert text is not None
        assert "**Cheaper:**" in text
        assert "`pow2`" in text


async def test_pulled_diagnostics_are_complete(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        report = await session.pull(uri)
        by_code = {one.code: one for one in report.items}
        assert set(by_code) == {"hotspot", "pow2"}
        rule = by_code["pow2"]
        assert rule.severity == types.DiagnosticSeverity.Information
        assert rule.source == "energy-lsp"
        assert rule.code_description.href.endswith("/pow2.md")
        assert rule.data["rule"] == "pow2"
        assert (rule.range.start.line, rule.range.start.character) == (15, 11)
        hotspots = [one for one in report.items if one.code == "hotspot"]
        assert [one.range.start.line for one in hotspots] == [14, 20]
        assert hotspots[0].severity == types.DiagnosticSeverity.Hint
        assert hotspots[0].message == "fit: 120 J, 100% of this file"
        # One line each: the hover and the lens above the function say the rest.
        assert hotspots[0].related_information is None
        assert re.fullmatch(r"[^:]*\d+% ± \d+ elsewhere: square with `tf.square`, not with .*", rule.message)


async def test_an_unchanged_result_is_not_sent_again(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        first = await session.pull(uri)
        again = await session.pull(uri, first.result_id)
        assert again.kind == "unchanged"
        assert again.result_id == first.result_id
        session.change(uri, (14, 8, 14, 23), "pass")
        changed = await session.pull(uri, first.result_id)
        assert changed.kind == "full"
        assert all(one.range.start.line != 14 for one in changed.items)


async def test_a_client_that_pulls_is_never_pushed_to(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        await session.pull(uri)
        await session.hover(uri, *FIT)
        assert session.client.diagnostics == {}
        assert session.result.capabilities.diagnostic_provider is not None


async def test_other_clients_are_pushed_to(start: Any) -> None:
    async with start("minimal") as session:
        assert session.result.capabilities.diagnostic_provider is None
        uri = session.open("model.py")
        await session.until(lambda: len(session.client.diagnostics.get(uri, ())) == 3)
        one = session.client.diagnostics[uri][0]
        assert one.related_information is None
        assert one.data is None
        session.change(uri, None, "x = 1\n")
        await session.until(lambda: session.client.diagnostics[uri] == ())
        session.change(uri, None, "import tensorflow as tf\ny = tf.pow(tf.abs(x), 2)\n")
        await session.until(lambda: "pow2" in {one.code for one in session.client.diagnostics[uri]})
        session.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )
        await session.until(lambda: session.client.diagnostics[uri] == ())


@pytest.mark.parametrize("everything", [False, True])
async def test_workspace_diagnostics(start: Any, workspace: Path, everything: bool) -> None:
    (workspace / "closed.py").write_text("import tensorflow as tf\ny = tf.pow(tf.abs(x), 2)\n")
    async with start("full", configuration={"workspaceDiagnostics": everything}) as session:
        await session.until(lambda: bool(session.registrations))
        uri = session.open("model.py")
        await session.pull(uri)
        params = types.WorkspaceDiagnosticParams([])
        report = await session.client.workspace_diagnostic_async(params)
        found = {item.uri: item for item in report.items}
        assert uri in found
        assert (session.uri("closed.py") in found) is everything
        previous = [types.PreviousResultId(one.uri, one.result_id) for one in report.items]
        again = await session.client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous))
        assert {item.kind for item in again.items} == {"unchanged"}


async def test_inlay_hints_in_a_range(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        hints = await inlay_hints(session, uri, 0, 30)
        assert [hint.label for hint in hints if hint.position.line in (14, 20)] == ["120 J · 100%"], (
            "what has less than a hundredth of the file's energy would hide what matters"
        )
        fit = next(hint for hint in hints if hint.position.line == 14)
        assert fit.position.character == 23
        assert "Measured here" in fit.tooltip
        assert await inlay_hints(session, uri, 19, 21) == []


async def test_small_calls_have_inlay_hints_where_they_are_asked_for(start: Any) -> None:
    async with start("full", configuration={"inlayPercent": 0}) as session:
        await session.until(lambda: bool(session.registrations))
        uri = session.open("model.py")
        assert [hint.label for hint in await inlay_hints(session, uri, 19, 21)] == ["4.0 mJ · <1%"]


async def test_the_inlay_hint_of_a_long_line_comes_first(start: Any, database: Path, figures: Any) -> None:
    text = (
        "import tensorflow as tf\n\n"
        "def run(x):\n"
        f"    return tf.matmul(x, x, name='{'n' * 80}')\n"
        "y = tf.tanh(\n    1.0,\n)\n"
        f"z = tf.sqrt(1.0) + tf.abs(1.0, name='{'n' * 80}')\n"
    )
    known = {
        "tensorflow.linalg.matmul": 2.0,
        "tensorflow.math.tanh": 2.0,
        "tensorflow.math.sqrt": 4.0,
        "tensorflow.math.abs": 2.0,
    }
    figures(database, known, run_id="long", file="long.py", source=text)
    async with start("full") as session:
        uri = session.open("long.py", text)
        hints = await inlay_hints(session, uri, 0, 9)
        assert [(hint.position.line, hint.position.character, hint.label) for hint in hints] == [
            (3, 4, "2.0 J · 20%"),
            (4, 12, "2.0 J · 20%"),
            (7, 16, "4.0 J · 40%"),
        ], "in front of a line stands its costliest call, or none"


async def test_an_estimate_is_marked(start: Any, figures: Any, database: Path) -> None:
    database.unlink()
    figures(database, {"keras.Sequential.fit": 12.0}, estimated=True)
    async with start("full") as session:
        uri = session.open("model.py")
        labels = [hint.label for hint in await inlay_hints(session, uri, 14, 15)]
        assert labels == ["≈ 120 J · 100%"]
        text = await session.hover(uri, *FIT)
        assert text is not None
        assert "Estimated" in text


async def inlay_hints(session: Any, uri: str, first: int, last: int) -> list[types.InlayHint]:
    where = types.Range(types.Position(first, 0), types.Position(last, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), where)
    return list(await session.client.text_document_inlay_hint_async(params))


async def test_code_lenses_sum_what_is_below(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        lenses = await session.client.text_document_code_lens_async(params)
        titles = {lens.range.start.line: lens.command.title for lens in lenses}
        assert titles[12] == "⚡ 120 J in 3 calls"
        assert titles[18] == "⚡ 4.00 mJ in 1 call"
        assert 6 in titles
        command = next(lens.command for lens in lenses if lens.range.start.line == 12)
        await session.command(command.command, command.arguments[0])
        assert "Costliest: keras.Sequential.fit (line 15) 120 J" in session.client.messages[-1].message


UNKNOWN = """\
import tensorflow as tf


def first():
    return tf.raw_ops.Abs(x=1.0)


def second():
    return tf.raw_ops.Abs(x=tf.raw_ops.Neg(x=1.0))
"""


async def lenses_of(session: Any, uri: str) -> list[tuple[int, str, str]]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
    found = await session.client.text_document_code_lens_async(params)
    return [(lens.range.start.line, lens.command.title, lens.command.command) for lens in found]


async def test_where_nothing_is_known_one_lens_offers_to_measure(
    start: Any, database: Path, figures: Any
) -> None:
    async with start("full") as session:
        uri = session.open("new.py", UNKNOWN)
        assert await lenses_of(session, uri) == [
            (0, "⚡ 3 calls not measured here: measure to learn it", "energyLsp.server.measure")
        ]
        figures(database, {"tensorflow.raw_ops.Neg": 2.0}, run_id="later", file="new.py", source=UNKNOWN)
        await session.until(lambda: session.statuses[-1].known_joules == pytest.approx(2.0))
        assert await lenses_of(session, uri) == [
            (7, "⚡ at least 2.00 J in 1 call, 1 unknown", "energyLsp.server.showSummary")
        ]


async def test_a_restricted_workspace_is_not_asked_to_measure(start: Any) -> None:
    async with start("full", options={"trusted": False}) as session:
        uri = session.open("new.py", UNKNOWN)
        assert await lenses_of(session, uri) == [
            (0, "⚡ 3 calls not measured here", "energyLsp.server.showSummary")
        ]


async def test_a_rule_that_there_is_not_is_named(start: Any, workspace: Path) -> None:
    (workspace / "pyproject.toml").write_text('[tool.energy-lsp]\nselect = ["pow2", "pow3"]\n')
    async with start("full") as session:
        uri = session.open("model.py")
        assert "pow2" in [one.code for one in (await session.pull(uri)).items]
        await session.until(lambda: bool(session.client.messages))
        assert [one.message for one in session.client.messages] == ["`select`: there is no rule `pow3`."]


async def test_hints_and_lenses_can_be_switched_off(start: Any) -> None:
    async with start("full", configuration={"inlayHints": False, "codeLens": False}) as session:
        await session.until(lambda: bool(session.registrations))
        uri = session.open("model.py")
        assert await inlay_hints(session, uri, 0, 30) == []
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        assert not await session.client.text_document_code_lens_async(params)


async def test_a_quick_fix_is_resolved_when_chosen(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        actions = await session.actions(uri, 15)
        fix = next(one for one in actions if getattr(one, "is_preferred", False))
        assert fix.edit is None
        resolved = await session.client.code_action_resolve_async(fix)
        [change] = resolved.edit.document_changes
        assert change.text_document.version == 1
        [edit] = change.edits
        assert edit.new_text == "tf.square(tf.abs(data))"


@pytest.mark.parametrize("order", [["rsqrt", "pow2"], ["pow2", "rsqrt"]])
async def test_the_fix_that_saves_most_here_comes_first(
    start: Any, workspace: Path, database: Path, order: list[str]
) -> None:
    (workspace / "pyproject.toml").unlink()
    with Database.open(database) as opened:
        opened.add_evidence(
            [
                replace(SAVES, rule=rule, joules_before=joules)
                for rule, joules in zip(order, (9, 0.1), strict=True)
            ]
        )
    async with start("full") as session:
        uri = session.open(
            "new.py", "import tensorflow as tf\nx = tf.ones(3)\ny = tf.pow(1 / tf.sqrt(x), 2)\n"
        )
        offered = [one.data["rule"] for one in await session.actions(uri, 2) if "−41%" in one.title]
    assert offered == order


async def test_a_fix_for_a_text_that_moved_on_changes_nothing(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        fix = next(one for one in await session.actions(uri, 15) if getattr(one, "is_preferred", False))
        session.change(uri, (0, 0, 0, 0), "\n")
        resolved = await session.client.code_action_resolve_async(fix)
        assert resolved.edit is None


async def test_fix_all_ignore_why_and_measure_are_offered(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        titles = [one.title for one in await session.actions(uri, 15)]
        assert any(title.startswith("Why?") for title in titles)
        assert "Ignore pow2 here" in titles
        assert "Measure the energy of this file" in titles
        [fix_all] = await session.actions(uri, 0, only=["source.fixAll.energyLsp"])
        resolved = await session.client.code_action_resolve_async(fix_all)
        assert resolved.edit.document_changes[0].edits[0].new_text == "tf.square(tf.abs(data))"
        assert await session.actions(uri, 15, only=["refactor"]) == []


async def test_ignore_here_silences_everything(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        actions = await session.actions(uri, 15)
        ignore = next(one for one in actions if one.title == "Ignore pow2 here")
        [edit] = (await session.client.code_action_resolve_async(ignore)).edit.document_changes[0].edits
        assert edit.new_text == "  # energy: ignore[pow2]"
        end = edit.range.start
        session.change(uri, (end.line, end.character, end.line, end.character), edit.new_text)
        report = await session.pull(uri)
        assert "pow2" not in {one.code for one in report.items}
        text = await session.hover(uri, *POW)
        assert text is not None
        assert "Cheaper" not in text


async def test_why_opens_the_evidence(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        await session.pull(uri)
        await session.command("energyLsp.server.why", {"rule": "pow2", "uri": uri})
        [shown] = session.client.shown_documents
        assert shown.uri.endswith("pow2.md")
        page = await session.command("energyLsp.server.evidence", {"rule": "pow2"})
        page = page if isinstance(page, dict) else page._asdict()
        assert "# pow2" in page["markdown"]
        assert page["uri"].endswith("/pow2.md")


async def test_a_client_without_literals_gets_commands_alone(start: Any) -> None:
    async with start("minimal") as session:
        uri = session.open("model.py")
        actions = await session.actions(uri, 15)
        assert all(isinstance(one, types.Command) for one in actions)
        assert {one.command for one in actions} >= {"energyLsp.server.why", "energyLsp.server.measure"}


async def test_a_status_follows_each_analysis(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        await session.until(lambda: any(status.state == "ready" for status in session.statuses))
        status = next(status for status in session.statuses if status.state == "ready")
        assert status.uri == uri
        assert status.known_joules == pytest.approx(120.004, abs=1e-3)
        assert status.meter == "rapl"
        session.change(uri, None, "")
        await session.until(lambda: session.statuses[-1].known_joules == 0)


async def test_two_requests_of_one_kind_do_not_disturb_each_other(start: Any) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        answers = await asyncio.gather(*(session.hover(uri, *FIT) for _ in range(20)))
        assert len(set(answers)) == 1


async def test_answers_are_what_the_extension_was_told(start: Any, workspace: Path) -> None:
    async with start("full") as session:
        uri = session.open("model.py")
        session.open("new.py", UNKNOWN)
        await session.pull(uri)
        await session.until(lambda: len(session.statuses) > 1)
        for status in session.statuses:
            fits(as_dict(status), answers.Status, "status")
        for asked in ({}, {"uri": uri}):
            summary = await session.command("energyLsp.server.summary", asked)
            fits(as_dict(summary), answers.Summary, "summary")
        shares = [
            call["share"]
            for file in as_dict(summary)["files"]
            for one in file["functions"]
            for call in one["calls"]
        ]
        assert sum(share for share in shares if share is not None) == pytest.approx(1.0)
