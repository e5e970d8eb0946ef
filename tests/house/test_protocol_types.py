"""The extension's types and units are the server's own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_extension_knows_what_the_server_says() -> None:
    checked = subprocess.run(
        [sys.executable, "tools/build_protocol_types.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr
