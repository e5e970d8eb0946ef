"""Programs that take away what their measurement rests on: descriptors, the temporary folder, names that are text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLOSING = """
import os
import tensorflow as tf
tf.square(3)
os.closerange(3, 256)
mine = [open("mine-%d" % number, "w+") for number in range(8)]
for _ in range(12):
    tf.identity(3)
for file in mine:
    file.write("text")
    file.flush()
    file.seek(0)
    assert file.read() == "text", "somebody wrote to it"
    assert os.fstat(file.fileno()).st_size == 4
print("whole")
"""
DELETING = """
import os, shutil, tempfile
import tensorflow as tf
for name in os.listdir(tempfile.gettempdir()):
    shutil.rmtree(os.path.join(tempfile.gettempdir(), name), ignore_errors=True)
for _ in range(8):
    tf.identity(3)
print("whole")
"""
NO_FILES = """
import resource
import tensorflow as tf
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
tf.square(3)
print("whole")
"""


def test_a_program_may_close_what_it_does_not_know(bench: Any, command: Any) -> None:
    """Daemons do; files that it opens afterwards get the numbers of ours, and nothing of ours is written to them."""
    bench.write(main=CLOSING)
    done = command.run("main.py", "--quick", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "whole" in done.stderr
    assert {path.read_text() for path in bench.project.glob("mine-*")} == {"text"}
    counts = {call["api"]: call["count"] for call in json.loads(done.stdout)["calls"]}
    assert counts == {"tensorflow.math.square": 1, "tensorflow.identity": 12}


def test_a_program_that_deletes_the_folder_of_its_measurement_gets_a_sentence(
    bench: Any, command: Any, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    bench.environment["TMPDIR"] = str(temporary)
    bench.write(main=DELETING)
    done = command.run("main.py", "--quick")
    assert done.returncode == 2
    assert "whole" in done.stderr, "it came to its own end"
    assert "main.py deleted the folder that its measurement is recorded in" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX's")
def test_a_program_that_may_open_no_file_ends_as_without_a_measurement(bench: Any, command: Any) -> None:
    bench.write(main=NO_FILES)
    done = command.run("main.py", "--quick", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "whole" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="file names are any bytes on Linux")
def test_names_and_errors_that_are_not_utf_8_are_kept_and_found(bench: Any, command: Any) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    text = "import tensorflow as tf\ntf.square(3)\nraise ValueError('half \\udc80 of a pair')\n"
    (bench.project / name).write_text(text)
    done = command.run(name, "--quick")
    assert done.returncode == 1
    assert "half" in done.stdout.splitlines()[0]
    assert "Traceback" not in done.stdout
    (run,) = command.runs()
    assert run.error.startswith("ValueError: half")
    for words in (["check", name], ["report", name], ["runs", "show", run.id], ["runs"]):
        asked = subprocess.run(
            [sys.executable, "-m", "energy_lsp", *words, "--db", str(command.database)],
            cwd=bench.project,
            env=bench.environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert asked.returncode == 0, (words, asked.stderr)
        assert "half" in asked.stdout or words in (["check", name], ["runs"])
        assert "Traceback" not in asked.stderr, words


def test_a_package_runs_as_python_m_would_run_it(bench: Any, command: Any) -> None:
    bench.write(
        {
            "tool/__init__.py": "",
            "tool/__main__.py": "from .cli import main\nmain(__package__, __spec__.name)\n",
            "tool/cli.py": "import tensorflow as tf\nfrom . import parts\ndef main(*names):\n    tf.square(2)\n    print(*names)\n",
            "tool/parts/__init__.py": "from ..other import value\n",
            "tool/other.py": "value = 1\n",
        }
    )
    for named in ("tool/__main__.py", "."):
        done = command.run(named, "--quick", "--format", "json", "--program-output", "said.txt")
        assert done.returncode == 0, done.stderr
        assert (bench.project / "said.txt").read_text() == "tool tool.__main__\n"
        (call,) = json.loads(done.stdout)["calls"]
        assert (call["file"], call["line"], call["times"]) == ("tool/cli.py", 4, 1)
