"""A workspace: imports between files, the index, text that an editor holds."""

from __future__ import annotations

import pytest

PACKAGE = {
    "pkg/__init__.py": "from .models import build, Net as Network\nfrom .extra import *\n",
    "pkg/models.py": """
        from tensorflow import keras
        from . import parts
        def build():
            model = keras.Sequential()
            model.add(parts.block())
            return model
        class Net(keras.Model):
            def helper(self): return self.predict(1)
        """,
    "pkg/parts.py": "from keras.layers import Dense\ndef block(): return Dense(1)\n",
    "pkg/extra.py": "import keras\nEXTRA = keras.layers.Dense(3)\n",
    "train.py": "def train(model, data):\n    model.fit(data)\n    return step(model)\ndef step(m): return m.evaluate()\n",
    "main.py": """
        import train
        from pkg import build, Network, EXTRA
        from pkg.models import *
        model = build()
        model.summary()
        train.train(model, 1)
        Network().compile()
        Net().helper()
        EXTRA.get_weights()
        """,
}


def apis(project, name):
    analysis = project.analyse(project.root / name)
    assert analysis is not None
    return [call.api for call in analysis.calls()]


def test_an_edit_in_one_file_changes_the_answer_in_another(make_project):
    project = make_project(PACKAGE)
    assert "keras.Sequential.summary" in apis(project, "main.py")
    path = project.root / "pkg/models.py"
    text = path.read_text(encoding="utf-8")
    project.open(path, text.replace("keras.Sequential()", "keras.Model()"))
    assert "keras.Model.summary" in apis(project, "main.py")
    project.close(path)
    assert "keras.Sequential.summary" in apis(project, "main.py")


def test_a_second_start_reads_only_what_changed(make_project, tmp_path):
    project = make_project(PACKAGE)
    seen: list[tuple[int, int]] = []
    index = project.index(progress=lambda done, total: seen.append((done, total)))
    assert index.read == len(PACKAGE)
    assert seen[-1] == (len(PACKAGE), len(PACKAGE))
    (project.root / "train.py").write_text("import keras\n# changed\n", encoding="utf-8")
    again = make_project({"pkg/parts.py": PACKAGE["pkg/parts.py"]})
    index = again.index()
    assert index.read <= 2  # the changed file, and one that was written again with the same content
    assert index.entries["train.py"].imports == ("keras",)
    assert index.entries["main.py"].imports[0] == "train"


@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": 99}', b'{"format": 1, "files": {"a": 3}}'])
def test_a_damaged_index_is_made_again(make_project, tmp_path, damage):
    (tmp_path / "index.json").write_bytes(damage)
    assert make_project(PACKAGE).index().read == len(PACKAGE)


def test_folders_without_code_of_the_project_are_left_out(make_project):
    project = make_project(
        {
            "a.py": "",
            ".git/b.py": "",
            ".hidden/c.py": "",
            "node_modules/d.py": "",
            "__pycache__/e.py": "",
            "my_env/pyvenv.cfg": "",
            "my_env/f.py": "",
            ".ipynb_checkpoints/g.ipynb": "",
            "sub/h.ipynb": "",
        }
    )
    assert [path.relative_to(project.root).as_posix() for path in project.files()] == ["a.py", "sub/h.ipynb"]


def test_a_file_that_disappears(make_project):
    project = make_project(
        {"a.py": "import keras\nfrom b import f\nf()\nkeras.Sequential()\n", "b.py": "def f(): ...\n"}
    )
    project.index()
    (project.root / "b.py").unlink()
    assert apis(project, "a.py") == ["keras.Sequential"]
    assert project.analyse(project.root / "b.py") is None


REGISTRY = {
    "nets/__init__.py": "from . import dense\nfrom .registry import NETS\n",
    "nets/registry.py": """
        NETS = {}
        def register(name):
            def add(build):
                NETS[name] = build
                return build
            return add
        """,
    "nets/dense.py": """
        import keras
        from .registry import register
        @register("dense")
        def build(): return keras.Sequential()
        """,
    "main.py": "from nets import NETS\nNETS['dense']().summary()\n",
}


@pytest.mark.parametrize("gone", [b'@register("dense")', b"from .registry import register", b"import keras"])
def test_a_registry_follows_edits_of_modules_that_are_only_imported(make_project, gone):
    project = make_project(REGISTRY)
    path = project.root / "nets" / "dense.py"
    source = path.read_bytes()
    for text, found in ((source, True), (source.replace(gone, b""), False), (source, True)):
        path.write_bytes(text)
        project.document(path).replace(text)
        project.index()
        assert apis(project, "main.py") == ["keras.Sequential.summary"] * found


OBJECT_REGISTRY = {
    "nets/__init__.py": "from . import dense\nfrom .registry import nets\n",
    "nets/registry.py": """
        class Registry:
            def __init__(self):
                self._entries = {}
            def add(self, name):
                def keep(build):
                    self._entries[name] = build
                    return build
                return keep
            def get(self, name):
                return self._entries[name]
        nets = Registry()
        """,
    "nets/dense.py": """
        import keras
        from .registry import nets
        @nets.add("dense")
        def build(): return keras.Sequential()
        """,
    "main.py": "from nets import nets\nnets.get('dense')().summary()\n",
}


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        ("nets/dense.py", "keras.Sequential()", "keras.Model()", ["keras.Model.summary"]),
        ("nets/dense.py", '@nets.add("dense")', "", []),
        ("nets/registry.py", "self._entries = {}", "pass", []),
        ("nets/registry.py", "class Registry:\n", "class Registry:\nclass Registry:\n", None),
    ],
)
def test_what_an_edit_leaves_of_a_registry(make_project, name, old, new, found):
    project = make_project(OBJECT_REGISTRY)
    project.index()
    before = apis(project, "main.py")
    path = project.root / name
    source = path.read_text(encoding="utf-8")
    assert old in source
    for text, expected in ((source.replace(old, new), before if found is None else found), (source, before)):
        path.write_text(text, encoding="utf-8")
        project.document(path).replace(text)
        project.index()
        assert apis(project, "main.py") == expected


def test_an_edit_of_a_registry_that_is_looked_at_first_reaches_who_uses_it(make_project):
    dense = (
        REGISTRY["nets/dense.py"]
        + """
        @register("large")
        def large(): return keras.Model()
        """
    )
    main = """
        from nets import NETS
        def build():
            for name in ("dense", "large"):
                NETS[name]().build((None, 2))
        """
    project = make_project({**REGISTRY, "nets/dense.py": dense, "main.py": main, "run.py": "import main\n"})
    project.index()
    assert apis(project, "main.py") == ["keras.Sequential.build"]
    path = project.root / "nets/dense.py"
    project.open(path, path.read_text(encoding="utf-8").replace('"dense"', '"thin"'))
    assert "keras.Sequential" in apis(project, "nets/dense.py")
    assert apis(project, "main.py") == ["keras.Model.build"]
