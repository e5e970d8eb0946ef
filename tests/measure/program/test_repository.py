"""Where a project comes from, and how warm its runs were."""

from __future__ import annotations

from pathlib import Path

import pytest

from energy_measure.program.repository import Repository, public_address, repository_of
from energy_measure.run.warming import TEMPERATURE_SECONDS, Warming


@pytest.mark.parametrize(
    ("remote", "shown"),
    [
        ("https://eve:token@example.org/eve/x.git", ("https://example.org/eve/x.git", "eve")),
        ("git@example.org:lab/x.git", ("ssh://example.org/lab/x.git", "lab")),
        ("ssh://git@example.org:2222/lab/x", ("ssh://example.org:2222/lab/x", "lab")),
        ("https://example.org/x", ("https://example.org/x", "")),
        ("/home/eve/x", ("", "")),
        ("../x", ("", "")),
        ("https://[broken/x", ("", "")),
        ("", ("", "")),
    ],
)
def test_an_address_is_told_without_who_logs_in(remote: str, shown: tuple[str, str]) -> None:
    assert public_address(remote) == shown


def test_a_folder_without_a_repository_comes_from_nowhere(tmp_path: Path) -> None:
    assert repository_of(tmp_path) == Repository()


def test_temperatures_are_looked_up_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zone = tmp_path / "class/thermal/thermal_zone0"
    zone.mkdir(parents=True)
    (zone / "type").write_text("x86_pkg_temp\n")
    (zone / "temp").write_text("51000\n")
    monkeypatch.setenv("ENERGY_LSP_SYSFS_ROOT", str(tmp_path))
    warming = Warming({"cpu": 40.0})
    warming.look(1.0)
    warming.look(TEMPERATURE_SECONDS)
    warming.look(TEMPERATURE_SECONDS + 1.0)
    assert warming.series == {"cpu": ((0.0, 40.0), (TEMPERATURE_SECONDS, 51.0))}
    unknown = Warming({})
    unknown.look(TEMPERATURE_SECONDS)
    assert unknown.series == {}
