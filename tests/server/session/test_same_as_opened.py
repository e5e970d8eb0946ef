"""After edits, of comments and blank lines above all, an open file shows what one shows that is opened as it is then."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from energy_code.workspace.document import Document
from energy_lsp.presentation.pipeline import make_report
from energy_lsp.presentation.reports.diagnostics import with_diagnostics
from energy_lsp.presentation.reports.file import EncodedDiagnostics, FileReport
from energy_lsp.session.open_files import OpenFiles
from energy_lsp.session.worker import Worker
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folder, Folders

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
        self.text = text
        self._client = client
        self._uri = path.as_uri()
        self._path = path
        self._version = 1
        self._worker = Worker(asyncio.get_running_loop(), lambda problem: None)
        self._folders = Folders({})
        self._folders.add(path.parent)
        self._files = OpenFiles(self._worker, self._folders, lambda: client, lambda opened: None)
        self._files.open(self._uri, 1, text)

    async def report(self) -> FileReport:
        """The newest report."""
        report = await self._files.report(self._uri)
        assert report is not None
        return report

    def edit(self, start: int, end: int, typed: str) -> None:
        """Replace some letters."""
        self._version += 1
        places = [types.Position(*self._place(letter)) for letter in (start, end)]
        change = types.TextDocumentContentChangePartial(range=types.Range(*places), text=typed)
        self.text = self.text[:start] + typed + self.text[end:]
        self._files.change(self._uri, self._version, [change])

    def _place(self, letter: int) -> tuple[int, int]:
        line = self.text[:letter].split("\n")
        return len(line) - 1, len(line[-1].encode("utf-16-le")) // 2

    def fresh(self) -> EncodedDiagnostics:
        """What is shown to somebody who opens the file as it is now."""
        document, folder = Document(self.text, path=self._path), Folder(self._path.parent)
        report = make_report(self._uri, self._path, document, folder, self._client, self._version)
        return with_diagnostics(report).diagnostics

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
def test_an_edited_file_shows_what_a_fresh_one_does(seed: int, path: Path) -> None:
    async def use() -> None:
        editor, dice = Editor(path), random.Random(seed)
        for number in range(60):
            await editor.report()
            for _ in range(dice.choice([1, 1, 1, 3])):
                editor.edit(*random_edit(editor.text, dice))
            report = await editor.report()
            assert report.source.decode() == editor.text
            assert report.diagnostics == editor.fresh()
            if number % 4 == 3:
                editor.edit(0, len(editor.text), SOURCE)
        editor.end()

    asyncio.run(use())


def test_calls_that_were_measured_at_their_lines_are_looked_up_again_when_they_move(
    path: Path, figures: Callable[..., None]
) -> None:
    first = "import tensorflow as tf; tf.matmul(1.0, 2.0)\n"
    database, joules = path.parents[1] / "energy.db", {"tensorflow.linalg.matmul": 7.0}
    figures(database, joules, run_id="run-2", source=first, notes_texts=False)

    async def use() -> None:
        function = "def f(x):\n    # comment\n    return tf.matmul(x, 1.0)\n"
        editor = Editor(path, first + "\n" + function)
        assert "matmul: 7.0 J" in (await editor.report()).diagnostics.items
        comment = editor.text.index("comment")
        for place, typed in ((comment, "a "), (comment - 6, "\n"), (0, "\n")):
            editor.edit(place, place, typed)
            assert (await editor.report()).diagnostics == editor.fresh()
        assert "matmul: 7.0 J" not in (await editor.report()).diagnostics.items
        editor.end()

    asyncio.run(use())
