"""The shipped table of published figures."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from energy_data.catalogue.catalogue import Catalogue
from energy_data.catalogue.naming import canonical
from energy_data.database.store import EnergyStore
from energy_data.published.figures import published, table

ROOT = Path(__file__).parents[2]


def rows() -> list[dict[str, object]]:
    return [dict(zip(table()["columns"], row, strict=True)) for row in table()["rows"]]


def test_the_table_names_its_source_machine_and_licence() -> None:
    about = table()["about"]
    assert "MSR 2024" in about["source"]
    assert "SMART-Dal/greenlight" in about["source"]
    assert about["licence"] == "Apache-2.0"
    assert about["machine"] == "Intel Xeon Gold 5317 + NVIDIA GeForce RTX 3070 Ti"


def test_all_517_published_names_and_their_2129_records_are_there() -> None:
    names = {str(name) for row in rows() for name in (*row["names"], row["api"])}  # type: ignore[misc]
    assert table()["about"]["names"] == 517
    assert sum(int(row["records"]) for row in rows()) == 2129  # type: ignore[call-overload]
    assert all(published(name) is not None for name in names)


def test_every_published_name_has_an_answer_that_says_where_it_comes_from(
    greenlight_folder: Path, tmp_path: Path
) -> None:
    store = EnergyStore.open(tmp_path / "none.db")
    files = greenlight_folder.rglob("*.json")
    names = {name for file in files for record in json.loads(file.read_bytes()) for name in record}
    assert len(names) == 517
    for name in names:
        figure = store.lookup(name)
        assert figure is not None, name
        assert (figure.source, figure.machine) == ("published", table()["about"]["machine"])
        assert figure.runs >= 1
        assert "MSR 2024" in figure.citation
        assert (figure.total is None) == (2 * figure.resolved < figure.measurements), name


def test_the_unresolved_say_so_and_give_no_number() -> None:
    figure = published("tf.constant")
    assert figure is not None
    assert (figure.total, figure.low, figure.high, dict(figure.devices)) == (None, None, None, {})
    assert figure.below is not None
    assert figure.resolved < figure.measurements / 2


def test_a_resolved_api_gives_a_range_over_call_sites() -> None:
    figure = published("tf.keras.Sequential.fit")
    assert figure is not None
    assert figure.spread == "range"
    assert 0 <= figure.low < figure.total < figure.high  # type: ignore[operator]
    assert set(figure.devices) == {"cpu", "ram", "gpu"}


def test_names_in_the_table_are_those_of_the_catalogue() -> None:
    for row in rows():
        for name in row["names"]:  # type: ignore[attr-defined]
            assert canonical(name) == row["api"], "run tools/build_figures.py again"


def test_what_costs_of_a_whole_expression_are_not_put_on_its_last_call() -> None:
    name = "tensorflow.data.Dataset.from_tensor_slices((x_test, y_test)).batch()"
    assert Catalogue.load().canonical(name) == "tensorflow.data.Dataset.batch"
    assert published(name).api == name.removesuffix("()")  # type: ignore[union-attr]


def test_the_table_is_what_the_script_makes_of_the_records(greenlight_folder: Path) -> None:
    specification = importlib.util.spec_from_file_location(
        "build_figures", ROOT / "tools" / "build_figures.py"
    )
    assert specification is not None
    assert specification.loader is not None
    build = importlib.util.module_from_spec(specification)
    sys.modules["build_figures"] = build  # dataclasses look their module up
    specification.loader.exec_module(build)
    made = json.loads(build.render(build.table(build.collect(greenlight_folder))))
    shipped = table()
    assert made["about"] == shipped["about"]
    for new, old in zip(made["rows"], shipped["rows"], strict=True):
        for column, left, right in zip(shipped["columns"], new, old, strict=True):
            if isinstance(left, list) and left and isinstance(left[0], float):
                assert left == pytest.approx(right, rel=1e-3), (new[0], column)
            else:
                assert left == right, (new[0], column)
