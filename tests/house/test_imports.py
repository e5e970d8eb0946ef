"""Imports inside functions: each has its reason in a comment, and none hides a cycle of our own modules."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [
    ROOT / "data" / "energy_data",
    ROOT / "server" / "energy_code",
    ROOT / "measure" / "energy_measure",
    ROOT / "server" / "energy_lsp",
]

WHOLE_FOLDERS = {
    "server/energy_lsp/cli": "a command loads what it needs when it runs: `--help` and the server's start stay fast",
    "server/energy_lsp/session": "the server answers `initialize` before the reader and the database are loaded",
    "server/energy_lsp/workspace": "reader, rules and database load with the first file: the server answers before, `runs` needs no reader",
    "server/energy_lsp/features": "a feature loads what it needs when the editor first asks for it",
    "server/energy_lsp/presentation": "rules, types of the protocol and evidence load when there is something to show",
    "server/energy_lsp/terminal": "rich loads when a table or a progress bar is drawn",
    "server/energy_lsp/checking": "formats of output load when they are asked for",
    "server/energy_lsp/report": "reports load what draws them when one is made",
    "measure/energy_measure/injected": "the measured program pays for imports that its own code does not make",
}
"""Folders whose imports inside functions have one reason for all of them."""
LIBRARIES = {
    "tensorflow": "takes seconds to load, and the server never loads it",
    "keras": "likewise",
    "numpy": "takes 0.1 s to load, and the server needs it only for statistics",
    "scipy": "takes 0.2 s to load, and only statistics need it",
    "pyarrow": "optional: only exports of datasets need it",
    "dask": "optional: only campaigns need it",
    "distributed": "optional: only campaigns need it",
    "pynvml": "only there on machines with an NVIDIA GPU",
    "platformdirs": "only who keeps files outside of a project needs it",
}
"""Libraries that load late wherever they are needed."""


def late_imports(path: Path) -> Iterator[tuple[int, str, bool]]:
    """The imports inside functions of a file: line, module, and whether a comment stands at it or right above it."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    found: dict[int, str] = {}
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom):
                    found[node.lineno] = node.module or "."
                elif isinstance(node, ast.Import):
                    found[node.lineno] = node.names[0].name
    for number, module in sorted(found.items()):
        above = number - 1
        while above in found:  # one comment may stand above several imports
            above -= 1
        yield number, module, "#" in lines[number - 1] or lines[above - 1].lstrip().startswith("#")


def test_an_import_inside_a_function_says_why() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
        if not any(path.is_relative_to(ROOT / folder) for folder in WHOLE_FOLDERS)
        for line, module, has_reason in late_imports(path)
        if not has_reason and module.partition(".")[0] not in LIBRARIES
    ]
    assert not silent, "say why in a comment, or import at the top:\n" + "\n".join(silent)


@pytest.mark.parametrize(
    "folder", ["interpreter", "ir", "models", "lowering", "incremental", "analysis", "syntax", "text"]
)
def test_the_reader_has_no_imports_inside_functions(folder: str) -> None:
    paths = sorted((ROOT / "server" / "energy_code" / folder).rglob("*.py"))
    assert [(path.name, module) for path in paths for _, module, _ in late_imports(path)] == []


def test_the_reader_loads_from_any_module_first() -> None:
    """No cycle at run time: whichever module of the interpreter is imported first, it loads."""
    root = ROOT / "server"
    paths = [
        path
        for part in ("interpreter", "ir", "models")
        for path in (root / "energy_code" / part).rglob("*.py")
    ]
    names = [
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in paths
    ]
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [one for one in sys.modules if one.startswith('energy_code')]: del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
