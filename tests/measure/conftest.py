"""Simulated machines for the tests of this room."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scene import Built, Scene, Sensor, build


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The simulated sensors, compiled."""
    return build(tmp_path_factory.mktemp("lab"))


@pytest.fixture
def machine_with(lab: Built, tmp_path: Path) -> Callable[..., Scene]:
    """Makes a simulated machine: `machine_with(package(0, wave), gpu(...), perf_denied=True)`."""

    def make(*sensors: Sensor, **options: Any) -> Scene:
        folder = tmp_path / "machine"
        folder.mkdir()
        return Scene(folder, lab, sensors, **options)

    return make


@pytest.fixture
def ask_inside() -> Callable[[Scene, str], Any]:
    """Runs Python inside a simulated machine and returns what its expression `answer` holds."""

    def ask(scene: Scene, code: str) -> Any:
        program = f"import json\n{code}\nprint(json.dumps(answer))"
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, **scene.environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask
