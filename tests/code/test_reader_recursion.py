"""Recursive code as libraries write it (visitors, trees, configurations) is read in time."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from energy_code.workspace.document import Document

FILES = [
    "keras/src/saving/saving_lib.py",
    "keras/src/tree/tree_test.py",
    "tensorflow/python/autograph/pyct/cfg.py",
    "tensorflow/python/autograph/pyct/pretty_printer.py",
    "tensorflow/python/autograph/pyct/static_analysis/activity.py",
    "tensorflow/python/checkpoint/checkpoint.py",
    "tensorflow/python/eager/backprop.py",
    "tensorflow/python/framework/function.py",
    "tensorflow/python/keras/engine/training.py",
    "tensorflow/python/ops/control_flow_ops.py",
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("file", FILES)
def test_a_file_of_the_libraries_is_read(file: str) -> None:
    package = find_spec(file.partition("/")[0])
    assert package is not None
    assert package.submodule_search_locations
    path = Path(package.submodule_search_locations[0]).parent / file
    analysis = Document(path.read_bytes(), path=path).analyse()
    list(analysis.calls())
    assert analysis.functions()
