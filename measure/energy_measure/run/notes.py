"""What the program's processes noted about themselves at their end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from energy_data.model import Environment, InputSignature
from energy_measure.program.process import Ended


def read_calls(folder: Path) -> list[dict[str, Any]]:
    """What each process of the program noted at its end."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("calls-*.json"))]


def noted(folder: Path, process: int) -> dict[str, Any]:
    """What one process noted at its end; nothing if it did not come to that."""
    path = folder / f"calls-{process}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def noted_end(folder: Path, process: int) -> Ended | None:
    """When a program began and ended that left by `os._exit`."""
    found = noted(folder, process)
    return Ended(int(found["begin"]), int(found["end"]), 1) if found.get("finished") else None


def lost_records(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to tell where a program took away what its calls are recorded with."""
    lost = sum(process.get("lost", 0) for process in found)
    if not lost:
        return []
    return [
        f"{lost} records of calls could not be written while the program ran (no room on the disk, or no file may be "
        "opened): what these calls took is counted elsewhere."
    ]


def signatures(found: Sequence[Mapping[str, Any]]) -> dict[int, InputSignature]:
    """The input signature seen most often at each site."""
    most: dict[int, tuple[int, InputSignature]] = {}
    for process in found:
        for site, known in process["signatures"].items():
            for texts, in_args, in_kwargs, in_object, seen in known:
                if seen > most.get(int(site), (0, None))[0]:
                    signature = InputSignature(tuple(texts), in_args, in_kwargs, in_object)
                    most[int(site)] = (seen, signature)
    return {site: signature for site, (_, signature) in most.items()}


def environment(found: Sequence[Mapping[str, Any]]) -> Environment:
    """The versions that the program ran with."""
    versions: dict[str, str] = {}
    for process in found:
        for name, version in process["versions"].items():
            versions[name] = versions.get(name) or version
    names = [field.name for field in fields(Environment)]
    return Environment(**{name: versions.get(name, "") for name in names})
