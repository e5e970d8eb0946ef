"""How the time to read a text grows with it: lines, classes, depth, calls, contexts, each doubled six times.

    python benchmarks/growth.py [--only lines,classes,...] [--limit 20] [--json FILE]

Each program is opened as the server opens it (calls and findings), in processor time, the shortest of a few times. A curve
is judged by its last doublings that take long enough to be told from noise: the exponent of time over the text's length
(nested blocks grow faster than their number, by their indentation), where n log n is about 1.1.
A curve ends where one program takes longer than the limit. Goals: no exponent above 1.25,
and 50,000 lines open in under 2 s.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

from energy_code import rules
from energy_code.workspace.document import Document
from record import Results

DOUBLINGS = 6
STEEPEST = 1.25
TELLING = 0.002
TIMES, BRIEF = 5, 0.2
"""How often a program that takes less than so many seconds is opened."""
"""Seconds below which a program says nothing about growth."""
GOAL_LINES, GOAL_SECONDS = 50_000, 2.0
HEAD = "import tensorflow as tf\n"


def lines(size: int) -> str:
    """Functions of ordinary code."""
    body = (
        "def f{0}(x, y):\n    z = tf.add(x, y)\n    for i in range(3):\n"
        "        z = tf.matmul(z, x)\n    return z + {0}\n\n\n"
    )
    return HEAD + "".join(body.format(number) for number in range(size // 7 + 1))


def calls(size: int) -> str:
    """Calls in one function."""
    return HEAD + "def f(x):\n" + "    x = tf.add(x, tf.abs(x))\n" * size + "    return x\n"


def classes(size: int) -> str:
    """Classes that inherit from each other in a chain."""
    chain = "".join(
        f"class C{n}(C{n - 1}):\n    def m{n}(self, x):\n        return tf.abs(x)\n" for n in range(1, size)
    )
    return HEAD + "class C0(tf.keras.layers.Layer):\n    pass\n" + chain + f"C{size - 1}().m1(1)\n"


def diamonds(size: int) -> str:
    """Classes with two parents each, which have the same parents."""
    rows = ["class A0:\n    pass\nclass B0:\n    pass\n"]
    rows += [
        f"class A{n}(A{n - 1}, B{n - 1}):\n    pass\nclass B{n}(A{n - 1}, B{n - 1}):\n    pass\n"
        for n in range(1, size)
    ]
    return HEAD + "".join(rows) + f"a = A{size - 1}()\na.x\ntf.abs(a.y)\n"


def ifs(size: int) -> str:
    """Nested branches."""
    nested = "".join(" " * n + f"if a > {n}:\n" for n in range(size))
    return HEAD + "a = 1\n" + nested + " " * size + "tf.abs(a)\n"


def elifs(size: int) -> str:
    """A long chain of branches."""
    chain = "".join(f"    elif a == {n}:\n        tf.abs(a)\n" for n in range(size))
    return HEAD + "def f(a):\n    if a is None:\n        pass\n" + chain


def brackets(size: int) -> str:
    """Nested calls."""
    return HEAD + "x = " + "tf.abs(" * size + "1" + ")" * size + "\n"


def contexts(size: int) -> str:
    """One function called in many ways."""
    return HEAD + "def f(x):\n    return tf.add(x, 1)\n" + "".join(f"f({n})\n" for n in range(size))


def layers(size: int) -> str:
    """Functions that call the next one twice, with other arguments."""
    chain = "".join(f"def f{n}(x):\n    return f{n + 1}(x + 1) + f{n + 1}(x + 2)\n" for n in range(size))
    return HEAD + chain + f"def f{size}(x):\n    return tf.abs(x)\nf0(1)\n"


def unclosed(size: int) -> str:
    """Brackets that are never closed."""
    return HEAD + "a = tf.abs(\n" * size


def globals_(size: int) -> str:
    """Names that functions bind and read."""
    return HEAD + "".join(
        f"def s{n}():\n    global g{n}\n    g{n} = tf.ones(2)\ndef r{n}():\n    return tf.abs(g{n})\n"
        for n in range(size)
    )


def values(size: int) -> str:
    """Variables that hold themselves in two ways, by branch."""
    twice = "if tf.abs(1):\n    a = (a, 1)\nelse:\n    a = [a, 2]\n"
    return HEAD + "a = 1\n" + twice * size + "tf.abs(a)\n"


SUBJECTS: dict[str, tuple[Callable[[int], str], int]] = {
    "lines": (lines, 800),
    "calls": (calls, 50),
    "classes": (classes, 47),
    "diamonds": (diamonds, 10),
    "ifs": (ifs, 16),
    "elifs": (elifs, 16),
    "brackets": (brackets, 16),
    "contexts": (contexts, 30),
    "layers": (layers, 4),
    "unclosed": (unclosed, 50),
    "globals": (globals_, 10),
    "values": (values, 20),
}
"""How to make a program, and the size to begin with."""


def taken(text: str) -> tuple[float, int]:
    """Seconds of processor time to open a text, and the calls in it."""
    shortest, found = math.inf, 0
    for _ in range(TIMES):
        begun = time.process_time()
        document = Document(text)
        found = len(document.analyse().calls())
        rules.find(document.analyse())
        shortest = min(shortest, time.process_time() - begun)
        if shortest > BRIEF:
            break
    return shortest, found


Points = list[tuple[int, float, int, int]]
"""Sizes, seconds, calls and characters."""


def curve(name: str, limit: float) -> Points:
    """One kind of text, doubled again and again."""
    make, size = SUBJECTS[name]
    points: Points = []
    for _ in range(DOUBLINGS + 1):
        text = make(size)
        seconds, found = taken(text)
        points.append((size, seconds, found, len(text)))
        if seconds > limit:
            break
        size *= 2
    return points


def exponent(points: Points) -> float:
    """How steep the end of a curve is: 1 for time in proportion to size."""
    telling = [(length, seconds) for _, seconds, _, length in points if seconds >= TELLING][-3:]
    if len(telling) < 2:
        return math.nan
    (first, fast), (last, slow) = telling[0], telling[-1]
    return math.log(slow / fast) / math.log(last / first)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(SUBJECTS))
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    taken(lines(50))  # what is loaded once
    kept = Results("growth", topic="Reader", title="Time as files grow: the exponent of each kind of text")
    results: dict[str, object] = {}
    steep = []
    print("| what | " + " | ".join(f"×{2**n}" for n in range(DOUBLINGS + 1)) + " | exponent | calls |")
    print("|---" * (DOUBLINGS + 4) + "|")
    for name in options.only.split(","):
        points = curve(name, options.limit)
        slope = exponent(points)
        cells = [f"{seconds:.3f} s" for _, seconds, *_ in points] + ["–"] * (DOUBLINGS + 1 - len(points))
        print(
            f"| {name} from {points[0][0]} | " + " | ".join(cells) + f" | {slope:.2f} | {points[-1][2]} |",
            flush=True,
        )
        results[name] = {"points": points, "exponent": slope}
        if math.isfinite(slope):
            kept.add(f"{name}, up to {points[-1][0]:,}", slope, at_most=STEEPEST)
        else:  # too quick at every size to say anything of growth
            kept.add(f"{name}, up to {points[-1][0]:,}: all sizes", points[-1][1], "s", at_most=TELLING)
        if slope > STEEPEST or len(points) <= DOUBLINGS:
            steep.append(name)
    seconds, _ = taken(lines(GOAL_LINES))
    print(f"\n{GOAL_LINES:,} lines: {seconds:.2f} s (goal {GOAL_SECONDS} s)")
    results["goal"] = {"lines": GOAL_LINES, "seconds": seconds}
    kept.add(f"{GOAL_LINES:,} lines, CPU time", seconds, "s", at_most=GOAL_SECONDS)
    kept.write()
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))
    if steep:
        print(f"steeper than n log n: {', '.join(steep)}", file=sys.stderr)
    return 1 if steep or seconds > GOAL_SECONDS else 0


if __name__ == "__main__":
    raise SystemExit(main())
