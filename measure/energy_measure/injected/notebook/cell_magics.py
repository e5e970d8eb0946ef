"""`%%bash` and `%%writefile` in a notebook, as IPython does them (Python 3.8 to 3.13)."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INSTALLERS = re.compile(
    r"^\s*(sudo\s+|python3?\s+-m\s+)?(pip[\d.]*|conda|mamba|apt|apt-get|uv|brew)\b.*\b(un)?install\b"
)
"""What would change the environment under the measurement."""


def run_cell_magic(magic: dict[str, str], names: dict[str, Any]) -> None:
    """Do what a cell with a magic of its own does."""
    words = shlex.split(magic["line"])
    if magic["name"] in ("writefile", "file"):
        files = [word for word in words if not word.startswith("-")]
        with open(files[0], "a" if {"-a", "--append"} & set(words) else "w", encoding="utf-8") as file:
            file.write(magic["body"])
        print("Writing " + files[0])
        return
    kept, arguments = {}, []
    position = iter(words)
    for word in position:
        if word in ("--out", "--err"):
            kept[word] = next(position, "")
        elif word not in ("--no-raise-error", "--bg"):
            arguments.append(word)
    sys.stdout.flush()
    done = subprocess.run(
        [magic["name"], *arguments],
        input=_without_installing(magic["body"]).encode("utf-8"),
        stdout=subprocess.PIPE if "--out" in kept else None,
        stderr=subprocess.PIPE if "--err" in kept else None,
        check=False,
    )
    for option, name in kept.items():
        names[name] = (done.stdout if option == "--out" else done.stderr).decode("utf-8", "replace")
    if done.returncode and "--no-raise-error" not in words:
        raise subprocess.CalledProcessError(done.returncode, magic["name"])


def _without_installing(script: str) -> str:
    lines = script.split("\n")
    for number, line in enumerate(lines):
        if _INSTALLERS.match(line):
            message = f"energy-lsp: `{line.strip()}` is left out: nothing is installed while measuring."
            print(message, file=sys.stderr)
            lines[number] = ":"  # a block may need a command
    return "\n".join(lines)
