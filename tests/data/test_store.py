"""Three layers, asked in order; what happens when one of them goes bad."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from energy_data.database.database import Database
from energy_data.database.store import EnergyStore
from energy_data.model import Measurement, Quantity, RuleEvidence, Run
from energy_data.problems import DatabaseProblem
from energy_data.published import figures

MakeRun = Callable[..., Run]
MakeMeasurement = Callable[..., Measurement]


@pytest.fixture
def layers(tmp_path: Path, run: MakeRun, measurement: MakeMeasurement) -> tuple[Path, Path]:
    """A user's database that knows fit, and a team's that knows fit and predict."""
    here, project = tmp_path / "here.db", tmp_path / "mnist"
    with Database.open(here) as database:
        database.add_run(run(id="here"), [measurement(joules={"cpu": Quantity(1.0, 0.1)})])
    with Database.open(project / ".energy" / "energy.db") as database:
        team = run(id="team", meter="perf")
        apis = ("keras.Sequential.fit", "keras.Sequential.predict")
        database.add_run(team, [measurement(api=api, joules={"cpu": Quantity(2.0, 0.1)}) for api in apis])
    return here, project


def test_this_machine_goes_before_the_team_and_the_team_before_the_published(
    layers: tuple[Path, Path],
) -> None:
    store = EnergyStore.open(*layers)
    found = [store.lookup(f"tf.keras.Sequential.{name}()") for name in ("fit", "predict", "evaluate")]
    told = [(f.source, f.machine, f.meter, f.runs) for f in found if f is not None]
    assert told == [
        ("here", "AMD Ryzen 9 7950X + NVIDIA RTX 4090", "rapl", 5),
        ("team", "AMD Ryzen 9 7950X + NVIDIA RTX 4090", "perf", 5),
        (
            "published",
            "Intel Xeon Gold 5317 + NVIDIA GeForce RTX 3070 Ti",
            "perf (RAPL) and nvidia-smi, 0.5 s",
            71,
        ),
    ]
    assert store.lookup("tensorflow.no_such_thing") is None


def test_reading_a_team_database_leaves_nothing_beside_it(layers: tuple[Path, Path]) -> None:
    here, project = layers
    EnergyStore.open(here, project).lookup("keras.Sequential.predict")
    assert [file.name for file in (project / ".energy").iterdir()] == ["energy.db"]


def test_the_measured_calls_of_a_file(
    layers: tuple[Path, Path], run: MakeRun, measurement: MakeMeasurement
) -> None:
    here, project = layers
    with Database.open(here) as database:
        places = [("train.py", 40), ("other.py", 50)]
        database.add_run(run(id="more"), [measurement(file=file, line=line) for file, line in places])
    store = EnergyStore.open(here, project)
    found = [(site.line, site.api, site.figure.source, site.figure.times) for site in store.sites("train.py")]
    assert sorted(found) == [
        (12, "keras.Sequential.fit", "here", 4),
        (12, "keras.Sequential.predict", "team", 4),
        (40, "keras.Sequential.fit", "here", 4),
    ]
    assert store.sites("none.py") == []
    elsewhere = store.lookup("keras.Sequential.fit", file="train.py", line=41)
    assert elsewhere is not None
    assert elsewhere.origin == "api"
    assert store.lookup("keras.Sequential.fit", file="train.py", line=40).origin == "site"  # type: ignore[union-attr]


def test_evidence_of_all_layers_in_their_order(
    layers: tuple[Path, Path], evidence: RuleEvidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, project = layers
    for path in (here, project / ".energy" / "energy.db"):
        with Database.open(path) as database:
            database.add_evidence([evidence, evidence])
    line = {**{key: getattr(evidence, key) for key in evidence.__slots__}, "source": "here"}
    monkeypatch.setattr(figures, "_shipped", lambda name: json.dumps(line))
    figures._shipped_evidence.cache_clear()
    found = EnergyStore.open(here, project).evidence(evidence.rule)
    figures._shipped_evidence.cache_clear()
    assert [item.source for item in found] == ["here", "team", "published"]
    assert {item.ratio for item in found} == {0.59}


def test_a_stamp_changes_with_a_write_and_reopen_sees_it(
    layers: tuple[Path, Path], run: MakeRun, measurement: MakeMeasurement
) -> None:
    here, project = layers
    store = EnergyStore.open(here, project)
    before = store.stamp()
    assert store.stamp() == before
    assert store.lookup("keras.Model.fit").source == "published"  # type: ignore[union-attr]
    with Database.open(here) as database:
        database.add_run(run(id="more"), [measurement(api="keras.Model.fit")])
        assert store.stamp() != before, "seen while the writer still has the file open"
    store.reopen()
    assert store.lookup("keras.Model.fit").source == "here"  # type: ignore[union-attr]


def test_a_database_that_appears_later_is_found(
    tmp_path: Path, run: MakeRun, measurement: MakeMeasurement
) -> None:
    store = EnergyStore.open(tmp_path / "later.db")
    before = store.stamp()
    with Database.open(tmp_path / "later.db") as database:
        database.add_run(run(), [measurement()])
    assert store.stamp() != before
    store.reopen()
    assert store.lookup("keras.Sequential.fit").source == "here"  # type: ignore[union-attr]


def test_a_bad_layer_is_left_out_and_named_once(layers: tuple[Path, Path]) -> None:
    here, project = layers
    here.write_bytes(b"this is a letter, not a database" * 100)
    store = EnergyStore.open(here, project, strict=False)
    store.reopen()
    assert store.lookup("keras.Sequential.fit").source == "team"  # type: ignore[union-attr]
    assert store.problems == [
        f"{here} is not an energy database or is damaged: move it away, or name another file with --db."
    ]
    with pytest.raises(DatabaseProblem, match="not an energy database"):
        EnergyStore.open(here, project)


def test_a_file_that_is_damaged_while_open_is_left_out(layers: tuple[Path, Path]) -> None:
    here, project = layers
    store = EnergyStore.open(here, project, strict=False)
    with here.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * (here.stat().st_size - 100))
    assert store.lookup("keras.Sequential.fit").source == "team"  # type: ignore[union-attr]
    assert store.lookup("keras.Sequential.predict").source == "team"  # type: ignore[union-attr]
    assert len(store.problems) == 1


def test_a_row_that_makes_no_sense_leaves_the_layer_out(layers: tuple[Path, Path]) -> None:
    here, project = layers
    with Database.open(here) as database:
        database.connection.execute("UPDATE summaries SET total = 'a lot'")
    store = EnergyStore.open(here, project, strict=False)
    assert store.lookup("keras.Sequential.fit").source == "team"  # type: ignore[union-attr]
    assert len(store.problems) == 1


def test_a_removed_database_is_a_missing_layer_and_no_problem(layers: tuple[Path, Path]) -> None:
    here, project = layers
    store = EnergyStore.open(here, project, strict=False)
    here.unlink()
    store.reopen()
    assert store.lookup("keras.Sequential.fit").source == "team"  # type: ignore[union-attr]
    assert store.problems == []


def test_looking_up_does_without_sqlite_utils(layers: tuple[Path, Path]) -> None:
    here, project = layers
    script = (
        "import sys; from pathlib import Path; from energy_data.database.store import EnergyStore; "
        "store = EnergyStore.open(Path(sys.argv[1]), Path(sys.argv[2])); "
        "assert store.lookup('keras.Sequential.fit').source == 'here'; store.evidence('none'); "
        "print('sqlite_utils' in sys.modules)"
    )
    command = [sys.executable, "-c", script, str(here), str(project)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
