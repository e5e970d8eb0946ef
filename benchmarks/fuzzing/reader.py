"""Programs made at random, and random edits of real ones: nothing raises, an edit gives what a fresh reading gives.

    python benchmarks/fuzzing/reader.py [--seconds 3600] [--seed 1] [FILE ...]

Without files the programs of the corpus are edited. The test suite runs a few hundred of both.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_code.workspace.document import Document

CORPUS = Path(__file__).parents[2] / "tests" / "code" / "corpus"
PIECES = [
    *"()[]{}\"'=:,.#\\*@ \n\t",
    '"""',
    "'''",
    "\\\n",
    "    ",
    "\n    ",
    "é",
    "\r\n",
    "\f",
    "\0",
    "tf.",
    "tf.ones(2)",
    "tf.add(x, x)",
    "x = ",
    "x",
    "def f(x):\n",
    "class A(B):\n",
    "class A:\n    pass\n",
    "if x:\n",
    "else:\n",
    "elif y:\n",
    "for i in x:\n",
    "while x:\n",
    "with a as b:\n",
    "try:\n",
    "except E:\n",
    "match x:\n",
    "    case 1:\n",
    "@tf.function\n",
    "import tensorflow as tf\n",
    "from a import b\n",
    "return ",
    "lambda: ",
    "async ",
    "await ",
    "yield ",
    "global x\n",
    "del x\n",
    "# note\n",
    "f'{x",
    "type('A', (B,), {})",
    "self.x = ",
    ":=",
    "->",
    ";",
]


def calls(document: Document) -> list[tuple[int, int, str]]:
    return [(call.span.start_byte, call.span.end_byte, call.api) for call in document.analyse().calls()]


def program(dice: random.Random) -> bytes:
    """A text of random pieces."""
    return "".join(dice.choices(PIECES, k=dice.randint(1, 60))).encode()


def edit(source: bytes, dice: random.Random) -> tuple[int, int, bytes]:
    """A random edit of a text: mostly at the start of a line, mostly without taking something away."""
    start = dice.randint(0, len(source))
    if dice.random() < 0.5:
        start = source.rfind(b"\n", 0, start) + 1
    end = start if dice.random() < 0.6 else min(len(source), start + dice.choice([1, 1, 2, 5, 20, 80]))
    while start > 0 and start < len(source) and source[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(source) and source[end] & 0xC0 == 0x80:
        end += 1
    return start, end, dice.choice(PIECES).encode()


def undoing(source: bytes, change: tuple[int, int, bytes]) -> tuple[int, int, bytes]:
    """The edit that takes one back."""
    start, end, text = change
    return start, start + len(text), source[start:end]


def edited(source: bytes, dice: random.Random, steps: int) -> str | None:
    """Edit a program some times; what is wrong, if something is."""
    document = Document(source)
    calls(document)
    done: list[tuple[int, int, bytes]] = []
    back: list[tuple[int, int, bytes]] = []
    for _ in range(steps):
        if back and dice.random() < 0.3:
            change = back.pop()
        else:
            change = edit(document.source, dice)
            _, _, text = change
            # A text with these is not kept as it was written, so that places are others when it is taken back.
            back = [] if b"\0" in text or b"\r" in text else [*back, undoing(document.source, change)]
        done.append(change)
        try:
            document.edit(*change)
            now, fresh = calls(document), calls(Document(document.source))
        except Exception as problem:  # any exception at all is what this looks for
            return f"{type(problem).__name__}: {problem} after {done}"
        if now != fresh:
            return f"{sorted(set(now) ^ set(fresh))[:3]} after {done}"
    return None


def steps_of(source: bytes) -> int:
    """How many functions are called to read a text."""
    count = 0

    def tick(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    document = Document(source)
    sys.setprofile(tick)
    try:
        calls(document)
    finally:
        sys.setprofile(None)
    return count


def run(seed: int, done: Callable[[int], bool], sources: Sequence[bytes]) -> list[str]:
    """Fuzz until told to stop; all that is wrong."""
    dice, problems, number = random.Random(seed), [], 0
    weights = [1 / (len(source) + 1) for source in sources]
    while not done(number):
        number += 1
        source = program(dice) if dice.random() < 0.5 else dice.choices(sources, weights)[0]
        problem = edited(source, dice, dice.randint(1, 5))
        if problem is not None:
            problems.append(f"{source[:60]!r}…: {problem}")
    return problems


def corpus() -> list[bytes]:
    return [path.read_bytes() for path in sorted(CORPUS.glob("*.py"))]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    sources = [path.read_bytes() for path in options.files] or corpus()
    count = 0

    def is_over(number: int) -> bool:
        nonlocal count
        count = number
        return time.monotonic() > end

    problems = run(options.seed, is_over, sources)
    print(f"{count} programs, {len(problems)} problems")
    from record import Results

    results = Results("fuzzing/reader", topic="Reader", title="Programs no person would write")
    results.add(f"problems in {count:,} programs", len(problems), at_most=0)
    results.write()
    for problem in problems[:20]:
        print(" ", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
