"""What rules and hints ask of an analysis: about nodes, names, functions, comments."""

from __future__ import annotations

from energy_code.analysis.analysis import Analysis
from energy_code.workspace.document import Document

SOURCE = """import tensorflow as tf
from tensorflow.keras.layers import Dense
import keras as k
class Net(k.Model):
    def call(self, x):
        def inner(): return 1
        return tf.abs(x)  # energy: ignore[a-rule, other]
net = Net()
y = tf.ones(3) + 1  # energy: ignore
z = (y)
ds = tf.data.Dataset.range(3)
"""


def node_at(analysis: Analysis, text: str, occurrence: int = 0):
    start = -1
    for _ in range(occurrence + 1):
        start = analysis.source.index(text.encode(), start + 1)
    node = analysis.tree().root_node.descendant_for_byte_range(start, start + len(text.encode()))
    assert node is not None
    return node


def test_calls_apis_and_types_of_nodes():
    analysis = Document(SOURCE).analyse()
    call = analysis.call_of(node_at(analysis, "tf.abs(x)"))
    assert call is not None
    assert call.function == "Net.call"
    assert analysis.api_of(node_at(analysis, "tf.abs(x)")) == "tensorflow.math.abs"
    assert analysis.api_of(node_at(analysis, "tf.abs")) == "tensorflow.math.abs"
    assert analysis.api_of(node_at(analysis, "tf.data")) == "tensorflow.data"
    assert analysis.api_of(node_at(analysis, "net")) is None
    argument = node_at(analysis, "(x)").named_children[0]
    assert analysis.type_of(argument) == "tensorflow.Tensor"
    assert analysis.type_of(node_at(analysis, "tf.ones(3) + 1")) == "tensorflow.Tensor"
    assert analysis.type_of(node_at(analysis, "(y)")) == "tensorflow.Tensor"
    assert analysis.type_of(node_at(analysis, "tf.data.Dataset.range(3)")) == "tensorflow.data.Dataset"
    assert analysis.type_of(node_at(analysis, "Net()")) == "keras.Model"
    assert analysis.call_of(node_at(analysis, "Net()")) is None


def test_the_mode_at_a_node():
    analysis = Document(SOURCE).analyse()
    assert analysis.mode_at(node_at(analysis, "tf.abs(x)")) == "graph"
    assert analysis.mode_at(node_at(analysis, "tf.ones(3)")) == "eager"


def test_how_the_file_would_write_a_name():
    analysis = Document(SOURCE).analyse()
    assert analysis.spelling("tensorflow.math.square") == "tf.square"
    assert analysis.spelling("tensorflow.linalg.matvec") == "tf.linalg.matvec"
    assert analysis.spelling("keras.layers.Dense") == "Dense"
    assert analysis.spelling("keras.layers.Conv2D") == "k.layers.Conv2D"
    assert Document("import tensorflow as tf\n").analyse().spelling("keras.Model") == "tf.keras.Model"
    assert Document("import numpy\n").analyse().spelling("tensorflow.ones") is None


def test_functions_and_ignored_rows():
    analysis = Document(SOURCE).analyse()
    assert [(f.name, f.kind, f.span.start.row) for f in analysis.functions()] == [
        ("Net", "class", 3),
        ("Net.call", "function", 4),
        ("Net.call.inner", "function", 5),
    ]
    assert analysis.ignores() == {6: frozenset(["a-rule", "other"]), 8: frozenset(["*"])}


def test_neither_tensorflow_nor_libcst_is_imported():
    import subprocess
    import sys

    program = (
        "import sys\nfrom energy_code.workspace.project import Project\nfrom energy_code.workspace.document import Document\n"
        "assert Document('import tensorflow as tf; tf.ones(1)').analyse().calls()\n"
        "print([name for name in ('tensorflow', 'keras', 'libcst', 'numpy') if name in sys.modules])\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_arguments_as_written():
    source = "import keras\nkeras.layers.Dense(8 * 2, *a, use_bias = False, **{'b': 1})\n"
    (call,) = Document(source).analyse().calls()
    assert [(argument.keyword, argument.text) for argument in call.arguments] == [
        (None, "8 * 2"),
        ("*", "a"),
        ("use_bias", "False"),
        ("**", "{'b': 1}"),
    ]
    assert call.arguments[0].span.start == (1, 19)
