"""No test asserts nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
JUDGING = (
    "assert",
    "check",
    "expect",
    "same",
    "raises",
    "warns",
    "fail",
    "until",
    "wait",
    "compile",
    "parse",
    "loads",
)
"""How the names of calls begin that fail by themselves."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def judges(function: Function, helpers: dict[str, Function], seen: frozenset[str] = frozenset()) -> bool:
    """Whether a function asserts something, itself or by a function of its file."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name.startswith(JUDGING):
                return True
            if name in helpers and name not in seen and judges(helpers[name], helpers, seen | {name}):
                return True
    return False


def silent(text: str) -> Iterator[str]:
    """The tests of a file that can only fail by accident."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, Function)]
    helpers = {function.name: function for function in functions if not function.name.startswith("test_")}
    for function in functions:
        if function.name.startswith("test_") and not judges(function, helpers):
            yield f"{function.name}, line {function.lineno}"


def test_every_test_asserts_something() -> None:
    found = [
        f"{path.relative_to(TESTS)}: {name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for name in silent(path.read_text("utf-8"))
    ]
    assert not found, "\n".join(found)


def test_a_test_without_an_assertion_is_found() -> None:
    assert list(silent("def test_nothing():\n    print(1)\n")) == ["test_nothing, line 1"]
    assert list(silent("def test_some():\n    helper()\ndef helper():\n    assert 1\n")) == []
