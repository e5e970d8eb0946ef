"""Reading a file, and looking at all of its calls, is the worker's: the event loop only passes results on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path

from energy_lsp.features.code_lens import lenses
from energy_lsp.presentation.reports.file import FileReport
from energy_lsp.session.open_file import Opened, OpenFile
from energy_lsp.session.open_files import OpenFiles
from energy_lsp.session.worker import Worker
from energy_lsp.wire.encoding import Encoded
from energy_lsp.workspace.client import Client
from energy_lsp.workspace.folders import Folder, Folders

SOURCE = "import tensorflow as tf\n\n\ndef double(x):\n    return tf.pow(x, 2)\n"


class Watched(OpenFile):
    """A file that remembers who read it."""

    readers: set[str]

    def make_reports(self, client: Client) -> tuple[int, Mapping[str, FileReport]]:
        self.readers = {threading.current_thread().name}
        return super().make_reports(client)


def test_analysis_and_whole_file_questions_run_in_the_worker(tmp_path: Path) -> None:
    shown_in: list[str] = []
    uri = (tmp_path / "model.py").as_uri()

    def who_asks(report: FileReport) -> Encoded:
        assert len(lenses(report)) == 1
        return Encoded(threading.current_thread().name)

    async def use() -> tuple[set[str], str]:
        worker = Worker(asyncio.get_running_loop(), lambda problem: None)
        files = OpenFiles(
            worker,
            Folders({}),
            Client,
            lambda opened: shown_in.append(threading.current_thread().name),
        )
        watched = Watched(uri, 1, Folder(tmp_path), SOURCE)
        files.begin(watched)
        answer = await files.answer(uri, who_asks)
        worker.stop()
        return watched.readers, answer

    readers, answered = asyncio.run(use())
    assert readers == {"energy-lsp worker"}
    assert answered == "energy-lsp worker"
    assert shown_in == [threading.main_thread().name]


def test_a_question_about_a_file_that_is_not_open_has_an_answer() -> None:
    async def use() -> str:
        worker = Worker(asyncio.get_running_loop(), lambda problem: None)
        files = OpenFiles(worker, Folders({}), Client, lambda opened: None)
        answer = await files.answer("file:///not/open.py", lambda report: Encoded("report"))
        worker.stop()
        return answer

    assert asyncio.run(use()) == "[]"


def test_nobody_waits_for_a_second_look(tmp_path: Path) -> None:
    """After an edit other files are read again, mostly for nothing."""
    uri = (tmp_path / "model.py").as_uri()
    gate = threading.Event()

    async def use() -> int:
        looked: list[str] = []
        both = asyncio.Event()

        def shown(opened: Opened) -> None:
            looked.append(opened.uri)
            if len(looked) == 2:
                both.set()

        worker = Worker(asyncio.get_running_loop(), lambda problem: None)
        files = OpenFiles(worker, Folders({}), Client, shown)
        files.open(uri, 1, SOURCE)
        assert await files.report(uri) is not None
        worker.submit("gate", gate.wait, lambda _: None)
        files.look_again(files)
        report = await files.report(uri)  # the worker does nothing at all meanwhile
        gate.set()
        await both.wait()
        worker.stop()
        assert report is not None
        return len(report.hints)

    assert asyncio.run(use()) == 1
