"""Memory over many edits: what an edit leaves behind, and when the rest is looked for."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from lsprotocol import types

from energy_code.ir.code import FunctionCode
from energy_code.process import garbage_collection as collector
from energy_lsp.session.garbage_collection import GROWTH, QUIET_SECONDS, Garbage
from energy_lsp.session.open_file import OpenFile
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folder

SOURCE = "import tensorflow as tf\n\n\ndef double(x):\n    return tf.pow(x, 2) + tf.abs(x)\n\n\ny = double(tf.ones(3))\n"


def edited(file: OpenFile, number: int) -> None:
    start = types.Position(5, 0)
    change = types.TextDocumentContentChangePartial(types.Range(start, start), "#" if number % 2 else "\n")
    file.change(number, [change])
    _, pages = file.make(Client())
    assert len(pages[file.uri].hints) == 3


def test_an_edit_leaves_nothing_that_only_the_collector_could_free(tmp_path: Path) -> None:
    file = OpenFile((tmp_path / "model.py").as_uri(), 1, Folder(tmp_path), SOURCE)
    for number in range(2, 6):
        edited(file, number)
    while gc.collect():  # what other tests left: a document that goes lets go of what rules kept of it
        pass
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for number in range(6, 16):
            edited(file, number)
        gc.collect()
        left = [type(one).__name__ for one in gc.garbage if type(one).__module__.startswith("energy_")]
        assert left == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def functions_kept(file: OpenFile, first: int, last: int) -> int:
    """Type other names into a function, broken now and then; how many of its versions stay without the collector."""
    for number in range(first, last):
        bracket = "((" if number % 5 == 0 else "("
        text = SOURCE.replace("tf.pow(x,", f"tf.pow{bracket}x{number},")
        file.change(number, [types.TextDocumentContentChangeWholeDocument(text)])
        file.make(Client())
    return sum(type(one) is FunctionCode and bool(one.body) for one in gc.get_objects())


def test_typing_in_a_function_keeps_few_of_its_versions(tmp_path: Path) -> None:
    file = OpenFile((tmp_path / "model.py").as_uri(), 1, Folder(tmp_path), SOURCE)
    gc.collect()
    gc.disable()
    try:
        before = functions_kept(file, 2, 3)
        some = functions_kept(file, 3, 200)
        assert functions_kept(file, 200, 600) - before < 150
        assert some > before, "undoing an edit finds what was read before"
    finally:
        gc.enable()


class Process:
    """A process whose clock and memory the test sets."""

    def __init__(self) -> None:
        self.now, self.blocks = 0.0, 1000
        self.garbage = Garbage(lambda: self.now, lambda: self.blocks)

    def be_quiet(self) -> None:
        self.garbage.hear()
        self.now += QUIET_SECONDS


def test_growth_is_looked_into_in_quiet_moments() -> None:
    process = Process()
    process.blocks = int(GROWTH * 1000)
    process.garbage.hear()
    assert not process.garbage.collect()
    process.be_quiet()
    assert process.garbage.collect()
    assert not process.garbage.collect()


def test_a_closed_file_is_a_reason_in_quiet_moments() -> None:
    process = Process()
    process.garbage.let_go()
    assert not process.garbage.collect()
    process.be_quiet()
    assert process.garbage.collect()
    assert not process.garbage.collect()


class Node:
    other: object = None


def test_looking_frees_what_refers_to_itself_however_old() -> None:
    node = Node()
    node.other = node
    gone = weakref.ref(node)
    process = Process()
    process.garbage.let_go()
    process.be_quiet()
    gc.freeze()
    try:
        del node
        process.garbage.collect()
        assert gone() is None
    finally:
        gc.unfreeze()


def test_a_reading_is_passed_over_and_looked_through_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(gc, "collect", lambda: looks.append("look"))
    monkeypatch.setattr(collector.Passed, "objects", collector.ENOUGH)
    collector.pass_over(1)
    assert looks == ["look"]
    assert gc.get_freeze_count() == 0
    collector.pass_over(1)
    assert looks == ["look"]


def test_in_the_server_what_a_reading_made_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector.Passed, "stay", True)
    try:
        collector.pass_over(1)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
