"""Campaigns that run, on a cluster of Dask's own and under fire."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from chaos import Cluster, runs_by_project, write_plan, write_projects

pytestmark = pytest.mark.xdist_group("campaign")


def campaign(plan: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a plan on this machine."""
    environment = {
        **os.environ,
        "ENERGY_LSP_LOCK_FOLDER": str(plan.parent / "host"),
        "XDG_CACHE_HOME": str(plan.parent / "cache"),
    }
    command = [sys.executable, "-m", "energy_lsp", "campaign", str(plan), *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_what_failed_is_told_and_the_same_command_goes_on(tmp_path: Path) -> None:
    good, bad = write_projects(tmp_path, 2, calls=2)
    (bad / "main.py").write_text("import tensorflow as tf\ntf.constant(1)\nraise SystemExit(3)\n")
    plan = write_plan(tmp_path, [good, bad], repeat=1)
    first = campaign(plan, "--format", "json")
    assert first.returncode == 1, first.stderr
    jobs = json.loads(first.stdout)["jobs"]
    assert [(job["project"], job["measured"]) for job in jobs] == [("project0", True), ("project1", False)]
    assert "status 3" in jobs[1]["failure"]
    assert "/status" in first.stderr  # Dask's dashboard

    (bad / "main.py").write_text("import tensorflow as tf\ntf.constant(1)\n")
    page = tmp_path / "report.html"
    second = campaign(plan, "--html", str(page))
    assert second.returncode == 0, second.stderr
    assert "1 of 2 jobs were measured before" in second.stderr
    assert "2 of 2 jobs measured" in second.stdout
    assert "tensorflow.constant" in page.read_text().replace("tf.constant", "tensorflow.constant")
    assert runs_by_project(tmp_path / "plan.db") == {"project0": 1, "project1": 1}
    assert "ERROR" not in first.stderr + second.stderr
    assert not list((tmp_path / "cache").rglob("*.db"))  # the host keeps nothing that the client has


def test_a_plan_that_cannot_begin_says_why(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, write_projects(tmp_path, 1), repeat=1)
    done = campaign(plan, "--scheduler", "nonsense://here")
    assert done.returncode == 2
    assert "no Dask scheduler" in done.stderr


def test_whatever_is_killed_every_job_is_in_the_result_once(tmp_path: Path) -> None:
    """Two workers on one host and one on another; `benchmarks/campaign_chaos.py` does this for longer."""
    projects = write_projects(tmp_path, 3)
    plan = write_plan(tmp_path, projects, repeat=2, retries="20")
    cluster = Cluster(tmp_path, plan, ["a", "a", "b"], random.Random(11))
    try:
        status = cluster.run(6, pause=(0.3, 2.0), deadline=150)
    finally:
        left = cluster.stop()
    log = (tmp_path / "log" / "client").read_text()[-2000:]
    assert status == 0, log
    assert len(cluster.kills) >= 3, "the campaign was over before it was under fire"
    assert runs_by_project(tmp_path / "plan.db") == {project.name: 2 for project in projects}
    assert cluster.overlaps() == []
    assert left == []
