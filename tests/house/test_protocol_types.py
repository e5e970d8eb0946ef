"""The extension's types are the server's own."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from answer_shapes import fits
from energy_lsp.features import answers

ROOT = Path(__file__).parents[2]


def test_the_extension_knows_what_the_server_says() -> None:
    checked = subprocess.run(
        [sys.executable, "tools/build_protocol_types.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stderr


LAYER_USE: dict[str, Any] = {
    "api": "keras.Model.fit",
    "file": "train.py",
    "line": 3,
    "uri": None,
    "row": None,
    "joules": 1,
    "text": "1 J",
    "share": 0.5,
    "forward": 0.25,
    "backward": 0.25,
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"share": None},
        {"share": True},
        {"line": 2.5},
        {"text": None},
        {"row": "2"},
        {"joules": "1 J"},
        {"more": 1},
    ],
    ids=str,
)
def test_an_answer_that_the_extension_does_not_expect_is_noticed(wrong: dict[str, Any]) -> None:
    """A null for a number above all: TypeScript would believe its type."""
    fits({**LAYER_USE, "uri": "file:///train.py", "row": 2}, answers.LayerUse, "use")
    with pytest.raises(AssertionError, match=next(iter(wrong)) if "more" not in wrong else "use"):
        fits({**LAYER_USE, **wrong}, answers.LayerUse, "use")
