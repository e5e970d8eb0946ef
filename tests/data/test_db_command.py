"""What `energy-lsp db` prints."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from energy_data.database.database import Database
from energy_data.database.migrations import LATEST
from energy_data.model import Measurement, Quantity, Run
from energy_data.paths import team_database, user_database

Invoke = Callable[..., Result]


@pytest.fixture
def measured(run: Callable[..., Run], measurement: Callable[..., Measurement]) -> Path:
    """The user's database, with a run of one resolved and one unresolved call."""
    with Database.open(user_database()) as database:
        dim = measurement(api="tf.constant", joules={"cpu": Quantity(0.001, 0.01)}, resolved=False)
        database.add_run(run(), [measurement(), dim])
    return user_database()


def test_the_database_is_where_the_environment_says(
    measured: Path, tmp_path: Path, energy_lsp: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = json.loads(energy_lsp("db", "info", "--format", "json").stdout)
    assert told["here"]["file"] == str(tmp_path / "user" / "energy.db")
    monkeypatch.delenv("ENERGY_LSP_DB")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert user_database().name == "energy.db"
    assert user_database().parent.name == "energy-lsp"


def test_info_tells_of_all_three_layers(measured: Path, tmp_path: Path, energy_lsp: Invoke) -> None:
    Database.open(team_database(tmp_path)).close()
    told = json.loads(energy_lsp("db", "info", "--format", "json", "--project", tmp_path).stdout)
    assert {key: told["here"][key] for key in ("runs", "measurements", "schema", "machines_known")} == {
        "runs": 1,
        "measurements": 2,
        "schema": LATEST,
        "machines_known": ["AMD Ryzen 9 7950X + NVIDIA RTX 4090"],
    }
    assert (told["team"]["exists"], told["team"]["runs"]) == (True, 0)
    assert (told["published"]["names"], told["published"]["records"]) == (517, 2129)
    text = energy_lsp("db", "info", "--project", tmp_path / "elsewhere").stdout
    assert "not there yet" in text
    assert "517 published names" in text
    assert "Apache-2.0" in text


def test_info_makes_no_file(tmp_path: Path, energy_lsp: Invoke) -> None:
    result = energy_lsp("db", "info", "--db", tmp_path / "none.db")
    assert result.exit_code == 0
    assert not (tmp_path / "none.db").exists()


def test_a_lookup_says_what_it_costs_and_who_says_so(measured: Path, energy_lsp: Invoke) -> None:
    text = energy_lsp("db", "lookup", "tf.keras.Sequential.fit()").stdout
    assert text.startswith("keras.Sequential.fit\n  123 J per call (95% interval: 121 to 125 J)\n")
    assert "GPU ███████░░░  73%  90.0 J" in text
    assert "1.50 s per call" in text
    origin = (
        "Measured here · AMD Ryzen 9 7950X + NVIDIA RTX 4090 · rapl · 2026-05-01 · TensorFlow 2.21.0 · 5 runs"
    )
    assert origin in text


def test_an_unresolved_call_gets_no_number(measured: Path, energy_lsp: Invoke) -> None:
    text = energy_lsp("db", "lookup", "tf.constant").stdout
    assert "not resolved by the meter; it lies below 20.6 mJ" in text
    assert "J per call" not in text


def test_a_published_figure_names_its_source(energy_lsp: Invoke) -> None:
    text = energy_lsp("db", "lookup", "keras.Sequential.evaluate").stdout
    assert "Published · Intel Xeon Gold 5317" in text
    assert "MSR 2024" in text


def test_a_lookup_for_programs(measured: Path, energy_lsp: Invoke, tmp_path: Path) -> None:
    site = ("--file", "train.py", "--line", "12", "--format", "json", "--project", tmp_path / "mnist")
    (tmp_path / "mnist").mkdir()
    told = json.loads(energy_lsp("db", "lookup", "keras.Sequential.fit", *site).stdout)
    assert (told["source"], told["origin"], told["total"]) == ("here", "site", 123.0)
    assert told["devices"] == {"cpu": 30.0, "ram": 3.0, "gpu": 90.0}


@pytest.mark.parametrize(
    ("api", "advice"),
    [
        (
            "tf.consant",
            "tf.consant is not an API of TensorFlow or Keras: did you mean tensorflow.constant or ",
        ),
        ("numpy.dot", "numpy.dot is not an API of TensorFlow or Keras: give its full name"),
        (
            "tf.keras.Model.fit_generator",
            "No energy is known of keras.Model.fit_generator yet (Keras 3 removed",
        ),
        ("keras.layers.LSTM", "No energy is known of keras.layers.LSTM yet: run `energy-lsp measure`"),
    ],
)
def test_an_api_without_a_figure_gets_advice_and_status_1(energy_lsp: Invoke, api: str, advice: str) -> None:
    result = energy_lsp("db", "lookup", api)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(advice)


def test_a_lookup_says_which_version_removed_the_api(energy_lsp: Invoke) -> None:
    told = energy_lsp("db", "lookup", "tf.estimator.DNNClassifier").stdout
    assert told.startswith("tensorflow.estimator.DNNClassifier (TensorFlow 2.16 removed it)")
    assert "689 ms per call" in told


def test_published_records_that_lie_far_apart_give_a_range_and_no_middle(energy_lsp: Invoke) -> None:
    text = energy_lsp("db", "lookup", "tf.split").stdout
    assert " to " in text.splitlines()[1]
    assert "record" in text.splitlines()[1]
    assert json.loads(energy_lsp("db", "lookup", "tf.split", "--format", "json").stdout)["total"] is None


def test_a_last_name_lists_the_apis_that_have_it(energy_lsp: Invoke) -> None:
    done = energy_lsp("db", "lookup", "fit")
    assert done.exit_code == 1
    names = done.stdout.split()
    assert {"keras.Model.fit", "keras.Sequential.fit"} <= set(names[:4])
    assert all(name.endswith(".fit") for name in names)
    assert "name one of them" in done.stderr
