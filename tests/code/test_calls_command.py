"""`energy-lsp calls` on files, notebooks and folders."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from energy_code.workspace.project import MOST_READ_ALONG
from energy_lsp.cli import main


def run(*arguments: str):
    return CliRunner().invoke(main, ["calls", *arguments])


def test_json_has_the_fields_and_units_of_the_contract(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "a.py"
    file.write_text(
        "import tensorflow as tf\né = '😀'; tf.ones(\n  3)\n@tf.function\ndef f(): ...\n", encoding="utf-8"
    )
    answer = run("--format", "json", str(file))
    assert answer.exit_code == 0
    (record,) = json.loads(answer.stdout)
    assert {
        key: record[key] for key in ("file", "line", "column", "end_line", "end_column", "api", "confidence")
    } == {
        "file": str(file),
        "line": 2,
        "column": 9,
        "end_line": 3,
        "end_column": 4,
        "api": "tensorflow.ones",
        "confidence": 1.0,
    }


def test_a_folder_is_one_project_and_notebooks_count(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "train.py").write_text("def train(m):\n    m.fit()\n", encoding="utf-8")
    (folder / "main.py").write_text(
        "import keras, train\ntrain.train(keras.Sequential())\n", encoding="utf-8"
    )
    cell = {"cell_type": "code", "source": ["%time\n", "import keras\n", "keras.ops.ones(1)"]}
    (folder / "n.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    lines = run(str(folder)).stdout.splitlines()
    assert lines == [
        f"{folder / 'main.py'}:2:12: keras.Sequential",
        f"{folder / 'n.ipynb'}:cell 0:3:0: keras.ops.ones",
        f"{folder / 'train.py'}:2:4: keras.Sequential.fit",
    ]


def test_what_cannot_be_read_is_named_and_the_rest_is_printed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    good = tmp_path / "good.py"
    good.write_text("import keras\nkeras.Sequential()\n", encoding="utf-8")
    bad = tmp_path / "bad.ipynb"
    bad.write_text("no json", encoding="utf-8")
    empty = tmp_path / "empty"
    empty.mkdir()
    answer = run(str(tmp_path / "gone.py"), str(bad), str(empty), str(good))
    assert answer.exit_code == 1
    assert "gone.py does not exist: check the spelling." in answer.stderr
    assert "bad.ipynb is not a Jupyter notebook: open it in Jupyter and save it again." in answer.stderr
    assert "empty holds no Python file or notebook" in answer.stderr
    assert answer.stdout.splitlines() == [f"{good}:2:0: keras.Sequential"]


@pytest.mark.parametrize(
    ("others", "api"), [(0, "keras.Sequential.fit"), (MOST_READ_ALONG, "keras.Model.fit  (confidence 0.80)")]
)
@pytest.mark.parametrize("home", ["", "src/"])
def test_a_file_is_read_with_the_small_project_around_it(tmp_path, monkeypatch, others, api, home):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "project"
    package = root / home / "lib"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "train.py").write_text(
        "import keras\ndef train(m: keras.Model):\n    m.fit()\n", encoding="utf-8"
    )
    (root / "main.py").write_text(
        "import keras\nfrom lib.train import train\ntrain(keras.Sequential())\n", encoding="utf-8"
    )
    for number in range(others):
        (root / f"other{number}.py").touch()
    file = package / "train.py"
    assert run(str(file)).stdout.splitlines() == [f"{file}:3:4: {api}"]


def test_shapes_stand_beside_the_calls_that_are_given_them(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(
        "import tensorflow as tf\n"
        "def f(x):\n    return tf.exp(x)\n"
        "f(tf.ones((2, 3)))\nf(tf.ones((4, 3)))\ntf.sqrt(load())\n",
        encoding="utf-8",
    )
    lines = run("--shapes", str(file)).stdout.splitlines()
    assert f"{file}:3:11: tensorflow.math.exp  x=float32[2,3]  x=float32[4,3]" in lines
    assert f"{file}:6:0: tensorflow.math.sqrt" in lines
    records = json.loads(run("--shapes", "--format", "json", str(file)).stdout)
    assert [record["shapes"] for record in records if record["api"].endswith("exp")] == [
        [{"name": "x", "shape": f"float32[{rows},3]", "from": "source"} for rows in (2, 4)]
    ]
    assert "shapes" not in json.loads(run("--format", "json", str(file)).stdout)[0]


def test_what_the_user_wrote_about_a_shape_counts(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(
        "import tensorflow as tf\n"
        "from typing import Annotated\n"
        "x = load()  # energy: shape x=[8, 224, 224, 3]\n"
        "tf.exp(x)\n"
        "def f(y: Annotated[tf.Tensor, 'float64[5,6]'], z):  # energy: shape z=int32[None,4]\n"
        "    tf.sqrt(y)\n"
        "    tf.abs(z)\n",
        encoding="utf-8",
    )
    records = json.loads(run("--shapes", "--format", "json", str(file)).stdout)
    assert [(shape["shape"], shape["from"]) for record in records for shape in record["shapes"]] == [
        ("float32[8,224,224,3]", "written"),
        ("float64[5,6]", "written"),
        ("int32[?,4]", "written"),
    ]
