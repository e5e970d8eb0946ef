"""Programs made to take long: what is read of them, and in how many steps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from energy_code.interpreter.classes import Classes
from energy_code.syntax.long_runs import without_long_runs
from energy_code.workspace.document import Document

ROOT = Path(__file__).parents[2]


def _growth() -> ModuleType:
    sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # for what benchmarks share
    spec = importlib.util.spec_from_file_location("growth", ROOT / "benchmarks" / "growth.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["growth"] = module
    spec.loader.exec_module(module)
    return module


growth = _growth()


def found(text: str) -> list[str]:
    return [call.api for call in Document(text).analyse().calls()]


def test_diamonds_of_inheritance_are_read_at_once() -> None:
    """Forty levels would take longer than the universe is old if each path through them was walked."""
    fields = (
        growth.HEAD
        + "from dataclasses import dataclass\n"
        + "".join(
            f"@dataclass\nclass {side}{n}({f'A{n - 1}, B{n - 1}' if n else ''}):\n    {side.lower()}{n}: int = 0\n"
            for n in range(40)
            for side in "AB"
        )
    )
    assert found(growth.diamonds(40)) == ["tensorflow.math.abs"]
    assert found(fields + "a = A39(1)\ntf.abs(a.a0)\n") == ["tensorflow.math.abs"]


def test_a_chain_of_classes_is_looked_through_in_proportion_to_its_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = 0
    real = Classes.own_names

    def counted(self: Classes, cls: object) -> object:
        nonlocal steps
        steps += 1
        return real(self, cls)  # type: ignore[arg-type]

    monkeypatch.setattr(Classes, "own_names", counted)
    counts = []
    for size in (300, 600):
        steps = 0
        assert len(found(growth.classes(size))) == size - 1
        counts.append(steps)
    assert counts[1] <= 2.5 * counts[0] + 100


@pytest.mark.parametrize(
    ("make", "size"), [(growth.ifs, 1000), (growth.brackets, 5000), (growth.classes, 2500)]
)
def test_depth_is_no_error(make: object, size: int) -> None:
    assert callable(make)
    text = make(size) + "tf.square(2)\n"
    assert "tensorflow.math.square" in found(text)


def test_every_branch_of_a_long_chain_is_read() -> None:
    assert len(found(growth.elifs(1001))) == 1001


def test_branches_of_a_short_chain_exclude_each_other() -> None:
    text = growth.HEAD + (
        "def f(a):\n    if a == 1:\n        make = tf.ones\n    elif a == 2:\n        make = tf.zeros\n"
        "    else:\n        return\n    return make(2)\n"
    )
    assert len(found(text)) == 1


def test_the_same_statement_many_times_has_a_code_each() -> None:
    document = Document(growth.unclosed(400))
    statements = document.lower().statements
    assert len({one for _, one in statements}) == len(statements) >= 400


def test_what_does_not_fit_into_the_budget_is_said_not_to_be_looked_at() -> None:
    text = growth.lines(70) + "tf.square(f1(1, 2))\n"
    whole, cut = Document(text), Document(text)
    ticks = iter(range(10**9))
    cut.lower()
    budget = cut.engine.stack.budget
    budget.clock = budget.watch = lambda: float(next(ticks))  # as if each evaluation took a second
    found_cut, found_whole = list(cut.analyse().calls()), list(whole.analyse().calls())
    assert not whole.is_cut_short
    assert cut.is_cut_short
    assert 0 < len(found_cut) < len(found_whole)
    assert "tensorflow.math.square" in [call.api for call in found_cut]


def test_attributes_that_follow_from_each_other_are_no_error() -> None:
    chain = "".join(f"    def m{n}(self):\n        self.a{n + 1} = self.a{n}\n" for n in range(400))
    text = f"class A:\n    def __init__(self):\n        self.a0 = tf.abs\n{chain}A().a400(1)\ntf.ones(3)\n"
    assert "tensorflow.ones" in found(growth.HEAD + text)


@pytest.mark.parametrize("line", ["# note", "# it's \"", "\\", "\\\n# note", "\n# note", "    # note"])
def test_long_runs_without_code_are_handed_to_the_parser_as_blank_lines(line: str) -> None:
    text = f"{growth.HEAD}def f():\n    tf.ones(1)\n" + f"{line}\n" * 200 + "tf.ones(2)\n"
    source = text.encode()
    read = without_long_runs(source)
    assert len(read) == len(source)
    assert (read.count(b"#"), read.count(b"\\")) == (0, 0)
    assert len(found(text)) == 2


def test_a_string_of_many_lines_is_handed_on_as_it_is() -> None:
    text = growth.HEAD + 'x = """\n' + "# note\n" * 200 + '"""\ntf.ones(2)\n'
    assert without_long_runs(text.encode()) == text.encode()


def test_a_key_in_a_chain_of_classes_evaluates_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their methods are called in more ways than are kept apart: all is read anew, and little asked again before."""
    text = (
        growth.HEAD + "class C0(tf.keras.layers.Layer):\n    def call(self, x):\n        return tf.abs(x)\n"
    )
    text += "".join(
        f"class C{n}(C{n - 1}):\n    def __init__(self, u={n}):\n        super().__init__(u)\n"
        f"        self.w{n} = tf.zeros(u)\n"
        f"    def call(self, x):\n        return super().call(tf.sqrt(x)) + self.w{n}\n"
        for n in range(1, 200)
    )
    document = Document(text + "C199()(tf.ones(2))\n")
    engine = document.engine
    counts = {"evaluate": 0, "verify": 0}

    def count(part: object, name: str) -> None:
        real = getattr(part, name)

        def counted(*arguments: object) -> object:
            counts[name] += 1
            return real(*arguments)

        monkeypatch.setattr(part, name, counted)

    count(engine.summaries, "evaluate")
    count(engine.invalidation, "verify")
    document.analyse()
    fresh = counts["evaluate"]
    counts.update(evaluate=0, verify=0)
    place = text.index("tf.sqrt(x)")
    document.edit(place, place + len("tf.sqrt"), b"tf.square")
    assert [call.api for call in document.analyse().calls()] == found(document.source.decode())
    assert counts["evaluate"] <= 1.2 * fresh
    assert counts["verify"] <= fresh / 4
