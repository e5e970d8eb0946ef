"""The API catalogue: names, aliases, members, results, and how it answers for what people write."""

from __future__ import annotations

import importlib.util
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

from energy_data.catalogue.catalogue import Catalogue

ROOT = Path(__file__).parents[2]
RECORDS = ROOT.parent / "shared" / "greenlight" / "greenlight.tar.xz"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue.load()


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("tensorflow.add", "tensorflow.math.add"),
        ("tf.add", "tensorflow.math.add"),
        ("tf.matmul()", "tensorflow.linalg.matmul"),
        ("tensorflow.keras.layers.Dense", "keras.layers.Dense"),
        ("tf_keras.layers.Dense", "keras.layers.Dense"),
        ("tensorflow.python.keras.layers.core.Dense", "keras.layers.Dense"),
        ("tensorflow.compat.v1.keras.layers.Dense", "keras.layers.Dense"),
        ("keras.layers.Layer", "keras.Layer"),
        ("keras.models.Model.fit", "keras.Model.fit"),
        ("tensorflow.keras.Sequential.fit()", "keras.Sequential.fit"),
        ("tensorflow.compat.v1.add", "tensorflow.math.add"),
        ("tensorflow.compat.v2.add", "tensorflow.math.add"),
        ("tensorflow.losses.MeanSquaredError", "keras.losses.MeanSquaredError"),
        ("tensorflow.python.ops.math_ops.add", "tensorflow.math.add"),
        ("tensorflow.Session", "tensorflow.compat.v1.Session"),
        ("tensorflow.layers.dense", "tensorflow.compat.v1.layers.dense"),
        ("tensorflow.constant([1]).numpy()", "tensorflow.Tensor.numpy"),
        ("tensorflow.keras.layers.Dense(1)()", "keras.layers.Dense.__call__"),
        ("tensorflow.data.Dataset.from_tensor_slices.shuffle(10).batch()", "tensorflow.data.Dataset.batch"),
        ("keras.Model.fit_generator", "keras.Model.fit_generator"),
        ("tensorflow.no_such_name", None),
        ("keras.Model.no_such_method", None),
        ("numpy.array", None),
        ("not a name (", None),
        ("", None),
        ("--matrix", None),
        ("not x", None),
        ("f" + "()" * 5000, None),
    ],
)
def test_canonical_name(catalogue: Catalogue, written: str, canonical: str | None) -> None:
    assert catalogue.canonical(written) == canonical


def test_a_canonical_name_is_its_own_canonical_name(catalogue: Catalogue) -> None:
    for name in catalogue.names():
        entry = catalogue.find(name)
        assert entry is not None, name
        assert entry.name == name
        assert catalogue.canonical(name) == name


def test_every_base_and_every_result_is_known(catalogue: Catalogue) -> None:
    for name in catalogue.names():
        entry = catalogue.find(name)
        assert entry is not None
        for base in entry.bases:
            found = catalogue.find(base)
            assert found is not None, (name, base)
            assert found.kind == "class", (name, base)
        words = (entry.returns or "").replace("[", " ").replace("]", " ").replace(",", " ").split()
        for word in words:
            if word.startswith(("tensorflow.", "keras.")):
                assert catalogue.canonical(word) == word, (name, word)


def test_members_are_inherited_and_named_by_the_receiver(catalogue: Catalogue) -> None:
    fit = catalogue.member("tensorflow.keras.Sequential", "fit")
    assert fit is not None
    assert (fit.name, fit.kind, fit.returns) == ("keras.Sequential.fit", "method", "keras.callbacks.History")
    members = catalogue.members("keras.Sequential")
    assert {"fit", "add", "weights", "optimizer", "__call__"} <= set(members)
    assert catalogue.member("keras.layers", "Dense") == catalogue.find("keras.layers.Dense")
    assert catalogue.member("keras.layers.Dense", "fit") is None


def test_a_star_import_brings_functions_classes_and_modules(catalogue: Catalogue) -> None:
    members = catalogue.members("tensorflow")
    assert members["add"].name == "tensorflow.math.add"
    assert members["keras"].name == "keras"
    assert members["nn"].kind == "module"
    assert members["Variable"].kind == "class"
    assert "Session" not in members
    assert not [name for name in members if name.startswith("_")]


def test_subclasses(catalogue: Catalogue) -> None:
    assert catalogue.is_subclass("tensorflow.keras.Sequential", "tensorflow.keras.layers.Layer")
    assert catalogue.is_subclass("keras.Model", "keras.Model")
    assert catalogue.is_subclass("tensorflow.data.TFRecordDataset", "tensorflow.data.Dataset")
    assert not catalogue.is_subclass("keras.Model", "keras.Sequential")
    assert not catalogue.is_subclass("tensorflow.math.add", "keras.Model")


@pytest.mark.parametrize(
    ("name", "returns", "pure"),
    [
        ("tensorflow.math.add", "tensorflow.Tensor", True),
        ("tensorflow.constant", "tensorflow.Tensor", True),
        ("tensorflow.random.normal", "tensorflow.Tensor", False),
        ("tensorflow.print", None, False),
        ("tensorflow.io.read_file", "tensorflow.Tensor", False),
        ("tensorflow.Variable.assign_add", "tensorflow.Variable", False),
        ("tensorflow.Tensor.numpy", "numpy.ndarray", True),
        ("tensorflow.data.Dataset.batch", "tensorflow.data.Dataset", True),
        ("tensorflow.data.Dataset.map", "tensorflow.data.Dataset", False),
        ("tensorflow.data.Dataset.shuffle", "tensorflow.data.Dataset", False),
        ("tensorflow.GradientTape.gradient", "tensorflow.Tensor", False),
        ("tensorflow.split", "list[tensorflow.Tensor]", True),
        ("keras.layers.Dense.__call__", "tensorflow.Tensor", True),
        ("keras.layers.Dropout.__call__", "tensorflow.Tensor", False),
        ("keras.Model.fit", "keras.callbacks.History", False),
        ("keras.Model.predict", "numpy.ndarray", False),
        ("keras.Model.layers", "list[keras.Layer]", True),
        ("keras.Sequential", "keras.Sequential", False),
        ("keras.applications.MobileNetV2", "keras.Model", False),
        ("keras.datasets.mnist.load_data", None, False),
    ],
)
def test_results_and_purity(catalogue: Catalogue, name: str, returns: str | None, pure: bool) -> None:
    entry = catalogue.find(name)
    assert entry is not None
    assert entry.pure is pure
    if name == "keras.datasets.mnist.load_data":
        assert entry.returns is not None
        assert entry.returns.startswith("tuple[tuple[numpy.ndarray")
    else:
        assert entry.returns == returns


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("tensorflow.estimator.DNNClassifier.train", "TensorFlow 2.16"),
        ("tensorflow.compat.v1.estimator.Estimator", "TensorFlow 2.16"),
        ("tensorflow.Session", "TensorFlow 2.0"),
        ("tensorflow.contrib.layers.fully_connected", "TensorFlow 2.0"),
        ("keras.Model.fit_generator", "Keras 3"),
        ("tensorflow.keras.Sequential.predict_classes", "TensorFlow 2.6"),
        ("tensorflow.compat.v1.Session", None),
        ("tensorflow.add", None),
    ],
)
def test_old_names_say_what_removed_them(catalogue: Catalogue, name: str, version: str | None) -> None:
    entry = catalogue.find(name)
    assert entry is not None
    assert entry.removed_in == version


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("tensorflow.add", "https://www.tensorflow.org/api_docs/python/tf/math/add"),
        ("keras.Model.fit", "https://www.tensorflow.org/api_docs/python/tf/keras/Model#fit"),
        (
            "tensorflow.estimator.Estimator",
            "https://www.tensorflow.org/versions/r2.15/api_docs/python/tf/estimator/Estimator",
        ),
        ("tensorflow.python.util.object_identity.Reference", None),
        ("no.such.name", None),
    ],
)
def test_documentation(catalogue: Catalogue, name: str, url: str | None) -> None:
    assert catalogue.url(name) == url


@pytest.mark.skipif(not RECORDS.exists(), reason="the published records are not next to this repository")
def test_every_published_name_is_known(catalogue: Catalogue) -> None:
    import json

    names: set[str] = set()
    with tarfile.open(RECORDS) as archive:
        for member in archive:
            if (file := archive.extractfile(member)) is not None:
                names |= {name for record in json.load(file) for name in record}
    assert len(names) == 517
    assert [name for name in sorted(names) if catalogue.canonical(name) is None] == []


def test_loading_imports_nothing_heavy() -> None:
    import subprocess

    code = (
        "import sys; from energy_data.catalogue.catalogue import Catalogue; Catalogue.load().find('tensorflow.add');"
        "print([m for m in ('tensorflow', 'keras', 'numpy', 'libcst', 'ast') if m in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


@pytest.mark.skipif(
    not version("keras").startswith("3.15."),
    reason="the catalogue is made from Keras 3.15, for Python 3.11 and up",
)
@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
def test_the_table_is_what_tensorflow_is(catalogue: Catalogue, tmp_path: Path) -> None:
    """Made anew from the installed TensorFlow, the table is the same; and aliases are the same objects."""
    spec = importlib.util.spec_from_file_location("build_catalogue", ROOT / "tools" / "build_catalogue.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_catalogue"] = module
    spec.loader.exec_module(module)
    builder = module.build()
    builder.write(tmp_path / "again.txt")
    shipped = (ROOT / "data" / "energy_data" / "catalogue" / "catalogue.txt").read_text(encoding="ascii")
    assert (tmp_path / "again.txt").read_text(encoding="ascii") == shipped

    unlike = []
    for key, paths in builder.paths.items():
        for path in {builder.canonical[key], *paths}:
            if catalogue.canonical(path) != builder.canonical[key]:
                unlike.append(path)
    assert unlike == []
    assert len(builder.paths) > 4_500


@pytest.mark.tensorflow
@pytest.mark.xdist_group("tensorflow")
def test_aliases_import_as_the_same_object(catalogue: Catalogue) -> None:
    import operator

    import keras
    import tensorflow as tf

    roots = {"tensorflow": tf, "keras": keras}

    def fetch(dotted: str) -> object:
        root, _, rest = dotted.partition(".")
        return operator.attrgetter(rest)(roots[root])

    for written in (
        "tensorflow.add",
        "tensorflow.reduce_sum",
        "tensorflow.keras.layers.Dense",
        "keras.models.Model",
        "tensorflow.nn.sigmoid",
        "tensorflow.keras.losses.MSE",
        "tensorflow.compat.v1.concat",
        "tensorflow.SparseTensor",
        "tensorflow.image.decode_image",
        "tensorflow.optimizers.Adam",
    ):
        name = catalogue.canonical(written)
        assert name is not None
        assert fetch(written) is fetch(name), (written, name)
