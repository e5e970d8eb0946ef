"""The shape of the packages: no cycles between modules, no folder and no module that is too large."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "energy_data": ROOT / "data",
    "energy_code": ROOT / "server",
    "energy_measure": ROOT / "measure",
    "energy_lsp": ROOT / "server",
}


def modules(package: str) -> dict[str, Path]:
    root = PACKAGES[package]
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the same package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def components(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected parts of more than one module (Tarjan, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for start in arrows:
        work = [(start, iter(sorted(arrows[start])))] if start not in number else []
        while work:
            name, targets = work[-1]
            if name not in number:
                number[name] = low[name] = len(number)
                stack.append(name)
            for target in targets:
                if target not in number:
                    work.append((target, iter(sorted(arrows[target]))))
                    break
                if target in stack:
                    low[name] = min(low[name], number[target])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[name])
                if low[name] == number[name]:
                    part = stack[stack.index(name) :]
                    del stack[-len(part) :]
                    if len(part) > 1:
                        found.append(sorted(part))
    return found


def cycles(package: str) -> list[list[str]]:
    known = modules(package)
    arrows = {
        name: {target for target in imported(path, known) if target in known and target != name}
        for name, path in known.items()
    }
    return sorted(components(arrows), key=len, reverse=True)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_in_a_cycle_of_imports(package: str) -> None:
    """Those under TYPE_CHECKING and inside of functions counted."""
    shown = "\n".join(", ".join(part) for part in cycles(package))
    assert not shown, f"cycles:\n{shown}"


def test_a_cycle_that_type_checking_hides_is_found(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import B\n")
    second.write_text("def f():\n    from p import a\n")
    known = {"p.a": first, "p.b": second}
    arrows = {name: {one for one in imported(path, known) if one in known} for name, path in known.items()}
    assert components(arrows) == [["p.a", "p.b"]]


MOST_MODULES = 16
MOST_LINES = 550
"""Above the aim of about 15 modules and 300 lines: what is between is for a reader to judge."""
LARGE_FOLDERS = {
    "server/energy_code/rules": "one file a rule",
    "server/energy_code/advice": "one file a piece of advice",
}


def test_folders_hold_few_modules() -> None:
    wrong = []
    for package, root in PACKAGES.items():
        for folder in (root / package, *(path for path in (root / package).rglob("*") if path.is_dir())):
            count = len([path for path in folder.glob("*.py") if path.name != "__init__.py"])
            name = folder.relative_to(ROOT).as_posix()
            if count > MOST_MODULES and name not in LARGE_FOLDERS:
                wrong.append(f"{name}: {count} modules")
    assert not wrong, "group them by what they are for:\n" + "\n".join(wrong)


def test_modules_are_small() -> None:
    wrong = []
    for package in PACKAGES:
        for path in modules(package).values():
            lines = path.read_text("utf-8").count("\n")
            name = path.relative_to(ROOT).as_posix()
            if lines > MOST_LINES:
                wrong.append(f"{name}: {lines} lines")
    assert not wrong, "split what has two jobs:\n" + "\n".join(wrong)


def properties(package: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for name, path in modules(package).items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                by = {getattr(one, "attr", getattr(one, "id", "")) for one in node.decorator_list}
                if by & {"property", "cached_property"}:
                    yield f"{name}: {node.name}", node


@pytest.mark.parametrize("package", PACKAGES)
def test_a_property_hides_no_work(package: str) -> None:
    """It says something of an object's fields. What parses, opens, asks or keeps a result is a method, and looks like one."""
    wrong = []
    for name, node in properties(package):
        keeps = any(
            isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) for one in ast.walk(node)
        )
        loads = any(isinstance(one, (ast.Import, ast.ImportFrom)) for one in ast.walk(node))
        kept = any("cached" in ast.unparse(one) for one in node.decorator_list)
        if keeps or loads or kept:
            wrong.append(name)
    assert not wrong, "make it a method:\n" + "\n".join(wrong)


OWN_WORLDS = {
    "energy_lsp.features.answers": "the same things as they go over the wire",
    "energy_code.static_shapes.values.kinds": "the values of the walk for shapes; the interpreter has its own",
    "energy_measure.injected": "runs inside the measured program, which imports nothing of the other packages",
}
SAME_MEANING = {
    "CallSite": "where the source calls something: an expression of the reader, a place for the probe"
}


def test_a_type_name_has_one_meaning() -> None:
    """A class that is called like another of another module is told from it by nobody who reads a line of code."""
    defined: dict[str, list[str]] = {}
    for package in PACKAGES:
        for name, path in modules(package).items():
            if any(name.startswith(world) for world in OWN_WORLDS):
                continue
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    defined.setdefault(node.name, []).append(name)
    twice = {name: found for name, found in defined.items() if len(found) > 1 and name not in SAME_MEANING}
    assert not twice, "rename one of each"
