"""What is handed on names no folder of this machine, and says where it holds values of arguments."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from energy_data.database.database import Database
from energy_data.database.pruning import prune
from energy_data.exchange.sharing import holds_values, shared_row, shared_text
from energy_data.model import Environment, Machine, Run
from energy_data.paths import standard_database
from energy_data.project_identity import project_id
from energy_data.project_places import place_of, remember_place
from energy_lsp.cli import main
from energy_measure.program.process import command_line, without_values

ARGUMENTS = ("--password", "hunter2", "--key=s3cret", "-ptoken", "ab")


def stored(path: Path, command: str, error: str = "") -> None:
    run = Run(
        id="run", machine=Machine("Ryzen", "", 1, "os", ""), environment=Environment("3.11", "2.21", "3.15"),
        command=command, started="2026-05-01T10:00:00Z", meter="rapl", estimated=False, stable=None, commit="",
        project="/home/eve/work/mnist", temperatures={}, seconds=1.0, joules={}, unaccounted_joules=None, error=error,
    )  # fmt: skip
    with Database.open(path) as database:
        database.add_run(run)


def test_errors_of_a_program_lose_the_values_of_its_arguments() -> None:
    said = "ValueError: hunter2, s3cret and token are wrong, about"
    assert without_values(said, ARGUMENTS) == "ValueError: <2>, <3> and <4> are wrong, about"
    assert without_values(said, ()) == said


def test_errors_of_a_program_lose_what_addresses_and_variables_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_TOKEN", "hf_hunter2")
    monkeypatch.setenv("AUTH_MODE", "auto")
    said = "HTTPError: auto 401 of https://eve:hunter2@host.org:80/a?key=hunter3&b=4 with hf_hunter2"
    shared = shared_text(without_values(said, ()), "/home/eve/project")
    assert shared == "HTTPError: auto 401 of https://…@host.org:80/a?key=…&b=… with <HUB_TOKEN>"
    assert shared_text(shared, "/home/eve/project") == shared


@pytest.mark.parametrize("way", ["export", "merge"])
def test_no_folder_of_this_machine_is_handed_on(tmp_path: Path, way: str) -> None:
    own, other = tmp_path / "own.db", tmp_path / "other.db"
    stored(own, "python /home/eve/work/mnist/src/train.py", "OSError: '/home/eve/data/x.npy' is missing")
    if way == "merge":
        done = CliRunner().invoke(main, ["db", "merge", str(own), "--db", str(other)])
        with Database.read(other) as database:
            (run,) = database.runs()
        texts = (run.project, run.command, run.error)
    else:
        done = CliRunner().invoke(main, ["db", "export", "--db", str(own)])
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        (row,) = [row for row in rows if row["table"] == "runs"]
        texts = (row["project"], row["command"], row["error"])
    assert done.exit_code == 0
    assert texts == ("mnist", "python src/train.py", "OSError: '…/x.npy' is missing")
    assert done.stderr == (
        "It shares 1 run on Ryzen, names of files, and calls as they are written; no command line in it holds values of arguments.\n"
    )


def test_sharing_says_when_command_lines_hold_values(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    stored(own, "python train.py --password hunter2")
    shared = ["db", "export", str(tmp_path / "x.jsonl")], ["report", "--html", str(tmp_path / "x.html")]
    for arguments in shared:
        done = CliRunner().invoke(main, [*arguments, "--db", str(own)])
        assert done.exit_code == 0, done.output
        assert "1 command lines in it hold values of arguments" in done.stderr
        assert "hunter2" not in done.stderr


def test_a_page_to_share_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    own, page = tmp_path / "own.db", tmp_path / "x.html"
    stored(own, "python /home/eve/work/mnist/src/train.py", "OSError: '/home/eve/data/x.npy' is missing")
    with Database.open(own) as database:
        database.connection.execute(
            "INSERT INTO spans (run_id, api, file, line, thread, start, end) VALUES ('run', 'a.b', '/home/eve/o.py', 1, 0, 0, 1)"
        )
        database.connection.commit()
    done = CliRunner().invoke(main, ["report", "--html", str(page), "--db", str(own)])
    assert done.exit_code == 0, done.output
    assert "/eve/" not in page.read_text("utf-8")
    assert "src/train.py" in page.read_text("utf-8")
    exported = CliRunner().invoke(main, ["db", "export", "--db", str(own)]).stdout
    assert "/eve/" not in exported
    assert json.dumps("…/o.py") in exported


def test_where_a_project_lies_is_noted_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root, own = tmp_path / "work" / "mnist", tmp_path / "own.db"
    root.mkdir(parents=True)
    stored(own, "python train.py")
    with Database.read(own) as database:
        run = replace(database.runs()[0], project="mnist", project_id=project_id(root))
    assert place_of(run) is None
    remember_place(project_id(root), root)
    assert place_of(run) == root
    assert place_of(replace(run, project_id="another")) is None
    assert place_of(replace(run, project="/as/before")) == Path("/as/before")
    noted = list((tmp_path / "data").rglob("projects/*"))
    assert [stat.S_IMODE(path.stat().st_mode) for path in (noted[0].parent, *noted)] == [0o700, 0o600]


def test_runs_of_namesakes_are_pruned_apart(tmp_path: Path) -> None:
    own = tmp_path / "own.db"
    stored(own, "python train.py")
    with Database.open(own) as database:
        (run,) = database.runs()
        for name in "ab":
            database.add_run(replace(run, id=name, project="mnist", project_id=f"folder-{name}"))
        prune(database, keep=1)
        assert {run.id for run in database.runs()} == {"run", "a", "b"}


def test_values_are_told_from_names() -> None:
    assert not holds_values(command_line(Path("p.py"), ARGUMENTS))
    assert holds_values(command_line(Path("p.py"), ARGUMENTS, keep=True))


def test_what_was_made_fit_to_share_stays_as_it_is() -> None:
    row = {"project": "/a/b", "command": "python /a/b/c/d.py", "error": "at /x/y/z and https://host/a/b"}
    once = shared_row("runs", row)
    assert once["error"] == "at …/z and https://host/a/b"
    assert shared_row("runs", once) == once


def test_folders_with_spaces_in_their_names_leave_an_error() -> None:
    error = "OSError: /home/Eve Smith/My Data/x.npy is missing; '/home/Eve Smith/a b/c d.csv'"
    row = {"project": "mnist", "command": "python train.py", "error": error}
    assert shared_row("runs", row)["error"] == "OSError: …/x.npy is missing; '…/c d.csv'"


def test_the_users_own_database_is_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENERGY_LSP_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    own = standard_database()
    own.parent.mkdir(parents=True, mode=0o755)
    own.touch(0o644)  # as an earlier version made them
    stored(own, "python train.py")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (own.parent, own)] == [0o700, 0o600]
    team = tmp_path / "team.db"
    team.touch()
    team.chmod(0o664)
    stored(team, "python train.py")
    assert stat.S_IMODE(team.stat().st_mode) == 0o664
