"""Memory over many edits: what an edit leaves behind, and when the rest is looked for."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

from lsprotocol import types

from energy_lsp.client import Client
from energy_lsp.files import OpenFile
from energy_lsp.folders import Folder
from energy_lsp.garbage import MANY, QUIET_SECONDS, SOME, Garbage

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


def test_garbage_is_looked_for_in_quiet_moments() -> None:
    now = 0.0
    garbage = Garbage(lambda: now)
    for _ in range(SOME):
        garbage.count()
    garbage.hear()
    assert not garbage.look()
    now += QUIET_SECONDS
    assert garbage.look()
    assert not garbage.look()


def test_garbage_is_looked_for_at_last_when_it_never_gets_quiet() -> None:
    garbage = Garbage(lambda: 0.0)
    for _ in range(MANY - 1):
        garbage.count()
    assert not garbage.look()
    garbage.count()
    assert garbage.look()


class Node:
    other: object = None


def test_looking_frees_what_refers_to_itself() -> None:
    node = Node()
    node.other = node
    gone = weakref.ref(node)
    garbage = Garbage(lambda: 0.0)
    for _ in range(MANY):
        garbage.count()
    del node
    garbage.look()
    assert gone() is None
