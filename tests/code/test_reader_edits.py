"""After any edit the answer is the one a fresh reading gives, and what the edit cannot change is kept."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from energy_code.incremental.summaries import Summaries
from energy_code.lowering import definitions
from energy_code.model import Call
from energy_code.text.decoding import parseable
from energy_code.text.lines import Lines
from energy_code.workspace.document import Document
from keras_source import keras_source

PROGRAM = b"""import tensorflow as tf
from tensorflow import keras
UNITS = 4
def build(n):
    model = keras.Sequential([keras.layers.Dense(n)])
    return model
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(UNITS)
    def call(self, x):
        return helper(self.dense(x))
def helper(x):
    return tf.nn.relu(x)
model = build(UNITS)
for _ in range(UNITS):
    model.fit(tf.ones(3), epochs=2)
net = Net()
net(tf.zeros(1)).numpy()
"""


def same_as_fresh(document: Document) -> None:
    fresh = Document(document.source)
    assert list(document.analyse().calls()) == list(fresh.analyse().calls())


def edited_and_back(text: bytes, old: bytes, new: bytes) -> tuple[list[Call], list[Call]]:
    """The calls before and after an edit, which are those of a fresh reading; taken back, it leaves no trace."""
    document = Document(text)
    before = list(document.analyse().calls())
    place = text.index(old)
    document.edit(place, place + len(old), new)
    after = list(document.analyse().calls())
    same_as_fresh(document)
    document.edit(place, place + len(new), old)
    assert list(document.analyse().calls()) == before
    return before, after


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 700), st.integers(0, 12), st.sampled_from(
    [b"", b"x", b"\n", b"(", b")", b"tf.abs(1)", b"    ", b"model = build(3)\n", b"\"", b"#", b"keras.Model"]
)), min_size=1, max_size=6))  # fmt: skip
def test_edits_give_what_a_fresh_reading_gives(edits):
    document = Document(PROGRAM)
    for start, length, replacement in edits:
        start = min(start, len(document.source))
        document.edit(start, start + length, replacement)
        same_as_fresh(document)


WORDS = """# Größe, 大きさ, 😀
import tensorflow as tf
größe = tf.ones(3)
def 层(é, text="naïve 😀"):
    return tf.abs(é), f"{tf.shape(é)} € {text}"
print("ü", größe.numpy(), 层(größe)[0].numpy())  # ß
"""


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 230), st.integers(0, 5), st.sampled_from(
    ["", "x", "é", "😀", "\n", "(", '"', "#", "tf.abs(1)", "größe", "\u2028"]
)), min_size=1, max_size=5))  # fmt: skip
def test_edits_between_characters_of_any_width(edits):
    document, text = Document(WORDS), WORDS
    for start, length, replacement in edits:
        place = len(text[:start].encode())
        document.edit(place, place + len(text[start : start + length].encode()), replacement.encode())
        text = text[:start] + replacement + text[start + length :]
        assert document.source == text.encode()
        same_as_fresh(document)


def test_lines_are_counted_anew_only_around_an_edit():
    generator, text = random.Random(2), b"a\nbb\r\n\n\r\nc"
    lines = Lines(text)
    for _ in range(500):
        start = generator.randrange(len(text) + 1)
        end = min(len(text), start + generator.choice([0, 0, 1, 3]))
        inserted = generator.choice([b"", b"x", b"\n", b"y\n", b"\r\n", b"\n\n"])
        text = parseable(text[:start] + inserted + text[end:])
        lines = lines.edited(text, start, end)
        assert lines.starts == Lines(text).starts


def test_typing_a_program_letter_by_letter():
    document = Document(b"")
    for place in range(len(PROGRAM)):
        document.edit(place, place, PROGRAM[place : place + 1])
        if random.Random(place).random() < 0.06:
            same_as_fresh(document)
    same_as_fresh(document)


def test_a_changed_constant_reaches_what_reads_it():
    document = Document(PROGRAM)
    place = PROGRAM.index(b"UNITS = 4") + 8
    document.edit(place, place + 1, b"7")
    fit = next(call for call in document.analyse().calls() if call.api.endswith("fit"))
    assert fit.runs == (7, False, 2)


def test_only_the_edited_function_is_lowered_again(monkeypatch):
    document = Document(PROGRAM)
    assert len(document.analyse().calls()) == 11
    lowered: list[str] = []
    original = definitions.lower_function

    def noted(lowering, node, name, length):
        lowered.append(name)
        return original(lowering, node, name, length)

    monkeypatch.setattr(definitions, "lower_function", noted)
    place = PROGRAM.index(b"self.dense(x)")
    document.edit(place, place, b" ")
    assert len(document.analyse().calls()) == 11
    assert lowered == ["call"]


SELF_REFERRING = b"""import tensorflow as tf
from tensorflow import keras
class History(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.losses = []
    def on_batch_end(self, batch, logs=None):
        self.losses.append(tf.constant(logs))
class Lazy:
    def model(self):
        if self.kept is None:
            self.kept = keras.Sequential()
        self.kept.summary()
        return self.kept
def depth(value):
    return depth(value[0]) + 1 if isinstance(value, list) else tf.rank(value)
Lazy().model().predict(depth([1]))
def other():
    return tf.ones(3)
def user():
    return other()
"""


def test_what_leads_back_to_itself_is_not_evaluated_again_after_an_edit_elsewhere(monkeypatch):
    document = Document(SELF_REFERRING)
    list(document.analyse().calls())
    evaluated: list[str] = []
    original = Summaries.evaluate

    def noted(self, function, given, old):
        evaluated.append(function.code.name)
        return original(self, function, given, old)

    monkeypatch.setattr(Summaries, "evaluate", noted)
    place = SELF_REFERRING.index(b"tf.ones(3)")
    document.edit(place, place + 10, b"tf.zeros(3)")
    assert "tensorflow.zeros" in [call.api for call in document.analyse().calls()]
    assert sorted(evaluated) == ["other", "user"]
    same_as_fresh(document)


def test_an_analysis_is_a_snapshot():
    document = Document(PROGRAM)
    before = document.analyse()
    texts = [before.source[c.span.start_byte : c.span.end_byte] for c in before.calls()]
    document.edit(0, 0, b"\n\n\n")
    after = document.analyse()
    assert [before.source[c.span.start_byte : c.span.end_byte] for c in before.calls()] == texts
    assert before.tree().root_node.end_byte == len(PROGRAM)
    assert after.calls()[0].span.start.row == before.calls()[0].span.start.row + 3


def test_replacing_the_text_keeps_what_is_the_same():
    document = Document(PROGRAM)
    document.replace(PROGRAM.replace(b"range(UNITS)", "range(len('é'))".encode()))
    same_as_fresh(document)


TRAINED = b"""import tensorflow as tf
from tensorflow import keras
class Net(keras.Model):
    def train_step(self, data):
        self.optimizer.apply_gradients([])
class Gan(keras.Model):
    def compile(self, d_optimizer):
        super().compile()
        self.d_optimizer = d_optimizer
    def train_step(self, data):
        self.d_optimizer.apply_gradients([])
class Window:
    def dataset(self):
        return tf.data.Dataset.from_tensors((1, 2))
    @property
    def example(self):
        result = getattr(self, "_example", None)
        if result is None:
            result = next(iter(self.dataset()))
            self._example = result
        return result
first, second = Window().example
first.numpy()
val = None
def set_val():
    global val
    val = tf.constant(3)
set_val()
def use_val():
    return val.numpy()
net = Net()
net.compile(optimizer=keras.optimizers.Adam())
gan = Gan()
gan.compile(d_optimizer=keras.optimizers.SGD())
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"net.compile(optimizer=keras.optimizers.Adam())\n", b""),
        (b"optimizers.Adam()", b"optimizers.SGD()"),
        (b"gan.compile(d_optimizer=keras.optimizers.SGD())\n", b""),
        (b"optimizers.SGD()", b"optimizers.Adam()"),
        (b"next(iter(self.dataset()))", b"None"),
        (b"def dataset(self):", b"def others(self):"),
        (b"val = tf.constant(3)", b"val = open(3)"),
        (b"def set_val():\n    global val\n", b"def set_val():\n"),
    ],
)
def test_what_stands_further_down_is_taken_back_and_put_in_again(old, new):
    before, after = edited_and_back(TRAINED, old, new)
    assert {(c.span, c.api) for c in after} != {(c.span, c.api) for c in before}


def test_a_model_trains_with_the_optimizer_it_is_compiled_with_below():
    steps = [call.api for call in Document(TRAINED).analyse().calls() if call.api.endswith("apply_gradients")]
    assert steps == ["keras.optimizers.Adam.apply_gradients", "keras.optimizers.SGD.apply_gradients"]


@pytest.mark.parametrize(
    "lost",
    [
        [b")\nstep = "],
        [b"):\n    return ACTIVATIONS", b")\nOPTIMIZERS"],
    ],
)
def test_a_lost_bracket_makes_something_else_of_the_statements_behind_it(lost):
    """`step = f(x)` turns into an argument of the call that is no longer closed, and back."""
    program = (Path(__file__).parent / "corpus" / "factory_functions.py").read_bytes()
    document = Document(program)
    before = list(document.analyse().calls())
    for bracket in lost:
        place = program.index(bracket)
        document.edit(place, place + 1, b"")
        same_as_fresh(document)
        document.edit(place, place, b")")
        assert list(document.analyse().calls()) == before


OPERATIONS = b"""import tensorflow as tf
OPS = {"a": tf.abs, "b": tf.sign, "c": tf.exp, "d": tf.sqrt, "e": tf.round, "f": tf.square, "g": tf.ones, "h": tf.rank}
def pick(name):
    return OPS[name]
"""


@pytest.mark.parametrize("user", ['pick("{1}")(1)\n', 'def {0}():\n    return pick("{1}")(1)\n'])
def test_more_ways_of_calling_a_function_than_are_told_apart(user):
    """Those that an edit takes away make room for others, whatever was there before."""
    document = Document(OPERATIONS)
    states = "cghfaCbd cghfabd abcdef abgdef abgdefh ahgdefb gdefhb gh ghabcdef habcdefg hacdefg"
    for names in states.split():
        users = [user.format(name, name.lower()) for name in names]
        document.replace(OPERATIONS + "".join(users).encode())
        same_as_fresh(document)


CHAIN = b"""import tensorflow as tf
START = tf.zeros(1)
def more(chain):
    return chain.x + 1
class Base:
    def __init__(self):
        self.x = START
class Chain(Base):
    def add(self, v):
        self.x = self.x + v
        return self
    def double(self):
        self.x = self.twice
        return self
    def grow(self):
        self.x = more(self)
        return self
    @property
    def twice(self):
        return self.x * 2
    def put(self, v):
        self.y = v
        return self
    def shift(self):
        self.y = self.y + 1
        return self.y
print(Chain().add(1.0).double().add(2.0).grow().x.numpy())
print(Chain().put(tf.ones(1)).shift().numpy())
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"    def __init__(self):\n        self.x = START\n", b"    pass\n"),
        (b"self.x = START", b"self.x = None"),
        (b"self.x = START", b"self.z = START"),
        (b"START = tf.zeros(1)", b"START = None"),
        (b"Chain(Base)", b"Chain"),
        (b"        self.y = v\n", b""),
        (b"put(tf.ones(1))", b"put(None)"),
    ],
)
def test_a_method_that_goes_on_from_what_it_set_does_not_vouch_for_itself(old, new):
    """`self.x = self.x + v` gives a tensor only for as long as something else makes `x` one."""
    _, after = edited_and_back(CHAIN, old, new)
    assert [call.api for call in after].count("tensorflow.Tensor.numpy") == 1


def test_a_method_and_how_it_is_called_change_at_once():
    document = Document(CHAIN)
    assert document.analyse().calls()
    document.replace(CHAIN.replace(b"self.y = v", b"self.y  =  v").replace(b"put(tf.ones(1))", b"put(None)"))
    same_as_fresh(document)


def test_a_program_whose_only_start_is_deleted():
    program = (Path(__file__).parent / "corpus" / "plumbing.py").read_bytes()
    document = Document(program)
    assert document.analyse().calls()
    line = b"    def __init__(self): self.x = tf.zeros(1)\n"
    place = program.index(line)
    document.edit(place, place + len(line), b"")
    same_as_fresh(document)


@pytest.mark.parametrize("new", [b"", b"from keras.losses import *\n", b"from keras import layers\n"])
def test_a_star_import_that_goes(new):
    """Functions that looked at names it brought are read anew, though no name of the module itself has changed."""
    text = b"""import keras
from keras.layers import *
class Block(keras.layers.Layer):
    def build(self, shape):
        self.dense = Dense(shape[-1])
def top(x):
    return Dense(2)(x)
top(keras.Input((3,)))
"""
    _, after = edited_and_back(text, b"from keras.layers import *\n", new)
    assert "keras.layers.Dense" not in [call.api for call in after]


TOTAL = b"""import tensorflow as tf
START = tf.zeros(1)
total = None
def start():
    global total
    total = START
def add(v):
    global total
    total = total + v
def show():
    total.numpy()
start(); add(1); show()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"total = START", b"total = open(1)"),
        (b"START = tf.zeros(1)", b"START = None"),
        (b"def start():\n    global total\n    total = START\n", b""),
        (b"    global total\n    total = START\n", b"    total = START\n"),
    ],
)
def test_a_global_that_goes_on_from_itself_does_not_vouch_for_itself(old, new):
    """`total = total + v` gives a tensor only for as long as some other function makes `total` one."""
    _, after = edited_and_back(TOTAL, old, new)
    assert "tensorflow.Tensor.numpy" not in [call.api for call in after]


NETS = b"""import keras
ROWS = 1
COLUMNS = 2
class Net(keras.Model):
    pass
class Other(Net):
    pass
def use(model: Other, x):
    return model.predict(x)
"""
OTHER = b"class Other(Net):\n    pass\n"


def test_a_class_written_twice_is_the_later_one():
    """The later statement is not run again, as its text and what it reads stay the same; it counts all the same."""
    before, after = edited_and_back(NETS, b"ROWS = 1\n", OTHER)
    assert [call.api for call in after] == [call.api for call in before] == ["keras.Model.predict"]


def test_a_class_written_twice_whose_later_one_goes():
    text = NETS.replace(b"ROWS = 1\n", OTHER)
    _, after = edited_and_back(text, OTHER + b"def", b"def")
    assert after == []


def test_what_stands_between_two_classes_of_a_name_sees_the_first():
    text = NETS.replace(b"def use", b"Other().predict(1)\nclass Other:\n    pass\ndef use")
    _, after = edited_and_back(text, b"predict(1)", b"fit(1)")
    assert [call.api for call in after] == ["keras.Model.fit"]


SHADOWED = b"""import keras
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.head = keras.layers.Dense(1)
    def call(self, x):
        return self.head(x)
ROWS = 1
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.tail = keras.layers.Flatten()
    def call(self, x):
        return self.tail(x)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"ROWS = 1\n", b"class Net(Net):\n    def more(self): return self.head(1)\n"),
        (b"class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n        self.tail", b"self.tail"),
        (b"ROWS = 1\n", b"class Net:\n    head = None\n"),
        (b"Net", b"Other"),
    ],
)  # fmt: skip
def test_methods_of_a_class_whose_name_another_one_takes(old, new):
    """Each sees what its own class sets: in notebooks and guides a class is written again and again."""
    before, after = edited_and_back(SHADOWED, old, new)
    calls = ["keras.layers.Dense.__call__", "keras.layers.Flatten.__call__"]
    assert [call.api for call in before if call.api.endswith("__call__")] == calls
    assert calls[0] in [call.api for call in after]


def test_a_call_that_moves_to_where_a_class_is_not_there_yet():
    """What an evaluation saw of a global in the middle of a run is not what the global is at the end of all runs."""
    text = NETS.replace(b"class Net", b"def later():\n    for x in [1]:\n        use(x)\nclass Net")
    text = text.replace(b"def use(model: Other, x):\n    return model.predict(x)\n", b"")
    text = text.replace(b"ROWS = 1\n", b"def use(model: Other):\n    return model.predict(1)\nROWS = 1\n")
    before, after = edited_and_back(text, b"        use(x)\n", b"        pass\nuse(x)\n")
    assert (before, [call.api for call in after]) == ([], ["keras.Model.predict"])


LONG = b"import tensorflow as tf\n" + b"a = 1\n" * 60
"""So long that what is edited is read by itself."""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"ones", b"ones\\"),
        (b"ones", b"ones \\\n"),
        (b"ones", b"ones\n\\"),
        (b"ones", b"ones("),
        (b"ones", b"ones\n@"),
        (b"def g(): tf.eye(2)", b"def g():"),
        (b"def g(): tf.eye(2)", b"async"),
        (b"def g(): tf.eye(2)", b"if f:"),
    ],
)
def test_a_statement_that_goes_on_in_the_next_one(old, new):
    edited_and_back(
        LONG + b"f = tf.ones\n(tf.zeros)(3)\ndef g(): tf.eye(2)\ndef h(): f(3)\nh()\n" + LONG, old, new
    )


def test_a_line_that_goes_on_joins_the_statement_below():
    before, after = edited_and_back(LONG + b"f = tf.ones\n(3)\n" + LONG, b"ones", b"ones\\")
    assert [call.api for call in before] == []
    assert [call.api for call in after] == ["tensorflow.ones"]


@pytest.mark.parametrize("old", [b"from tensorflow.keras import layers\n", b"layers.", b"Dense"])
def test_what_a_constructor_reads_goes(old):
    text = b"""import tensorflow as tf
from tensorflow.keras import layers
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(4)
    def call(self, x):
        return self.dense(x)
net = Net()
"""
    before, after = edited_and_back(text, old, b"")
    assert "keras.layers.Dense.__call__" in {call.api for call in before} - {call.api for call in after}


def test_a_field_that_is_gone_is_no_longer_a_parameter():
    text = b"""import keras
from dataclasses import dataclass
@dataclass
class Pair:
    first: object
    second: object
Pair(keras.layers.Dense(1)).second
Pair(keras.layers.Dense(1)).first.count_params()
"""
    before, after = edited_and_back(text, b"    first: object\n", b"")
    assert "keras.layers.Dense.count_params" not in [call.api for call in after]
    assert "keras.layers.Dense.count_params" in [call.api for call in before]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        pytest.param(
            b"NamedTuple\n",
            b"Protocol as NamedTuple\n",
            b"""from typing import NamedTuple
from tensorflow import keras
class Bundle(NamedTuple):
    model: keras.Model
    rate: float
def build() -> Bundle: ...
def run(x):
    model, rate = build()
    return model(x)
""",
            id="what a tuple of the program holds by its bases",
        ),
        pytest.param(
            b"UserDict)",
            b"Other)",
            b"""from collections import UserDict
from tensorflow import keras
class Registry(UserDict):
    def build(self, name):
        return self.data[name]()
    def add(self, name, made):
        self[name] = made
LAYERS = Registry()
LAYERS.add("dense", keras.layers.Dense)
LAYERS.build("dense")
""",
            id="what a dictionary of the program holds by its bases",
        ),
        pytest.param(
            b"labels = unknown()\n",
            b"print(1)\n",
            b"""import tensorflow as tf
labels = unknown()
if labels is None:
    labels = tf.stack([1, 2])
labels.set_shape([2])
""",
            id="whether a name was bound before a branch",
        ),
        pytest.param(
            b"print(2)\n",
            b"\n",
            b"""import tensorflow as tf
def outer():
    def inner():
        return value
    return inner
inner = outer()
loss = inner()
print(loss.numpy())
print(2)
value = tf.ones(3)
""",
            id="a global that is bound only after a function has read it",
        ),
    ],
)
def test_what_an_evaluation_rested_on_is_asked_again(text: bytes, old: bytes, new: bytes) -> None:
    edited_and_back(text, old, new)


LAYERS_OF_KERAS = [
    ("layers/core/einsum_dense.py", b"    def ", b"match x:\n"),
    ("models/cloning.py", b"    new_layers = ", b"\x0c"),
    ("models/cloning.py", b"def _clone_functional_model", b"match x:\n"),
    ("models/functional.py", b"from keras.src.ops.operation import Operation", b"#"),
    ("layers/convolutional/base_conv.py", b"        for i, variable in enumerate", b"\\\n"),
    ("models/sequential.py", b"    def call", b"elif y:\n"),
]
"""Files with recursive functions, with functions that fill what others go on with, and with many ways of calling."""


@pytest.mark.parametrize(("file", "before", "inserted"), LAYERS_OF_KERAS)
def test_edits_of_keras_itself_give_what_a_fresh_reading_gives(
    file: str, before: bytes, inserted: bytes
) -> None:
    source = keras_source(file)
    document = Document(source)
    calls = list(document.analyse().calls())
    place = max(source.find(before), 0)
    document.edit(place, place, inserted)
    same_as_fresh(document)
    document.edit(place, place + len(inserted), b"")
    assert list(document.analyse().calls()) == calls


def test_what_a_function_fills_around_it_is_found_anew() -> None:
    text = b"""import tensorflow as tf
from tensorflow import keras
def build():
    made = {}
    def add(name):
        made[name] = MAKER(4)
    for name in names:
        add(name)
    for name in names:
        made[name](tf.ones(3))
MAKER = keras.layers.Dense
"""
    _, after = edited_and_back(text, b"keras.layers.Dense", b"unknown")
    assert [call.api for call in after] == ["tensorflow.ones"]


@pytest.mark.parametrize("margin", [b"\\\n", b"    \\\n", b"\\\n\\\n"])
def test_a_line_that_begins_with_a_backslash_is_as_far_indented_as_what_follows(margin: bytes) -> None:
    text = b"import tensorflow as tf\nclass A:\n    def f(self):\n        tf.ones(1)\n        tf.ones(2)\n"
    document = Document(text + b"x = tf.ones(3)\n")
    assert len(document.analyse().calls()) == 3
    place = text.rindex(b"        tf")
    document.edit(place, place, margin)
    same_as_fresh(document)
