"""Damages programs at random: the reader must neither fail nor forget what stands before the damage.

    python benchmarks/fuzzing/mutations.py [--count 100000] [--seed 1] [--jobs 2]

A mutation cuts a program of the corpus at any character, deletes a line, or deletes a bracket. The reader
sees it twice: as a new file, and as an edit of a document that stays open for all mutations of its program,
undone afterwards; both must agree. Programs are picked the more often the shorter they are.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share

from energy_code.workspace.document import Document

CORPUS = Path(__file__).parents[2] / "tests" / "code" / "corpus"
Kind = Literal["cut", "line", "bracket"]
KINDS: tuple[Kind, ...] = ("cut", "line", "bracket")
Found = frozenset[tuple[int, int, str]]


class Damage(NamedTuple):
    """A stretch that is taken out of a program, in bytes."""

    start: int
    end: int

    def apply(self, source: bytes) -> bytes:
        """The program without the stretch."""
        return source[: self.start] + source[self.end :]


@dataclass
class Tally:
    """What a run of mutations came to."""

    mutations: int = 0
    before: int = 0
    kept: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Share of the calls before the damage that were still found."""
        return self.kept / max(self.before, 1)


def programs() -> list[Path]:
    return sorted(CORPUS.glob("*.py"))


def damage(source: bytes, kind: Kind, where: float) -> Damage:
    """One mutation; `where` in [0, 1) picks the place."""
    if kind == "cut":
        characters = source.decode()
        start = len(characters[: int(where * len(characters))].encode())
        return Damage(start, len(source))
    if kind == "line":
        lines = source.splitlines(keepends=True)
        row = int(where * len(lines))
        start = sum(map(len, lines[:row]))
        return Damage(start, start + len(lines[row]))
    brackets = [index for index, byte in enumerate(source) if byte in b"()[]{}"]
    start = brackets[int(where * len(brackets))]
    return Damage(start, start + 1)


def calls(document: Document) -> Found:
    return frozenset(
        (call.span.start_byte, call.span.end_byte, call.api) for call in document.analyse().calls()
    )


@lru_cache(maxsize=200)
def intact(source: bytes) -> Found:
    return calls(Document(source))


@lru_cache(maxsize=200)
def statement_starts(source: bytes) -> tuple[int, ...]:
    """Where the statements of the module begin, decorators included."""
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    rows = (
        min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", ()))])
        for statement in ast.parse(source).body
    )
    return tuple(offsets[row - 1] for row in rows)


def undamaged(source: bytes, hurt: Damage) -> Found:
    """The calls of the whole statements that stand before the damage, read by themselves."""
    end = max((start for start in statement_starts(source) if start <= hurt.start), default=0)
    return intact(source[:end])


def check(source: bytes, hurt: Damage, document: Document | None = None) -> tuple[Found, Found]:
    """(calls wanted, calls found) of a damaged program; raises where edit and fresh reading differ."""
    damaged = hurt.apply(source)
    found = calls(Document(damaged))
    document = document if document is not None else Document(source)
    before = calls(document)
    assert before == intact(source), f"after earlier edits: {sorted(before ^ intact(source))[:3]}"
    document.edit(hurt.start, hurt.end, b"")
    edited = calls(document)
    assert edited == found, f"after the edit: {sorted(edited ^ found)[:3]}"
    document.edit(hurt.start, hurt.start, source[hurt.start : hurt.end])
    undone = calls(document)
    assert undone == before, f"after undoing the edit: {sorted(undone ^ before)[:3]}"
    return undamaged(source, hurt), found


def run(count: int, seed: int) -> Tally:
    """Many mutations; every failure is described, none stops the run."""
    generator, tally = random.Random(seed), Tally()
    sources = {path: path.read_bytes() for path in programs()}
    weights = [1 / len(source) for source in sources.values()]
    documents = {path: Document(source) for path, source in sources.items()}
    for path in generator.choices(list(sources), weights, k=count):
        kind = generator.choice(KINDS)
        hurt = damage(sources[path], kind, generator.random())
        tally.mutations += 1
        try:
            wanted, found = check(sources[path], hurt, documents[path])
        except Exception as problem:  # any exception at all is what this looks for
            tally.problems.append(f"{path.name} {kind} {hurt.start}: {type(problem).__name__}: {problem}")
            documents[path] = Document(sources[path])
            continue
        places = {(start, end) for start, end, _ in found}
        tally.before += len(wanted)
        tally.kept += sum((start, end) in places for start, end, _ in wanted)
    return tally


def run_all(count: int, seed: int, jobs: int) -> Tally:
    """The same spread over processes, each with a seed of its own."""
    shares = [count // jobs + (job < count % jobs) for job in range(jobs)]
    with ProcessPoolExecutor(jobs) as pool:
        tallies = list(pool.map(run, shares, range(seed, seed + jobs)))
    total = Tally()
    for tally in tallies:
        total.mutations += tally.mutations
        total.before += tally.before
        total.kept += tally.kept
        total.problems += tally.problems
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    start = time.perf_counter()
    tally = run_all(options.count, options.seed, options.jobs)
    seconds = time.perf_counter() - start
    print(f"{tally.mutations:,} mutations in {seconds:,.0f} s ({tally.mutations / seconds:.0f} a second)")
    print(f"calls before the damage: {tally.before:,}, still found {tally.kept:,} ({tally.share:.2%})")
    print(f"failures: {len(tally.problems)}")
    from record import Results

    results = Results("fuzzing/mutations", topic="Reader", title="Broken code")
    results.add(
        f"calls before the damage still found, {tally.mutations:,} mutations",
        100 * tally.share,
        "%",
        at_least=99,
    )
    results.add("failures", len(tally.problems), at_most=0)
    results.write()
    for problem in tally.problems[:20]:
        print(" ", problem)
    return 1 if tally.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
