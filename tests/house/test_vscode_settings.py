"""The VS Code extension describes every option of the server, in the server's own words."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_extension_lists_every_option_of_the_server() -> None:
    checked = subprocess.run(
        [sys.executable, "tools/build_vscode_settings.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr
