"""Random editing over real files: the end must look like a fresh start, and memory must not grow.

    python benchmarks/fuzzing/soak.py [--steps 20000] [--seconds 600] [--seed 1]

Opens TensorFlow programs in a server, edits, hovers, asks for everything else, closes and opens again; then a
second server opens the texts as they are in the end. Prints what differed (nothing should) and the memory.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from record import Results
from soaking import Outcome, soak  # the test runs the same, shorter


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=1200.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcome: Outcome = soak(options.steps, options.seconds, options.seed)
    growth = outcome.memory_after / outcome.memory_before - 1
    print(f"{outcome.steps} steps in {outcome.seconds:.0f} s over {outcome.files} files")
    print(f"memory {outcome.memory_before:.1f} MB → {outcome.memory_after:.1f} MB ({growth:+.1%})")
    print("diagnostics: " + (", ".join(outcome.differences) or "the same as after a fresh start"))
    results = Results("fuzzing/soak", topic="Server", title="Random editing", part=f"seed{options.seed}")
    results.add(f"memory more after {outcome.steps:,} steps", 100 * growth, "%", at_most=10)
    results.add("memory after them", outcome.memory_after, "MB")
    results.add("diagnostics that differ from a fresh start", len(outcome.differences), at_most=0)
    results.write()
    return 1 if outcome.differences or growth > 0.10 else 0


if __name__ == "__main__":
    sys.exit(main())
