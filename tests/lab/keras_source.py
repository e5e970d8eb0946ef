"""Files of the installed Keras, as texts to edit."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from energy_code.text.decoding import parseable


def keras_source(file: str) -> bytes:
    """A file below `keras/src`; skips the test where there is none."""
    found = importlib.util.find_spec("keras")  # not imported: that would load TensorFlow
    path = (
        Path(found.origin).parent / "src" / file if found is not None and found.origin is not None else None
    )
    if path is None or not path.exists():
        pytest.skip("Keras is not installed, or laid out otherwise")
    return parseable(path.read_bytes())
