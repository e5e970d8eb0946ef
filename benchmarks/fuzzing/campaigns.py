"""A campaign under fire, again and again: measurements, programs, workers, schedulers and clients are killed at random.

    python benchmarks/fuzzing/campaigns.py [--rounds 20] [--kills 8] [--seed 1]

Each round is a campaign of eight jobs on three workers of two simulated hosts, with so many kills. A round is good when
every job is in the result exactly once, no two programs ran at once on a host, and nothing is left running.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for what benchmarks share
from chaos import Cluster, runs_by_project, write_plan, write_projects
from record import Results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    kinds: collections.Counter[str] = collections.Counter()
    bad = 0
    for number in range(asked.rounds):
        began = time.monotonic()
        faults, kills = one_round(asked.seed + number, asked.kills)
        kinds.update(kills)
        bad += bool(faults)
        told = "; ".join(faults) or "good"
        print(f"round {number + 1}: {len(kills)} kills, {time.monotonic() - began:.0f} s, {told}", flush=True)
    print(f"{asked.rounds - bad} of {asked.rounds} rounds good; killed: {dict(kinds)}")
    results = Results("fuzzing/campaigns", topic="Scale", title="Campaigns whose processes are killed")
    results.add(f"bad of {asked.rounds} campaigns, {sum(kinds.values())} kills", bad, at_most=0)
    results.write()
    sys.exit(1 if bad else 0)


def one_round(seed: int, kills: int) -> tuple[list[str], list[str]]:
    """What was wrong after one campaign, and what was killed."""
    with tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        projects = write_projects(folder, 4)
        plan = write_plan(folder, projects, repeat=2, retries="40")
        cluster = Cluster(folder, plan, ["a", "a", "b"], random.Random(seed))
        try:
            status = cluster.run(kills, deadline=400)
        finally:
            left = cluster.stop()
        faults = [f"exit status {status}"] if status else []
        faults += [f"left running: {line}" for line in left]
        faults += [f"programs overlapped on host {host}" for host in cluster.overlaps()]
        found = runs_by_project(folder / "plan.db") if not status else {}
        if not status and found != {project.name: 2 for project in projects}:
            faults.append(f"runs in the result: {found}")
        return faults, cluster.kills


if __name__ == "__main__":
    main()
