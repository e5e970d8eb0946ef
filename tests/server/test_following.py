"""Edits of comments and blank lines in a short file: diagnostics are told at once, and are those that its page has then."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from energy_code.workspace.document import Document
from energy_lsp.presentation.diagnostics import EncodedDiagnostics
from energy_lsp.presentation.file_report import FileReport
from energy_lsp.presentation.pipeline import make_page
from energy_lsp.session.client import Client
from energy_lsp.session.folders import Folder, Folders
from energy_lsp.session.open_files import SHORT, OpenFiles
from energy_lsp.session.worker import Worker

SOURCE = '''import tensorflow as tf

# Größe 😀 of things


def squares(x):
    """Adds up.

    Twice.
    """
    y = tf.pow(x, 2)  # 😀 a comment
    z = tf.constant(1.0)
    return tf.reduce_sum(y) + tf.matmul(z, z)


class Net(tf.keras.Model):
    # before
    def call(self, inputs):

        return tf.pow(inputs, 2)


print(squares(tf.ones([2, 2])))
'''
CLIENT = Client(related_information=True, code_description=True, diagnostic_data=True)


class Editor:
    """A client with one file open."""

    def __init__(self, path: Path, text: str = SOURCE, client: Client = CLIENT) -> None:
        self.told: list[EncodedDiagnostics] = []
        self.text = text
        self._client = client
        self._uri = path.as_uri()
        self._path = path
        self._version = 1
        self._worker = Worker(asyncio.get_running_loop(), lambda problem: None)
        self._folders = Folders({})
        self._folders.add(path.parent)
        self._files = OpenFiles(
            self._worker, self._folders, lambda: client, lambda opened: None, self.told.append
        )
        self._files.open(self._uri, 1, text)

    async def page(self) -> FileReport:
        """The newest page."""
        page = await self._files.page(self._uri)
        assert page is not None
        return page

    def edit(self, start: int, end: int, typed: str) -> bool:
        """Replace some letters; True when the diagnostics were told at once."""
        self._version += 1
        places = [types.Position(*self._place(letter)) for letter in (start, end)]
        change = types.TextDocumentContentChangePartial(range=types.Range(*places), text=typed)
        self.text = self.text[:start] + typed + self.text[end:]
        before = len(self.told)
        self._files.change(self._uri, self._version, [change])
        return len(self.told) > before

    def _place(self, letter: int) -> tuple[int, int]:
        line = self.text[:letter].split("\n")
        return len(line) - 1, len(line[-1].encode("utf-16-le")) // 2

    def fresh(self) -> EncodedDiagnostics:
        """What somebody is told who opens the file as it is now."""
        document, folder = Document(self.text, path=self._path), Folder(self._path.parent)
        return make_page(self._uri, self._path, document, folder, self._client, self._version).told

    def end(self) -> None:
        """Close."""
        self._worker.stop()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figures: Callable[..., None]) -> Path:
    """A file in a project of which some calls were measured, one of them at its line in this file."""
    monkeypatch.setenv("ENERGY_LSP_DB", str(tmp_path / "energy.db"))
    source = "import tensorflow as tf\n\nx = tf.constant(1.0)\ny = tf.reduce_sum(x)\n"
    figures(
        tmp_path / "energy.db", {"tensorflow.constant": 3.0, "tensorflow.math.reduce_sum": 2.0}, source=source
    )
    return tmp_path / "project" / "model.py"


def random_edit(text: str, dice: random.Random) -> tuple[int, int, str]:
    """Mostly of what is no code."""
    line = dice.choice([0, *[place + 1 for place, letter in enumerate(text) if letter == "\n"]])
    end = text.find("\n", line) if "\n" in text[line:] else len(text)
    kind = dice.random()
    if kind < 0.3:
        return line, line, dice.choice(["\n", "\n\n", "    # more 😀\n", "# more\n"])
    if kind < 0.6 and "#" in text[line:end]:
        return end, end, dice.choice(["x", " é", "😀", " energy: ignore", " tf.pow", " tensorflow"])
    if kind < 0.8 and text[line:end].strip()[:1] in ("", "#"):
        return line, min(end + 1, len(text)), ""
    if kind < 0.9:
        return end, end, dice.choice([" ", "  # behind"])
    place = dice.randrange(len(text) + 1)
    return place, place, dice.choice(["x", "(", "tf.pow(1.0, 2)", "\n"])


@pytest.mark.parametrize("seed", range(6))
def test_what_is_told_at_once_is_what_the_page_says(seed: int, path: Path) -> None:
    async def use() -> int:
        editor, dice = Editor(path), random.Random(seed)
        followed = 0
        for number in range(60):
            await editor.page()
            typed = dice.choice([1, 1, 1, 3])
            for _ in range(typed):
                at_once = editor.edit(*random_edit(editor.text, dice))
            page = await editor.page()
            assert page.source.decode() == editor.text
            if at_once:
                followed += 1
                assert editor.told[-1] == page.told
            assert page.told == editor.fresh()
            if number % 4 == 3:
                editor.edit(0, len(editor.text), SOURCE)
        editor.end()
        return followed

    assert asyncio.run(use()) > 5


def test_calls_that_were_measured_at_their_lines_are_looked_up_again_when_they_move(
    path: Path, figures: Callable[..., None]
) -> None:
    first = "import tensorflow as tf; tf.matmul(1.0, 2.0)\n"
    database, joules = path.parents[1] / "energy.db", {"tensorflow.linalg.matmul": 7.0}
    figures(database, joules, run_id="run-2", source=first, notes_texts=False)

    async def use() -> None:
        function = "def f(x):\n    # comment\n    return tf.matmul(x, 1.0)\n"
        editor = Editor(path, "import tensorflow as tf; tf.matmul(1.0, 2.0)\n\n" + function)
        assert "matmul: 7.0 J" in (await editor.page()).told.encoded
        comment = editor.text.index("comment")
        assert editor.edit(comment, comment, "a "), "no line moves"
        assert (await editor.page()).told == editor.told[-1] == editor.fresh()
        assert not editor.edit(comment - 6, comment - 6, "\n"), "one of the calls moves"
        assert (await editor.page()).told == editor.fresh()
        assert not editor.edit(0, 0, "\n")
        assert (await editor.page()).told == editor.fresh()
        assert "matmul: 7.0 J" not in (await editor.page()).told.encoded
        editor.end()

    asyncio.run(use())


def test_long_texts_and_code_are_the_workers(path: Path) -> None:
    async def use() -> None:
        editor = Editor(path)
        await editor.page()
        place = editor.text.index("Twice")
        assert editor.edit(place, place, "Not ")
        assert not editor.edit(place, place, "x" * SHORT), "too much"
        assert (await editor.page()).told == editor.fresh()
        assert not editor.edit(0, len(editor.text), SOURCE), "it was too long"
        await editor.page()
        code = editor.text.index("tf.constant")
        assert not editor.edit(code, code, "2 * ")
        assert not editor.edit(place, place, "Not "), "the worker has not read the edit before"
        assert (await editor.page()).told == editor.fresh()
        editor.end()

    asyncio.run(use())


def test_what_cannot_be_followed_is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use() -> None:
        editor = Editor(path)
        await editor.page()
        place = editor.text.index("Twice")
        with monkeypatch.context() as patch:
            patch.setattr(Document, "move", lambda self: 1 / 0)
            assert not editor.edit(place, place, "Not ")
            assert (await editor.page()).told == editor.fresh()
        assert editor.edit(place, place, "Or ")
        assert (await editor.page()).told == editor.fresh()
        editor.end()

    asyncio.run(use())
