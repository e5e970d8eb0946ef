"""What the text tells of a tensor is what TensorFlow makes of it; where it tells nothing, nothing is said."""

from __future__ import annotations

import pytest
import tensorflow as tf

from energy_code.rule_engine.context import RuleContext, descend
from energy_code.rule_engine.file_context import FileContext
from energy_code.workspace.document import Document


def told(values: str) -> tuple[object, object]:
    analysis = Document(f"import tensorflow as tf\na = 2\nx = tf.constant({values})\n").analyse()
    [node] = descend(analysis.tree().root_node, "call")
    place = RuleContext(analysis, node, None, FileContext(analysis.source))
    return place.shape(node), place.dtype(node)


@pytest.mark.parametrize(
    "values",
    ["3", "-3", "0.5", "1e3", "True", "[1, 2]", "[1, 2.5]", "[[1.0, 2.0]]", "((1, 2), (3, 4))", "[[True], [False]]",
     "[\n    1,  # one\n    -2,\n]", "[[[.5]]]", "[1_000]"],
)  # fmt: skip
def test_numbers_in_lists(values: str) -> None:
    made = tf.constant(eval(values))
    shape, dtype = told(values)
    assert shape == tuple(made.shape)
    assert dtype in (made.dtype.name, None)
    assert dtype is not None or "#" in values


@pytest.mark.parametrize("values", ["a", "-a", "[*a, 1]", "[i for i in a]", '"word"', "None"])
def test_what_is_not_told(values: str) -> None:
    assert told(values) == (None, None)


def test_a_name_among_numbers_is_a_number_of_unknown_type() -> None:
    assert told("[1, a]") == ((2,), None)


def test_an_empty_list_has_a_shape_alone() -> None:
    assert told("[]") == ((0,), None)
