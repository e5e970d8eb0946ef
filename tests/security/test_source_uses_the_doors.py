"""Files are written, opened and printed to in one place each: nothing in the source goes past it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("data/energy_data", "server/energy_code", "server/energy_lsp", "measure/energy_measure")
INJECTED = "measure/energy_measure/injected/"
"""Runs inside the measured program with the standard library alone, and writes into the private folder of the run."""
TUNING = "measure/energy_measure/tuning/"
"""Tries changes in a private copy of a project that its owner asked to have tuned."""
CALIBRATION = "measure/energy_measure/calibration/"
"""Keeps its parts in a private folder of the user's own cache."""
WRITERS = {
    "data/energy_data/untrusted/writing.py": "the one place",
    "measure/energy_measure/sampling/trace_file.py": "records of a sampler, in the private folder of a run",
    "data/energy_data/dataset/export.py": "makes the folder that somebody named",
    "measure/energy_measure/host/file_lock.py": "a lock that all users of a host share, link-free and never written over",
    "measure/energy_measure/host/lock.py": "the note in that lock",
    "measure/energy_measure/campaign/results.py": "links a whole file to its name, which must be free",
    "measure/energy_measure/campaign/worker.py": "what an attempt says, in a fresh file of its own",
    "measure/energy_measure/campaign/attempt.py": "links a whole file to its name, which must be free",
    "measure/energy_measure/sampling/controller.py": "makes a folder in the private folder of a run",
    "measure/energy_measure/injected/phase_marks.py": "inside of the measured program, into the private folder of who measures",
}
READERS = {
    "measure/energy_measure/program/found_sites.py": "also the private folder of a run",
    "measure/energy_measure/host/file_lock.py": "a lock that all users of a host share, link-free",
    "data/energy_data/untrusted/reading.py": "the one place",
    "data/energy_data/untrusted/writing.py": "opens to write",
    "measure/energy_measure/injected/phase_marks.py": "opens to write, inside of the measured program",
    "data/energy_data/catalogue/catalogue.py": "a table that is part of the package",
    "data/energy_data/published/figures.py": "a table that is part of the package",
    "server/energy_code/static_shapes/parameters.py": "a table that is part of the package",
    "server/energy_lsp/report/page.py": "assets that are part of the package",
    "measure/energy_measure/inside/recorded.py": "the private folder of a run",
    "measure/energy_measure/attribution/events.py": "the private folder of a run",
    "measure/energy_measure/run/notes.py": "the private folder of a run",
    "measure/energy_measure/sampling/recording.py": "the private folder of a run",
    "measure/energy_measure/sampling/controller.py": "the private folder of a run",
    "measure/energy_measure/sampling/trace_file.py": "the private folder of a run",
    "measure/energy_measure/program/guard.py": "files of the kernel",
    "measure/energy_measure/meters/perf.py": "files of the kernel",
    "measure/energy_measure/meters/rapl.py": "files of the kernel",
    "measure/energy_measure/meters/sysfs.py": "files of the kernel",
    "measure/energy_measure/meters/cpu_time.py": "files of the kernel",
}
PARSERS = {
    "data/energy_data/untrusted/parsing.py": "the one place",
    "data/energy_data/published/figures.py": "a table that is part of the package",
    "server/energy_code/static_shapes/parameters.py": "a table that is part of the package",
    "server/energy_code/workspace/import_index.py": "the user's own cache",
    "server/energy_code/workspace/notebook_text.py": "strings of a notebook that was parsed before",
}
"""Who parses JSON, of those that read files of others: a database, an export, a notebook."""
WRITE = {
    "write_text",
    "write_bytes",
    "touch",
    "mkstemp",
    "NamedTemporaryFile",
    "symlink_to",
    "copyfile",
    "copytree",
}
WRITE |= {"mkdir", "makedirs", "hardlink_to"}
READ = {"read_text", "read_bytes"}
ON_OS = {"open", "replace", "rename", "link", "symlink", "truncate"}


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Each call with the name it is made by: `open`, `os.open`, `.write_text`."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield function.id, node
            elif isinstance(function, ast.Attribute):
                owner = function.value
                yield (
                    ("os." if isinstance(owner, ast.Name) and owner.id == "os" else ".") + function.attr,
                    node,
                )


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith((INJECTED, TUNING, CALIBRATION)):
                yield name, path


def is_write(name: str, node: ast.Call) -> bool:
    mode = node.args[0] if name == ".open" and node.args else node.args[1] if len(node.args) > 1 else None
    text = mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else ""
    opens = name in ("open", ".open") and any(letter in text for letter in "wax+") and len(text) < 4
    return opens or name.lstrip(".") in WRITE or name in {f"os.{one}" for one in ON_OS}


def is_read(name: str, node: ast.Call) -> bool:
    return name == "open" or (name.startswith(".") and name[1:] in READ and not _is_resource(node))


def _is_resource(node: ast.Call) -> bool:
    """`read_text(path, most)` of ours is called by its name, not on a path."""
    return not isinstance(node.func, ast.Attribute)


def test_files_are_written_in_one_place() -> None:
    found = {
        f"{name}:{node.lineno} {call}"
        for name, path in modules()
        if name not in WRITERS
        for call, node in calls(path)
        if is_write(call, node) and call != "os.open"
    }
    assert not found, f"use energy_data.untrusted.writing: {sorted(found)}"


def test_files_of_others_are_opened_in_one_place() -> None:
    found = {
        f"{name}:{node.lineno} {call}"
        for name, path in modules()
        if name not in READERS
        for call, node in calls(path)
        if is_read(call, node) or call == "os.open"
    }
    assert not found, f"use energy_data.untrusted.reading: {sorted(found)}"


def test_json_of_others_is_parsed_in_one_place() -> None:
    found = {
        f"{name}:{node.lineno} {call}"
        for name, path in modules()
        if name not in PARSERS and name.startswith(("data/", "server/energy_code/"))
        for call, node in calls(path)
        if call in (".loads", ".load") and ast.unparse(node.func).startswith("json.")
    }
    assert not found, f"use energy_data.untrusted.parsing: {sorted(found)}"


def test_the_exceptions_are_still_there() -> None:
    assert not [name for name in {**WRITERS, **READERS, **PARSERS} if not (ROOT / name).exists()]
