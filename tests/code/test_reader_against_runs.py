"""The reader against the truth: programs run under real TensorFlow with each call's callable recorded."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent
pytestmark = [pytest.mark.tensorflow, pytest.mark.xdist_group("tensorflow-corpus"), pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def judge() -> ModuleType:
    spec = importlib.util.spec_from_file_location("judge_reader", HERE / "judge_reader.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["judge_reader"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def traced(judge: ModuleType) -> object:
    """All programs in as few processes as possible: importing TensorFlow takes longer than most of them."""
    return judge.trace([*judge.programs(HERE / "corpus"), *judge.programs(HERE / "held_out")])


@pytest.mark.parametrize(("folder", "programs"), [("corpus", 70), ("held_out", 45)])
def test_the_reader_says_what_the_programs_do(
    judge: ModuleType,
    traced: object,
    folder: str,
    programs: int,
    record_property: Callable[[str, object], None],
) -> None:
    paths = judge.programs(HERE / folder)
    assert len(paths) >= programs
    verdict = judge.judge(paths, traced)
    record_property(folder, str(verdict))
    print(verdict.report())
    assert verdict.apis > 400
    assert verdict.recall >= 0.97
    assert verdict.precision >= 0.99
    assert verdict.naming >= 0.97


def test_the_judge_sees_a_wrong_answer(judge: ModuleType) -> None:
    """The figures are able to fall."""
    verdict = judge.Verdict()
    judge.weigh(verdict, judge.Catalogue.load(), None, ["tensorflow.math.add"], "somewhere")
    assert verdict.recall == 0
    assert verdict.missed == ["somewhere: tensorflow.math.add"]
