"""What a project's settings and a pipe mean for `energy-lsp tune` and `energy-lsp compare`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from energy_lsp.terminal import progress as showing
from energy_measure.comparison.windows import MeteredProcess
from energy_measure.session import Progress
from energy_measure.tuning import workshop as copies
from energy_measure.tuning.candidate import read_sources
from energy_measure.tuning.likeness import Tolerance
from energy_measure.tuning.search import Tuning
from energy_measure.tuning.workshop import Workshop

PROGRAM = "print(sum(range(2_000_000)))\n"
TUNE = ("tune", "train.py", "--budget", "0.5", "--db", "../own.sqlite", "--project", ".")
COMPARE = ("compare", "train.py", "train.py", "--quick")


@pytest.mark.parametrize("command", [TUNE, COMPARE])
def test_watts_of_the_project_count(tmp_path: Path, command: tuple[str, ...]) -> None:
    """A thousand times the watts are about a thousand times the joules, whatever else the machine does."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(PROGRAM)
    found = []
    for watts in ("500", "0.5"):
        (project / "pyproject.toml").write_text(f"[tool.energy-lsp.measure]\nactive-watts = {watts}\n")
        environment = {**os.environ, "ENERGY_LSP_LOCK_FOLDER": str(tmp_path)}
        environment.pop("ENERGY_LSP_ACTIVE_WATTS", None)
        told = subprocess.run(
            [
                *(sys.executable, "-m", "energy_lsp", *command),
                *("--python", sys.executable, "--meter", "cpu-time", "--format", "json"),
            ],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, told.stderr
        found.append(json.loads(told.stdout)["before"]["joules"])
    assert found[0] > 50 * found[1] > 0


def test_a_long_run_tells_again_that_it_goes_on_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(copies, "REMIND_SECONDS", 0.05)
    monkeypatch.setattr(showing, "EVERY_SECONDS", 0.1)
    entry = tmp_path / "train.py"
    entry.write_text("import time\ntime.sleep(1)\nprint(1)\n")
    workshop = Workshop(tmp_path, entry, Path(sys.executable), (), read_sources(tmp_path, entry))
    with (
        workshop,
        MeteredProcess("cpu-time") as metered,
        showing.progress_display("auto", shared=False) as (tell, _),
    ):
        Tuning(workshop, metered, 60.0, Tolerance(), lambda *told: tell(Progress(*told))).run([])
    lines = [line for line in capsys.readouterr().err.splitlines() if "once more" in line]
    assert len(lines) >= 3, "not one line for a stage that takes long"
    assert all("left" in line for line in lines)
