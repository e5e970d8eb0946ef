"""Runs programs under real TensorFlow and records the shapes that each call of an API is given.

    python shapes_of_runs.py OUTPUT.json PROGRAM...

As `trace_programs` does it, whose copies of programs it runs. The answer: for each file [start byte, end byte, API, the
different lists of shapes seen].
"""

from __future__ import annotations

import builtins
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from trace_programs import Tracer

from energy_measure.injected.probe.inputs import input_signature

MOST = 12
"""Different lists of shapes that are kept for a call."""


class ShapeTracer(Tracer):
    """Records shapes in addition."""

    def __init__(self) -> None:
        super().__init__()
        import tensorflow as tf

        self.seen: dict[int, dict[tuple[str, ...], str]] = {}
        plain = builtins.__reached__  # type: ignore[attr-defined]

        @tf.autograph.experimental.do_not_convert
        def reached(place: int, value: Any) -> Any:
            before = len(self.sites[place].reached)
            plain(place, value)
            api = self.judge.name(value)
            if api is None or api == "?" or isinstance(value, type):
                return value
            del before

            @tf.autograph.experimental.do_not_convert
            def recorded(*given: Any, **named: Any) -> Any:
                seen = self.seen.setdefault(place, {})
                if len(seen) < MOST:
                    seen[input_signature(value, given, named)[0]] = api
                return value(*given, **named)

            return recorded

        builtins.__reached__ = reached  # type: ignore[attr-defined]


def main() -> int:
    output, *names = sys.argv[1:]
    tracer, failures = ShapeTracer(), {}
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(names):
            failure = tracer.run(Path(name), Path(folder) / str(number))
            if failure:
                failures[name] = failure
    files: dict[str, list[Any]] = {}
    for place, seen in tracer.seen.items():
        site = tracer.sites[place]
        files.setdefault(site.file, []).append(
            [site.start, site.end, next(iter(seen.values())), [list(one) for one in seen]]
        )
    Path(output).write_text(json.dumps({"files": files, "failures": failures}, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
