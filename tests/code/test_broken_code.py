"""Code as an editor holds it most of the time: cut off, with a line or a bracket missing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]


def _mutations() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "mutations", ROOT / "benchmarks" / "fuzzing" / "mutations.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutations"] = module
    spec.loader.exec_module(module)
    return module


mutations = _mutations()


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(mutations.programs()),
    kind=st.sampled_from(mutations.KINDS),
    where=st.floats(0, 1, exclude_max=True),
)
def test_damage_never_raises_and_keeps_what_stands_before_it(path: Path, kind: str, where: float) -> None:
    source = path.read_bytes()
    hurt = mutations.damage(source, kind, where)
    wanted, found = mutations.check(source, hurt)
    places = {(start, end) for start, end, _ in found}
    lost = [place for place in wanted if place[:2] not in places]
    # a statement after the damage may have told the class of a parameter before it: hence not always none
    assert len(lost) <= 0.1 * len(wanted) + 1


def test_of_many_mutations_nearly_nothing_before_the_damage_is_lost() -> None:
    tally = mutations.run(count=80, seed=7)
    assert tally.problems == []
    assert tally.before > 500
    assert tally.share >= 0.99


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(mutations.programs()),
    edits=st.lists(
        st.tuples(
            st.floats(0, 1),
            st.integers(0, 30),
            st.sampled_from([b"", b"(", b")", b"\n", b"tf.", b"x = ", b'"""']),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_typing_anywhere_gives_what_a_fresh_reading_gives(
    path: Path, edits: list[tuple[float, int, bytes]]
) -> None:
    source = path.read_bytes()
    document = mutations.Document(source)
    assert mutations.calls(document)
    for where, length, text in edits:
        start = int(where * len(source))
        while start < len(source) and source[start] & 0xC0 == 0x80:  # not inside a character
            start += 1
        end = min(start + length, len(source))
        while end < len(source) and source[end] & 0xC0 == 0x80:
            end += 1
        document.edit(start, end, text)
        source = source[:start] + text + source[end:]
        assert mutations.calls(document) == mutations.calls(mutations.Document(source))


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"(", b"tf.", b"import tensorflow as", b"def f(:\n  tf.ones(", b"\xff\xfe"]
)
def test_scraps(text: bytes) -> None:
    assert mutations.calls(mutations.Document(text)) == frozenset()
