"""Whatever a folder holds, files are written where somebody asked for them, and nowhere else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from energy_data.untrusted.writing import (
    NotWritten,
    append_to,
    inside,
    private_folder,
    stream_into,
    write_file,
)

FIXABLE = "import tensorflow as tf\n\nx = tf.ones((8, 8))\ny = tf.pow(x, 2)\n"


def check_fix(*paths: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "energy_lsp", "check", "--fix", *map(str, paths)]
    environment = {**os.environ, "ENERGY_LSP_DB": str(cwd / "none.db")}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=60)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of somebody else, and outside of it a file of ours."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / ".bashrc").write_text("# mine\n")
    return folder


def mine(checkout: Path) -> Path:
    return checkout.parent / "outside" / ".bashrc"


def test_a_link_at_a_name_we_might_take_is_not_written_through(checkout: Path) -> None:
    (checkout / "train.py").write_text(FIXABLE)
    for name in (".train.py.energy-lsp", "train.py.tmp", ".train.py.tmp", "train.py~"):
        (checkout / name).symlink_to("../outside/.bashrc")
    (checkout / "train.py").chmod(0o640)
    done = check_fix(checkout, cwd=checkout)
    assert "1 fixed" in done.stdout, done.stderr
    assert mine(checkout).read_text() == "# mine\n"
    assert "tf.square" in (checkout / "train.py").read_text()
    assert stat.S_IMODE((checkout / "train.py").stat().st_mode) == 0o640
    assert not list(checkout.glob(".*.tmp*"))[1:], "nothing is left beside it"


def test_a_file_that_leads_out_of_what_was_named_is_not_fixed(checkout: Path) -> None:
    outside = checkout.parent / "outside" / "victim.py"
    outside.write_text(FIXABLE)
    (checkout / "train.py").symlink_to("../outside/victim.py")
    for named in (checkout, checkout / "train.py"):
        done = check_fix(named, cwd=checkout)
        assert done.returncode == 2
        assert "leads out of" in done.stderr
    assert outside.read_text() == FIXABLE
    assert (checkout / "train.py").is_symlink()


@pytest.mark.parametrize("other", [None, "pyproject.toml"])
@pytest.mark.parametrize("named", ["src", "src/victim.py"])
def test_a_folder_that_leads_out_is_not_fixed_by_its_name(
    named: str, other: str | None, checkout: Path
) -> None:
    outside = checkout.parent / "outside" / "victim.py"
    outside.write_text(FIXABLE)
    if other is not None:  # it is a project of its own
        (outside.parent / other).write_text("")
    (checkout / "src").symlink_to("../outside")
    done = check_fix(Path(named), cwd=checkout)
    assert done.returncode == 2
    assert "leads out of" in done.stderr
    assert outside.read_text() == FIXABLE


def test_a_read_only_file_is_left_alone_and_its_findings_are_shown(checkout: Path) -> None:
    (checkout / "train.py").write_text(FIXABLE)
    (checkout / "train.py").chmod(0o444)
    done = check_fix(checkout, cwd=checkout)
    assert (done.returncode, done.stderr) == (2, "train.py was not fixed: it is read-only\n")
    assert "train.py:4:5" in done.stdout
    assert (checkout / "train.py").read_text() == FIXABLE


def test_a_link_inside_is_fixed_where_it_leads(checkout: Path) -> None:
    (checkout / "real.py").write_text(FIXABLE)
    (checkout / "link.py").symlink_to("real.py")
    assert check_fix(checkout, cwd=checkout).returncode in (0, 1)
    assert (checkout / "link.py").is_symlink()
    assert "tf.square" in (checkout / "real.py").read_text()


def test_a_hard_link_elsewhere_keeps_its_text(checkout: Path) -> None:
    elsewhere = checkout.parent / "outside" / "other.py"
    elsewhere.write_text(FIXABLE)
    os.link(elsewhere, checkout / "train.py")
    check_fix(checkout, cwd=checkout)
    assert elsewhere.read_text() == FIXABLE
    assert "tf.square" in (checkout / "train.py").read_text()


def test_links_folders_pipes_and_devices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "nowhere").symlink_to("missing")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "nowhere", "folder", "pipe"):
        for write in (lambda path: write_file(path, "x"), stream_into, append_to):
            with pytest.raises(NotWritten):
                write(tmp_path / name)
    for write in (lambda path: write_file(path, "x"), append_to):
        with pytest.raises(NotWritten):
            write(Path(os.devnull))
    stream_into(Path(os.devnull)).close()
    assert (tmp_path / "target").read_text() == "mine"
    assert not (tmp_path / "missing").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link", "nowhere", "pipe", "target"]


def test_what_fails_midway_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_text("old")

    def parts() -> object:
        yield "new"
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_file(path, parts())  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["export"]


def test_private_means_private_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        private_folder(tmp_path / "a" / "b")
        write_file(tmp_path / "a" / "b" / "kept", "x", private=True)
        with append_to(tmp_path / "log") as log:
            log.write("x")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/kept", "log")]
    assert modes == [0o700, 0o700, 0o600, 0o600]


def test_a_folder_exchanged_meanwhile_does_not_lead_elsewhere(tmp_path: Path) -> None:
    """Somebody swaps the folder for a link as fast as they can: what is outside stays as it is."""
    within, outside, away = tmp_path / "within", tmp_path / "outside", tmp_path / "away"
    within.mkdir()
    outside.mkdir()
    (outside / "file").write_text("mine")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            within.rename(away)
            within.symlink_to(outside)
            within.unlink()
            away.rename(within)

    (within / "file").write_text("")
    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(300):
            try:
                write_file(within / "file", "ours", exact=True)
            except OSError:
                continue
    finally:
        stop.set()
        swapping.join()
    assert (outside / "file").read_text() == "mine"


def test_what_was_named_is_where_writing_ends(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    (tmp_path / "in" / "up").symlink_to("..")
    (tmp_path / "in" / "circle").symlink_to("circle")
    real = tmp_path.resolve() / "in" / "a.py"
    assert inside(tmp_path / "in" / "a.py", [tmp_path / "in"]) == real
    assert inside(tmp_path / "in" / "up" / "in" / "a.py", [tmp_path / "in"]) == real
    assert inside(tmp_path / "in" / "up" / "b.py", [tmp_path / "in"]) is None
    assert inside(tmp_path / "inside.py", [tmp_path / "in"]) is None
