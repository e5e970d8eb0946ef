"""Campaigns: plans, jobs and what is kept of them; campaigns that run are in `test_campaign_runs.py`."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path

import pytest

from energy_data.database.database import Database
from energy_measure.campaign.find import find_projects, plan_text
from energy_measure.campaign.jobs import Job, jobs_of
from energy_measure.campaign.plan import CampaignSettings, ProjectSettings, read_plan
from energy_measure.campaign.results import CampaignResults, JobOutcome
from energy_measure.problems import MeasureProblem

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "campaigns.md"


def plan_in(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def jobs_in(folder: Path, text: str, hosts: tuple[str, ...] = ()) -> list[Job]:
    return jobs_of(read_plan(plan_in(folder, text)), hosts)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "main.py").write_text("import tensorflow as tf\ntf.constant(1)\n")
    return folder


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[campaign\n", "TOML"),
        ("[campagne]\n", r"no \[campagne\]"),
        ("[campaign]\nrepeats = 3\n", "no key repeats; it has name, repeat"),
        ("[campaign]\nrepeat = 0\n[[project]]\npath = 'x'\n", "1 or more"),
        ('[campaign]\nmachines = "all"\n[[project]]\npath = "x"\n', '"any" or "each"'),
        ("[campaign]\ntimeout = inf\n", "a number of seconds"),
        ("[campaign]\n", "names no project"),
        ("[project]\npath = 'x'\n", "two brackets"),
        ("[[project]]\nentry = 'x.py'\n", "lacks path"),
        ("[[project]]\npath = 3\n", "must be a text"),
        ("[[project]]\npath = 'x'\nenv = {A = 1}\n", "a table of texts"),
        ("[[project]]\npath = 'x'\nenv = {'A=B' = 'c'}\n", "'A=B' in env .* is no name"),
        ("[[project]]\npath = 'x'\nenv = {A = \"\\u0000\"}\n", "a table of texts"),
        ("[[project]]\npath = 'x'\narguments = [\"\\u0000\"]\n", "a list of texts"),
        ("[campaign]\nprojects = 'none.csv'\n", r"none.csv cannot be read \(No such file"),
        ("[campaign]\nprojects = '/dev/zero'\n", r"cannot be read \(it is not a regular file\)"),
        ("[campaign]\ndatabase = '~nosuchuser/x.db'\n", "database in .* names a user that is not known here"),
        ("[[project]]\npath = '~nosuchuser'\n", "path in .* names a user that is not known here"),
        ("[[project]]\npath = 'x'\npython = '~nosuchuser/bin/python'\n", "python in .* names a user"),
    ],
)
def test_what_is_wrong_with_a_plan_is_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(MeasureProblem, match=said):
        read_plan(plan_in(tmp_path, text))


def test_projects_may_stand_in_a_table(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(
        'path,entry,arguments,create-env\na,"[""x.py"", ""y.py""]",--fast,true\nb,,,\n'
    )
    plan = read_plan(plan_in(tmp_path, '[campaign]\nprojects = "p.csv"\n'))
    assert plan.projects == (
        ProjectSettings("a", entry=("x.py", "y.py"), arguments=("--fast",), create_env=True),
        ProjectSettings("b"),
    )


def test_every_key_of_a_plan_is_documented() -> None:
    page = PAGE.read_text("utf-8")
    for kind in (CampaignSettings, ProjectSettings):
        for key in dataclasses.fields(kind):
            assert f"| `{key.name.replace('_', '-')}` |" in page


def test_entries_back_ends_and_repeats_are_jobs_of_their_own(tmp_path: Path, project: Path) -> None:
    text = "[campaign]\nrepeat = 2\n[[project]]\npath='one'\nentry=['main.py', 'b.py']\nbackend=['jax', 'torch']\n"
    jobs = jobs_in(tmp_path, text)
    assert len({job.key for job in jobs}) == len(jobs) == 8
    assert [job.repeat for job in jobs] == [1] * 4 + [2] * 4
    assert {job.env["KERAS_BACKEND"] for job in jobs} == {"jax", "torch"}
    assert all(Job.from_message(json.loads(json.dumps(job.as_message()))) == job for job in jobs)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[project]]\npath='one'\n" * 2, "has one #1 twice"),
        ("[[project]]\npath='one'\nbackend=['jax', 'jax']\n", "has one on jax #1 twice"),
        ("[campaign]\nrepeat = 999999\n[[project]]\npath='one'\n", "more than 50,000 jobs"),
    ],
)
def test_jobs_that_cannot_be_told_apart_or_are_too_many_are_refused(
    tmp_path: Path, project: Path, text: str, said: str
) -> None:
    with pytest.raises(MeasureProblem, match=said):
        jobs_in(tmp_path, text)


def test_a_script_is_another_job_when_what_it_imports_changes_and_not_by_its_neighbours(
    tmp_path: Path, project: Path
) -> None:
    def key() -> str:
        return jobs_in(tmp_path, "[[project]]\npath='one/main.py'\n")[0].key

    (project / "main.py").write_text("import helper\n")
    (project / "helper.py").write_text("a = 1\n")
    first = key()
    (project / "neighbour.py").write_text("a = 1\n")
    assert key() == first
    (project / "helper.py").write_text("a = 2\n")
    assert key() != first


def test_each_machine_measures_where_that_is_asked_for(tmp_path: Path, project: Path) -> None:
    jobs = jobs_in(tmp_path, "[campaign]\nmachines='each'\n[[project]]\npath='one'\n", ("a", "b"))
    assert sorted(job.host for job in jobs) == ["a", "b"]
    assert len({job.key for job in jobs}) == 2


def test_a_job_is_another_after_an_edit_or_a_commit_and_the_same_after_a_run(
    tmp_path: Path, project: Path
) -> None:
    def key() -> str:
        return jobs_in(tmp_path, "[[project]]\npath='one'\n")[0].key

    keys = [key()]
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(project), *command], check=True)
    keys.append(key())
    (project / "weights.h5").write_text("what the program wrote")
    assert key() == keys[-1]
    (project / "main.py").write_text("import tensorflow as tf\ntf.constant(2)\n")
    keys.append(key())
    (project / "main.py").write_text("import tensorflow as tf\ntf.constant(3)\n")
    keys.append(key())
    assert len(set(keys)) == 4


def test_of_two_attempts_at_a_job_the_first_counts(tmp_path: Path, project: Path) -> None:
    plan = read_plan(plan_in(tmp_path, "[[project]]\npath='one'\n"))
    job = jobs_of(plan)[0]
    with CampaignResults(plan).opened() as results:
        assert results.outcome(job).failure
        results.keep(job.key, b"first")
        results.keep(job.key, b"second")
        assert (results.jobs / f"{job.key}.db").read_bytes() == b"first"
        assert not list(results.jobs.glob("*.part"))


def test_two_clients_of_one_campaign_do_not_work_at_once(tmp_path: Path, project: Path) -> None:
    plan = read_plan(plan_in(tmp_path, "[[project]]\npath='one'\n"))
    with (
        CampaignResults(plan).opened(),
        pytest.raises(MeasureProblem, match="Another client"),
        CampaignResults(plan).opened(),
    ):
        pass


def test_merging_goes_on_after_it_was_cut_short(tmp_path: Path, project: Path) -> None:
    plan = read_plan(plan_in(tmp_path, "[campaign]\nrepeat = 2\n[[project]]\npath='one'\n"))
    jobs = jobs_of(plan)
    with CampaignResults(plan).opened() as results:
        for job in jobs:
            with Database.open(tmp_path / "job.db"):
                pass
            results.keep(job.key, (tmp_path / "job.db").read_bytes())
            results.note(JobOutcome(job, "here"))
        results.merge(jobs[:1])
        (results.folder / "merged.json").unlink()
    with CampaignResults(plan).opened() as results:
        results.merge(jobs)
        assert all(results.outcome(job).measured for job in jobs)


def test_find_takes_what_can_be_measured_and_says_why_not(tmp_path: Path) -> None:
    repositories = tmp_path / ".cache" / "repos"  # where it lies does not hide what is in it
    program = "import tensorflow as tf\nprint(tf.constant(1))\n"
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": program}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    old = "import tensorflow as tf\nx = tf.constant(1)\nwith tf.Session() as s:\n    s.run(x)\n"
    old_notebook = notebook.replace("tf.constant(1)", "tf.placeholder(tf.float32)")
    for path, text in {
        "mixed/new.py": program,
        "mixed/old.py": "import helper\n" + program,
        "mixed/helper.py": old,
        "mixed/old.ipynb": old_notebook,
        "mixed/requirements.txt": "tensorflow\n",
        "conda/train.py": program,
        "conda/environment.yml": "dependencies: [tensorflow]\n",
        "good/train.py": program,
        "good/requirements.txt": "numpy\ntensorflow>=2.12\n",
        "notebook/work.ipynb": notebook,
        "notebook/pyproject.toml": '[project]\nname = "n"\ndependencies = ["keras>=3", "numpy"]\n',
        "nested/train.py": program,
        "nested/requirements.txt": "-r requirements/base.txt\n-r requirements.txt\n--requirement=none.txt\n",
        "nested/requirements/base.txt": "tensorflow>=2.12\n",
        "poetry/train.py": program,
        "poetry/pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.10"\nkeras = {version = "^3"}\n',
        "poetry1/train.py": program,
        "poetry1/pyproject.toml": '[tool.poetry.dependencies]\ntensorflow = "^1.15"\n',
        "below/train.py": program,
        "below/requirements.txt": "tensorflow>=1.13,<2.0\n",
        "dynamic/train.py": program,
        "dynamic/pyproject.toml": '[tool.setuptools.dynamic]\ndependencies = {file = "base.in"}\n',
        "dynamic/base.in": "tensorflow<3\n",
        "indirect/train.py": program,
        "indirect/requirements.txt": "keras-transformer==0.40\ntensorflow-datasets\n",
        "package/examples/run.py": "import net\n" + program,
        "package/src/net.py": "",
        "package/requirements.txt": "tf-nightly-2.0-preview\n",
        "bare/train.py": program,
        "other/requirements.txt": "torch\n",
        "other/main.py": "import torch\ntorch.ones(3)\n",
        "unnamed/main.py": program,
        "unnamed/requirements.txt": "numpy\n",
        "pinned/main.py": program,
        "pinned/requirements.txt": "tensorflow==1.15\n",
        "old/main.py": old,
        "old/requirements.txt": "tensorflow\n",
        "library/code.py": "import tensorflow as tf\ndef f():\n    return tf.constant(1)\n",
        "library/requirements.txt": "tensorflow\n",
        "line\nbreak/x.py": "",
    }.items():
        (repositories / path).parent.mkdir(parents=True, exist_ok=True)
        (repositories / path).write_text(text)
    found, left_out = find_projects(repositories)
    assert {one.path.name: one.entries for one in found} == {
        "good": ("train.py",),
        "mixed": ("new.py",),
        "notebook": ("work.ipynb",),
        "nested": ("train.py",),
        "poetry": ("train.py",),
        "dynamic": ("train.py",),
        "package": ("examples/run.py",),
    }
    why = {one.path.name: one.why for one in left_out}
    assert "declares no requirements" in why["bare"]
    assert "calls no" in why["other"]
    assert "neither TensorFlow nor Keras" in why["unnamed"]
    assert "neither TensorFlow nor Keras" in why["indirect"]
    assert all("requires TensorFlow 1" in why[name] for name in ("pinned", "below", "poetry1"))
    assert "TensorFlow 1" in why["old"]
    assert "can be run" in why["library"]
    assert "environment.yml" in why["conda"]
    text = plan_text(repositories, found, left_out, relative_to=tmp_path)
    assert "# old.ipynb left out: written for TensorFlow 1\n# old.py left out" in text
    plan = plan_in(tmp_path, text)
    searched = {Path(one.path).name: dict(one.env) for one in read_plan(plan).projects if one.env}
    assert searched == {"package": {"PYTHONPATH": "src"}}
    assert [project.create_env for project in read_plan(plan).projects] == [True] * len(found)
    assert jobs_of(read_plan(plan))
