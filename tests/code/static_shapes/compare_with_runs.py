"""Compares the shapes that the source tells with those that runs saw: `python compare_with_runs.py RUNS.json [-u]`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from energy_code.static_shapes.program import shapes_of_program
from energy_code.static_shapes.project_modules import finder


def matches(static: str, seen: list[str], api: str) -> bool:
    """Whether one list of shapes is what a run saw; sizes that the run itself left open fit any."""
    told = static.split(", ")
    shown = [text.rpartition("=")[2] for text in seen]
    if api.rpartition(".")[2] in (
        "fit",
        "evaluate",
        "predict",
        "__call__",
        "train_on_batch",
        "test_on_batch",
    ):
        shown = shown[: len(told)]
    return len(told) == len(shown) and all(fits(a, b) for a, b in zip(told, shown, strict=True))


def fits(told: str, shown: str) -> bool:
    if told.partition("[")[0] != shown.partition("[")[0]:
        return False
    left, right = (text.partition("[")[2].rstrip("]").split(",") for text in (told, shown))
    return len(left) == len(right) and all(a == b or b == "?" for a, b in zip(left, right, strict=True))


@dataclass
class Compared:
    """What comparing gave."""

    right: int = 0
    partial: int = 0
    wrong: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def compared(path: Path) -> Compared:
    runs = json.loads(path.read_text())
    result = Compared(failures=list(runs["failures"]))
    for name, sites in sorted(runs["files"].items()):
        file = Path(name.partition("#")[0])
        if file.suffix != ".py" or "#" in name:
            continue
        source = file.read_bytes()
        start = file.parent / "main.py" if (file.parent / "main.py").exists() else file
        lines = [0]
        for line in source.splitlines(keepends=True):
            lines.append(lines[-1] + len(line))
        program = shapes_of_program(
            start.read_text(), str(start), finder(start, file.parent, Path.read_bytes)
        )
        by_span = {
            (lines[place[0] - 1] + place[1], lines[place[2] - 1] + place[3]): asked
            for place, asked in program.get(str(file), {}).items()
        }
        for begin, end, api, every in sites:
            seen = [each for each in every if each]
            if not seen:
                continue
            asked = by_span.get((begin, end))
            row = source[:begin].count(b"\n") + 1
            about = f"{file.name}:{row} {api} {source[begin:end][:60]!r} ran with {seen[:3]}"
            whole = [each.shape for each in asked or () if "?" not in each.shape and "[" in each.shape]
            if asked is None:
                result.unknown.append(about)
            elif not whole:
                result.partial += 1
            elif all(any(matches(shape, one, api) for one in seen) for shape in whole):
                result.right += 1
            else:
                result.wrong.append(f"{about}, read {whole}")
    return result


def main() -> None:
    found = compared(Path(sys.argv[1]))
    for line in (*found.wrong, *(found.unknown if "-u" in sys.argv else ())):
        print(line)
    total = found.right + len(found.wrong)
    print(
        f"{found.right} right, {len(found.wrong)} wrong ({found.right / max(total, 1):.1%}), "
        f"{found.partial} in part, {len(found.unknown)} not known"
    )


if __name__ == "__main__":
    main()
