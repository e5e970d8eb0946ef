"""What is installed beside the program's TensorFlow: asked of its interpreter, without importing any of it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60
_QUESTION = """
import importlib.metadata as known, importlib.util, json, sys
def version(name):
    try:
        return known.version(name)
    except Exception:
        return ""
there = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is not None]
print(json.dumps({"tensorflow": version("tensorflow") or version("tensorflow-cpu"), "there": there}))
"""


@dataclass(frozen=True, slots=True)
class Packages:
    """Of one interpreter."""

    tensorflow: str = ""
    """Its version; empty where nobody can tell."""
    there: frozenset[str] = frozenset()


def packages_of(python: Path, names: Sequence[str]) -> Packages:
    """Which of some packages an interpreter has."""
    try:
        done = subprocess.run(
            [str(python), "-c", _QUESTION, *names],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=python.parent,
            check=True,
        )
        answer = json.loads(done.stdout)
        return Packages(str(answer["tensorflow"]), frozenset(map(str, answer["there"])))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return Packages()
