"""Asking git about a repository of others, in such a way that it runs nothing that the repository names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SECONDS = 20.0
"""A long history takes a while to walk."""
_OF_ANOTHER_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")
"""Set where a hook of another repository started us."""
_QUIET = {
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone would fetch what is missing, by a command that its settings name
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
}
_NOTHING_RUNS = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "core.sshCommand=false",
    "-c",
    "log.showSignature=false",
)


def ask_git(folder: Path | str, *arguments: str) -> str:
    """What git prints, without the spaces around it; empty where it has no answer."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_REPOSITORY}
    try:
        done = subprocess.run(
            ["git", *_NOTHING_RUNS, "-C", str(folder), *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            env={**environment, **_QUIET},
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
