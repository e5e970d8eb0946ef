"""Compares the shapes that the source tells with those that runs saw: `python compare_with_runs.py RUNS.json [-v]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from energy_code.static_shapes.project_modules import finder
from energy_code.static_shapes.walk import shapes_of_program


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


def main() -> None:
    runs = json.loads(Path(sys.argv[1]).read_text())
    loud = "-v" in sys.argv
    right = wrong = unknown = partial = 0
    for name, sites in sorted(runs["files"].items()):
        file = Path(name.partition("#")[0])
        if file.suffix != ".py" or "#" in name:
            continue
        source = file.read_text()
        root = file.parent
        start = root / "main.py" if (root / "main.py").exists() else file
        lines = [0]
        for line in source.encode().splitlines(keepends=True):
            lines.append(lines[-1] + len(line))
        found = shapes_of_program(start.read_text(), str(start), finder(start, root, Path.read_bytes)).get(
            str(file), {}
        )
        by_span = {
            (lines[place[0] - 1] + place[1], lines[place[2] - 1] + place[3]): asked
            for place, asked in found.items()
        }
        for begin, end, api, seen in sites:
            seen = [each for each in seen if each]
            if not seen:
                continue
            asked = by_span.get((begin, end))
            text = source.encode()[begin:end].decode().replace("\n", " ")[:80]
            row = source.encode()[:begin].count(b"\n") + 1
            if asked is None:
                unknown += 1
                if "-u" in sys.argv:
                    print("unknown", file.name, row, api, seen[0], text)
            elif all("?" in each.shape for each in asked):
                partial += 1
            elif all(
                any(matches(each.shape, one, api) for one in seen)
                for each in asked
                if "?" not in each.shape and "[" in each.shape
            ):
                right += 1
            else:
                wrong += 1
                if loud:
                    print("WRONG", file.name, row, api, [each.shape for each in asked], seen[:3], text)
    total = right + wrong
    print(
        f"{right} right, {wrong} wrong ({right / max(total, 1):.1%}), {partial} in part, {unknown} not known"
    )


if __name__ == "__main__":
    main()
