"""Whose code a frame is: AutoGraph's goes by what it was generated from."""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

import pytest

from energy_measure.injected.inside import frames


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, int], tuple[str, int, str]]:
    """What AutoGraph's lines stand for, as TensorFlow keeps it."""
    lines: dict[tuple[str, int], tuple[str, int, str]] = {}

    class Mapper:
        def get_effective_source_map(self) -> Any:
            return lines

    stack = ModuleType("tensorflow.python.util.tf_stack")
    stack._source_mapper_stacks = {threading.get_ident(): [Mapper()]}  # type: ignore[attr-defined]
    stack.extract_stack = list  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, stack.__name__, stack)
    return lines


def test_code_generated_from_a_library_is_the_librarys(
    generated: dict[tuple[str, int], tuple[str, int, str]],
) -> None:
    name = "/tmp/__autograph_generated_file_of_tf_keras.py"
    generated[name, 3] = ("/venv/lib/site-packages/tf_keras/src/optimizers/adam.py", 40, "update_step")
    assert not frames.is_written_here(name)
    assert frames.role(name) == "optimizer"


def test_code_generated_from_the_program_stands_at_its_own_lines(
    generated: dict[tuple[str, int], tuple[str, int, str]],
) -> None:
    name = "/tmp/__autograph_generated_file_of_train.py"
    generated[name, 2] = ("/home/me/train.py", 17, "step")
    space: dict[str, Any] = {"sys": sys}
    exec(compile("def step():\n    return sys._getframe()\nfound = step()", name, "exec"), space)
    assert frames.is_written_here(name)
    assert frames.own_place(space["found"]) == ("/home/me/train.py", 17, "step")
