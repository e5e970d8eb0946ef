"""Instrumentation touches calls and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from energy_code.workspace.document import Document
from energy_measure.injected.launcher import NotTheSameProgram, instrumented_tree, is_probe, restore_places
from energy_measure.program.instrumentation import Target, instrument

EXAMPLES = Path(__file__).parents[3] / "examples"


def probed(source: str) -> str:
    calls = [call for call in Document(source).analyse().calls() if not call.decorator]
    return instrument(
        source, [Target(c.span.start_byte, c.span.end_byte, n, c.api) for n, c in enumerate(calls)]
    )


def test_one_call() -> None:
    source = "import tensorflow as tf\nx = tf.add(1, tf.square(2))  # why\n"
    expected = "x = __energy_probe__(0, tf.add, 1, __energy_probe__(1, tf.square, 2))  # why\n"
    assert probed(source).splitlines(True)[1] == expected


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_lines_and_places_stay(path: Path) -> None:
    source = path.read_text()
    text = probed(source)
    assert text.count("\n") == source.count("\n")
    tree = instrumented_tree(source, text, str(path))
    plain = ast.parse(source)
    assert sum(is_probe(node) for node in ast.walk(tree)) == text.count("__energy_probe__(") > 10
    calls = {
        (n.lineno, n.col_offset, n.end_lineno, n.end_col_offset)
        for n in ast.walk(plain)
        if isinstance(n, ast.Call)
    }
    for node in ast.walk(tree):
        if is_probe(node):
            assert (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) in calls  # type: ignore[attr-defined]


def test_what_is_not_the_same_program_does_not_run() -> None:
    with pytest.raises(NotTheSameProgram):
        restore_places(ast.parse("f(1)"), ast.parse("__energy_probe__(0, f, 2)"))
    tree = instrumented_tree("f(1)", "__energy_probe__(0, f, 1); g()", "x.py")
    assert ast.dump(tree) == ast.dump(ast.parse("f(1)"))


def test_a_function_that_is_saved_with_the_model_is_left_alone() -> None:
    source = "import keras\nimport tensorflow as tf\nlayer = keras.layers.Lambda(lambda x: tf.square(x))\n"
    assert "lambda x: tf.square(x)" in probed(source)
