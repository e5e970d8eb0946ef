"""Runs a program under `cProfile` and writes down its hot functions (Python 3.8 to 3.13).

Started as `PYTHON profiled_run.py FILE SCRIPT [ARGUMENTS]`, with the standard library alone. FILE gets JSON: CPU seconds of
all functions together, and for the hottest `[file, line, name, calls, own CPU seconds]`. The clock is that of the process,
so a function that has other threads compute is charged with them.
"""

from __future__ import annotations

import contextlib
import cProfile
import json
import os
import runpy
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from energy_measure.injected.phase_marks import provide_span
else:  # beside this file, which is started by its path
    from phase_marks import provide_span

HOTTEST = 100


def written(profile: cProfile.Profile, path: str) -> None:
    """Write down what took longest by itself."""
    rows: list[list[Any]] = []
    for entry in profile.getstats():
        code = entry.code
        if isinstance(code, str):
            place: list[Any] = ["", 0, code]
        else:
            place = [code.co_filename, code.co_firstlineno, getattr(code, "co_qualname", code.co_name)]
        rows.append([*place, entry.callcount, entry.inlinetime])
    rows.sort(key=lambda row: -row[4])
    summary = {"seconds": sum(row[4] for row in rows), "functions": rows[:HOTTEST]}
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as stream:
        json.dump(summary, stream)


def main() -> None:
    """Set the program up as Python itself would, and run it."""
    path, script = sys.argv[1], sys.argv[2]
    sys.argv = sys.argv[2:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    provide_span()
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        profile.disable()
        written(profile, path)


if __name__ == "__main__":
    main()
