"""Campaigns that run, on a cluster of Dask's own and under fire."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaos import Cluster, runs_by_project, write_plan, write_projects
from energy_measure.campaign.jobs import jobs_of
from energy_measure.campaign.plan import read_plan

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
    (bad / "main.py").write_text(
        "import tensorflow as tf\ntf.constant(1)\nraise ValueError('no data at https://eve:hunter2@host/x')\n"
    )
    plan = write_plan(tmp_path, [good, bad], repeat=1)
    first = campaign(plan, "--format", "json")
    assert first.returncode == 1, first.stderr
    jobs = json.loads(first.stdout)["jobs"]
    assert [(job["project"], job["measured"]) for job in jobs] == [("project0", True), ("project1", False)]
    assert "status 1" in jobs[1]["failure"]
    assert "ValueError: no data at https://…@host/x" in jobs[1]["failure"]
    assert "/status" in first.stderr  # Dask's dashboard
    assert "project0/main.py #1 at " in first.stderr
    assert "being measured" in first.stderr

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


def test_an_environment_that_cannot_be_made_says_what_pip_said(tmp_path: Path) -> None:
    (project,) = write_projects(tmp_path, 1)
    (project / "requirements.txt").write_text("./a-folder-that-nobody-has\n")
    plan = write_plan(tmp_path, [project], repeat=1)
    plan.write_text(plan.read_text() + "create-env = true\n")
    done = campaign(plan, "--format", "json")
    assert done.returncode == 1
    (job,) = json.loads(done.stdout)["jobs"]
    assert "a-folder-that-nobody-has" in job["failure"]
    assert "`python` in the plan" in job["failure"]


def test_a_measurement_that_is_asked_to_end_counts_as_killed(tmp_path: Path) -> None:
    """Not as a program that failed: that would not be tried again."""
    host = tmp_path / "host"
    host.mkdir()
    (project,) = write_projects(tmp_path, 1, calls=2000)
    (job,) = jobs_of(read_plan(write_plan(tmp_path, [project], repeat=1)))
    with subprocess.Popen(
        [sys.executable, "-m", "energy_measure.campaign.attempt", str(tmp_path / "finished")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "ENERGY_LSP_LOCK_FOLDER": str(host)},
    ) as attempt:
        assert attempt.stdin is not None
        attempt.stdin.write(json.dumps(job.as_message()).encode() + b"\n")
        attempt.stdin.flush()
        end = time.monotonic() + 60
        while not (host / "running").exists() and time.monotonic() < end:
            time.sleep(0.05)
        attempt.terminate()
        assert attempt.wait(60) == 130
    assert not list((tmp_path / "finished").glob("*"))


def test_a_plan_that_cannot_begin_says_why(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, write_projects(tmp_path, 1), repeat=1)
    done = campaign(plan, "--scheduler", "nonsense://here")
    assert done.returncode == 2
    assert "no Dask scheduler" in done.stderr


def test_whatever_is_killed_every_job_is_in_the_result_once(tmp_path: Path) -> None:
    """Two workers on one host and one on another; `benchmarks/fuzzing/campaigns.py` does this for longer."""
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


def test_a_machine_whose_worker_was_killed_still_has_its_jobs(tmp_path: Path) -> None:
    """The worker that is started again listens at another address."""
    projects = write_projects(tmp_path, 2)
    plan = write_plan(tmp_path, projects, repeat=1, machines='"each"')
    cluster = Cluster(tmp_path, plan, ["a"], random.Random(3))
    try:
        cluster.keep_up()
        cluster.start_client()
        end = time.monotonic() + 60
        while not list(cluster.of_kind("program")) and time.monotonic() < end:
            time.sleep(0.1)
        for process in cluster.of_kind("worker"):
            process.kill()
        status = cluster.run(0, deadline=100)
    finally:
        left = cluster.stop()
    assert status == 0, (tmp_path / "log" / "client").read_text()[-2000:]
    assert runs_by_project(tmp_path / "plan.db") == {project.name: 1 for project in projects}
    assert left == []
