"""The engine: which places are looked at, what silences a rule, how a fix is written into the file."""

from __future__ import annotations

import logging

import pytest

from energy_code import rules
from energy_code.rule_engine.edits.apply import apply_edits, compatible
from energy_code.rule_engine.file_context import FileContext, occurrences
from energy_code.rule_engine.patterns.pattern import compile_pattern
from energy_code.rule_engine.rule import EVERYWHERE, Change, Rule
from energy_code.workspace.document import Document
from energy_code.workspace.project import Project


def found(source, *names):
    chosen = [rules.ALL[name] for name in names] if names else None
    return rules.find(Document(source).analyse(), chosen)


def fixed(source, *names):
    return apply_edits(source, compatible(found(source, *names)))


def test_there_are_enough_rules_and_fixes_in_every_category():
    saving = [rule for rule in rules.ALL.values() if rule.saves]
    assert len(saving) >= 45
    assert sum(rule.has_fix for rule in saving) >= 25
    assert {rule.category for rule in saving} == {
        "memory",
        "arithmetic",
        "dispatch",
        "pipeline",
        "keras",
        "image",
    }


@pytest.mark.parametrize("name", sorted(rules.ALL))
def test_a_rule_is_complete(name):
    rule = rules.ALL[name]
    assert rule.title
    assert len(rule.page.splitlines()) > 2, "the docstring says why"
    assert rule.message
    assert rule.message[0] != rule.message[0].upper() or rule.message[0] in "`XT", rule.message
    if rule.saves:
        assert rule.examples or rule.reports
        assert rule.leave_alone
        assert bool(rule.examples) == (rule.safety != "none")


def test_advice_that_does_not_save_is_never_reported():
    assert found("import tensorflow as tf\ny = tf.norm(x)\nz = tf.nn.silu(x)\n") == []


def test_a_comment_silences_one_rule_on_its_line():
    source = "import tensorflow as tf\ny = tf.pow(x, 2)  # energy: ignore[pow2]\nz = tf.pow(x, 2)\n"
    assert [finding.span.start.row for finding in found(source)] == [2]


def test_a_comment_without_a_name_silences_all_rules():
    assert found("import tensorflow as tf\ny = tf.pow(x, 2)  # energy: ignore\n") == []


def test_only_the_rules_that_are_asked_for_run():
    source = "import tensorflow as tf\ny = tf.pow(x, 2) + 1 / tf.sqrt(x)\n"
    assert [finding.rule.name for finding in found(source, "rsqrt")] == ["rsqrt"]


class Broken(Rule):
    """A rule that fails.

    Always.
    """

    message = "never seen"
    category = "memory"
    modes = EVERYWHERE
    changes = (Change("tf.pow($x, 2)", "tf.square($x)"),)

    def where(self, place):
        raise RuntimeError("on purpose")


def test_a_rule_that_fails_is_switched_off_with_one_line_and_the_others_go_on(caplog):
    source = "import tensorflow as tf\na = tf.pow(x, 2)\nb = tf.pow(x, 2)\nc = 1 / tf.sqrt(x)\n"
    with caplog.at_level(logging.WARNING):
        findings = rules.find(Document(source).analyse(), [Broken(), rules.ALL["rsqrt"]])
    assert [finding.rule.name for finding in findings] == ["rsqrt"]
    assert len(caplog.records) == 1
    assert "RuntimeError: on purpose" in caplog.records[0].getMessage()


@pytest.mark.parametrize(
    ("imports", "before", "after"),
    [
        ("import tensorflow as tf", "tf.pow(x, 2)", "tf.square(x)"),
        ("import tensorflow", "tensorflow.pow(x, 2)", "tensorflow.square(x)"),
        ("import tensorflow as flow", "flow.math.pow(x, 2)", "flow.square(x)"),
        ("from tensorflow import pow, square", "pow(x, 2)", "square(x)"),
        ("import tensorflow.compat.v2 as tf", "tf.pow(x, 2)", "tf.square(x)"),
        ("import tensorflow.keras.backend as K", "K.pow(x, 2)", "K.square(x)"),
        ("from keras import backend as K", "K.pow(x, 2)", "K.square(x)"),
    ],
)
def test_names_follow_the_file(imports, before, after):
    assert fixed(f"{imports}\ny = {before}\n", "pow2") == f"{imports}\ny = {after}\n"


def test_a_missing_import_is_added_after_the_others():
    source = '"""Doc."""\n\nfrom tensorflow.math import pow\nimport os\n\ny = pow(x, 2)\n'
    expected = source.replace("import os\n", "import os\nimport tensorflow as tf\n")
    expected = expected.replace("pow(x, 2)", "tf.square(x)")
    assert fixed(source, "pow2") == expected


def test_an_import_does_not_take_a_name_that_is_in_use():
    source = "from tensorflow.math import pow\n\ntf = 3\ny = pow(x, 2)\n"
    assert "import tensorflow\n" in fixed(source, "pow2")
    assert "tensorflow.square(x)" in fixed(source, "pow2")


def test_parentheses_are_kept_where_precedence_asks_for_them():
    source = "import tensorflow as tf\ny = -tf.matmul(x, tf.linalg.diag(a + b)) ** 3\n"
    assert fixed(source, "diag-matmul").endswith("y = -(x * tf.expand_dims(a + b, -2)) ** 3\n")


def test_everything_outside_the_expression_stays_byte_for_byte():
    source = (
        "# ä comment\r\nimport tensorflow as tf\r\n\r\n"
        "def f( x ):\r\n\treturn  [tf.pow( x ,2 ) ,  'é'  ] # end\r\n"
    )
    assert fixed(source, "pow2") == source.replace("tf.pow( x ,2 )", "tf.square(x)")


def test_line_breaks_inside_a_captured_part_survive():
    source = "import tensorflow as tf\ny = tf.pow(\n    a +\n    b,\n    2,\n)\n"
    rewritten = fixed(source, "pow2")
    compile(rewritten, "rewritten", "exec")
    assert "a +\n    b" in rewritten


def test_a_comment_inside_the_expression_is_not_thrown_away():
    source = "import tensorflow as tf\ny = tf.pow(\n    x,  # why two\n    2,\n)\n"
    assert [finding.safety() for finding in found(source, "pow2")] == ["none"]


def test_operators_need_proof_that_they_work_on_tensors():
    assert found("import tensorflow as tf\ndef f(x):\n    return x ** 2\n", "pow2") == []
    assert len(found("import tensorflow as tf\ndef f(x: tf.Tensor):\n    return x ** 2\n", "pow2")) == 1


def test_a_safe_fix_is_for_review_where_operands_are_unknown():
    assert found("import tensorflow as tf\ny = tf.square(a - b)\n", "sqdiff")[0].safety() == "review"
    source = "import tensorflow as tf\na = tf.ones([3])\ny = tf.square(a - b)\n"
    assert found(source, "sqdiff")[0].safety() == "safe"


def test_positions_and_keywords_are_the_same():
    for call in (
        "tf.reduce_sum(tf.stack(l), 0)",
        "tf.reduce_sum(input_tensor=tf.stack(l), axis=0)",
        "tf.math.reduce_sum(tf.stack(values=l, axis=0), axis=0, keepdims=False)",
    ):
        assert fixed(f"import tensorflow as tf\ny = {call}\n", "stack-sum").endswith("y = tf.add_n(l)\n")


def test_further_arguments_keep_a_rule_silent():
    assert found("import tensorflow as tf\ny = tf.pow(x, 2, name='p')\n", "pow2") == []
    assert found("import tensorflow as tf\ny = tf.pow(*args)\n", "pow2") == []


def test_the_same_hole_twice_must_be_the_same_simple_expression():
    assert found("import tensorflow as tf\ny = tf.where(f() > 0, f(), 0.1 * f())\n", "leaky") == []


def test_eager_rules_are_silent_in_a_function_and_in_what_it_calls():
    source = (
        "import tensorflow as tf\n\n\ndef square(x):\n    return tf.pow(x, 2)\n\n\n"
        "@tf.function\ndef step(x):\n    return square(x)\n"
    )
    assert found(source, "pow2") == []


TRACED_IN_ANOTHER_FILE = {
    "a traced function calls it": "@tf.function\ndef step(x):\n    return area(x)\n",
    "it is given to tf.function": "traced = tf.function(area)\nprint(traced(2.0))\n",
    "it is given to a pipeline": "ds = tf.data.Dataset.range(3).map(area)\n",
    "a method of it is given to a pipeline": "ds = tf.data.Dataset.range(3).map(Shapes().area)\n",
}


@pytest.mark.parametrize("code", TRACED_IN_ANOTHER_FILE.values(), ids=TRACED_IN_ANOTHER_FILE)
def test_eager_rules_are_silent_where_another_file_of_the_project_traces(code, tmp_path):
    function = "def area(x):\n    return tf.pow(x, 2)\n"
    if "Shapes" in code:
        function = "class Shapes:\n    def area(self, x):\n        return tf.pow(x, 2)\n"
    (tmp_path / "shapes.py").write_text(f"import tensorflow as tf\n\n\n{function}")
    (tmp_path / "main.py").write_text(f"import tensorflow as tf\nfrom shapes import *\n\n\n{code}")
    project = Project(tmp_path)
    project.index()
    assert rules.find(project.analyse(tmp_path / "shapes.py"), [rules.ALL["pow2"]]) == []
    (tmp_path / "main.py").write_text("from shapes import *\n")
    alone = Project(tmp_path)
    alone.index()
    assert len(rules.find(alone.analyse(tmp_path / "shapes.py"), [rules.ALL["pow2"]])) == 1


def test_methods_that_keras_traces_count_as_traced():
    source = (
        "import tensorflow as tf\n\n\nclass Mine(tf.keras.losses.Loss):\n"
        "    def call(self, a, b):\n        return tf.pow(a, 2)\n"
    )
    assert found(source, "pow2") == []


TRACED_ELSEWHERE = {
    "a helper of a loss": (
        "def square(a):\n    return tf.pow(a, 2)\n\n\n"
        "class Mine(tf.keras.losses.Loss):\n    def call(self, a, b):\n        return square(a)\n"
    ),
    "a layer through a class of the program": (
        "class Base(tf.keras.layers.Layer):\n    pass\n\n\n"
        "class Mine(Base):\n    def helper(self, a):\n        return tf.pow(a, 2)\n"
    ),
    "a function inside a method": (
        "class Mine(tf.keras.Model):\n    def train_step(self, data):\n"
        "        def inner(a):\n            return tf.pow(a, 2)\n        return inner(data)\n"
    ),
    "what a library minimises": (
        "def closure():\n    return tf.reduce_sum(tf.pow(v, 2))\n\n\noptimizer.minimize(closure, [v])\n"
    ),
    "what a dataset maps": "def f(a):\n    return tf.pow(a, 2)\n\n\nds = tf.data.Dataset.range(9).map(f)\n",
    "a loss of a compiled model": (
        "def f(a, b):\n    return tf.pow(a - b, 2)\n\n\n"
        "model = tf.keras.Sequential()\nmodel.compile(loss=f)\n"
    ),
    "an object of Keras whose base is elsewhere": (
        "from somewhere import Base\n\n\nclass Mine(Base):\n    def helper(self, a):\n"
        "        return tf.pow(a, 2)\n\n    def get_config(self):\n        return {}\n"
    ),
    "a constructor": (
        "class Mine(tf.keras.layers.Layer):\n    def __init__(self, a):\n        self.a = tf.pow(a, 2)\n"
    ),
    "a function that is given away": (
        "def f(a):\n    return tf.pow(a, 2)\n\n\nframework.run(steps=[f], finish=f)\n"
    ),
    "a function that is made and returned": (
        "def make():\n    def f(a):\n        return tf.pow(a, 2)\n    return f\n"
    ),
    "Keras itself": "from keras.src import backend\n\n\ndef f(a):\n    return tf.pow(a, 2)\n",
}


@pytest.mark.parametrize("code", TRACED_ELSEWHERE.values(), ids=TRACED_ELSEWHERE)
def test_eager_rules_are_silent_in_functions_that_a_library_traces_or_runs_once(code):
    assert found(f"import tensorflow as tf\n{code}", "pow2") == []


def test_eager_rules_speak_where_a_helper_is_called_eagerly_as_well():
    source = TRACED_ELSEWHERE["a helper of a loss"] + "\n\ny = square(x)\n"
    assert len(found(f"import tensorflow as tf\n{source}", "pow2")) == 1


@pytest.mark.parametrize("name", ["KL", "log_prob", "lower_bound", "cost", "my_loss"])
def test_a_function_named_for_what_training_differentiates_is_left_alone_where_no_call_is_in_sight(name):
    function = f"import tensorflow as tf\ndef {name}(a, b):\n    return tf.square(a - b)\n"
    assert found(function, "sqdiff") == []
    assert found(f"{function}losses = [{name}]\n", "sqdiff") == []
    assert found(f"{function}print({name}(x, y))\nlosses = [{name}]\n", "sqdiff") == []


LOSS = "def loss(a, b):\n    return tf.square(a - b)\n"
UNDER_TAPE = {
    "called": "with tf.GradientTape() as t:\n    y = loss(x, z)\n",
    "called by a helper": (
        "def helper(x):\n    return loss(x, 0.0)\nwith tf.GradientTape() as t:\n    y = helper(x)\n"
    ),
    "called there and outside": "y = loss(x, z)\nwith tf.GradientTape() as t:\n    y = loss(x, z)\n",
}
OUTSIDE_TAPE = {
    "a report": "print(loss(x, z))\n",
    "an evaluation in a function": "def evaluate(x):\n    return loss(x, 0.0)\n\n\nprint(evaluate(x))\n",
    "a name at module level": "penalty = loss(x, z)\n",
}


@pytest.mark.parametrize("calls", UNDER_TAPE.values(), ids=UNDER_TAPE)
def test_calls_under_a_tape_silence_a_rule_that_gains_nothing_there(calls):
    for name in ("loss", "distance"):
        code = f"import tensorflow as tf\n{LOSS}{calls}".replace("loss", name)
        assert found(code, "sqdiff") == [], name


@pytest.mark.parametrize("calls", OUTSIDE_TAPE.values(), ids=OUTSIDE_TAPE)
def test_calls_in_sight_count_for_more_than_a_name(calls):
    assert len(found(f"import tensorflow as tf\n{LOSS}{calls}", "sqdiff")) == 1
    assert len(found("import tensorflow as tf\nloss = tf.square(a - b)\n", "sqdiff")) == 1


@pytest.mark.parametrize(("calls", "places"), [("", 0), ("print(area(x))\n", 1)])
def test_the_name_of_a_module_counts_only_where_no_call_is_in_sight(calls, places, tmp_path):
    source = f"import tensorflow as tf\ndef area(x):\n    return tf.pow(x, 2)\n{calls}"
    analysis = Document(source, path=tmp_path / "losses.py").analyse()
    assert len(rules.find(analysis, [rules.ALL["pow2"]])) == places


def test_a_call_from_another_file_counts_for_more_than_the_name_of_a_module(tmp_path):
    (tmp_path / "losses.py").write_text(
        "import tensorflow as tf\n\n\ndef area(x):\n    return tf.pow(x, 2)\n"
    )
    (tmp_path / "main.py").write_text("from losses import area\n\nprint(area(3.0))\n")
    project = Project(tmp_path)
    project.index()
    assert len(rules.find(project.analyse(tmp_path / "losses.py"), [rules.ALL["pow2"]])) == 1


@pytest.mark.parametrize(("caller", "places"), [("build", 0), ("call", 1)])
def test_a_method_runs_once_where_only_such_methods_call_it(caller, places):
    source = (
        "import tensorflow as tf\n\n\nclass Mine(tf.keras.layers.Layer):\n"
        "    def _scale(self, x):\n        return 1 / tf.sqrt(x)\n\n"
        f"    def {caller}(self, x):\n        return self._scale(x)\n"
    )
    assert len(found(source, "rsqrt")) == places


@pytest.mark.parametrize(
    ("calls", "places"),
    [
        ("", 0),
        ("    def build(self, x):\n        self._init_scale(x)\n", 0),
        ("    def call(self, x):\n        if not self.done:\n            self._init_scale(x)\n", 0),
        ("    def call(self, x):\n        return self._init_scale(x)\n", 1),
    ],
    ids=["no call", "a method that runs once", "on a condition", "at each call"],
)
def test_a_name_such_as_init_counts_unless_calls_say_otherwise(calls, places):
    source = (
        "import tensorflow as tf\n\n\nclass Mine(tf.keras.layers.Layer):\n"
        f"    def _init_scale(self, x):\n        return 1 / tf.sqrt(x)\n\n{calls}"
    )
    assert len(found(source, "rsqrt")) == places


@pytest.mark.parametrize(
    ("head", "file", "places"),
    [
        ("", "train.py", 1),
        ("", "test_rows.py", 0),
        ("", "rows_test.py", 0),
        ("import pytest\n", "rows.py", 0),
    ],
)
def test_a_function_named_test_is_a_test_where_tests_are_found(head, file, places, tmp_path):
    source = (
        f"{head}import keras\ndef test(model: keras.Model, x):\n    return model.predict(x, batch_size=1)\n"
    )
    analysis = Document(source, path=tmp_path / file).analyse()
    assert len(rules.find(analysis, [rules.ALL["predict-batch"]])) == places


COUNTED = (
    "import tensorflow as tf\ndef {name}(labels):\n    return tf.reduce_sum(tf.one_hot(labels, 10), axis=0)\n"
)
FILES = "ds = tf.data.TFRecordDataset(['a'])\n"


@pytest.mark.parametrize(
    ("calls", "places"),
    [
        ("{name} = tf.function({name})\n", 1),
        (FILES + "ds = ds.map({name})\n", 0),
        (FILES + "ds = ds.map(map_func={name})\n", 0),
        (FILES + "ds = ds.map(lambda x: {name}(x))\n", 0),
        (FILES + "def other(x):\n    return {name}(x)\nds = ds.map(other)\n", 0),
        (FILES + "ds = ds.batch(4096).map({name})\n", 1),
    ],
)
def test_labels_are_few_where_a_pipeline_maps_single_examples_whatever_the_name(calls, places):
    for name in ("count", "parse_example"):
        assert len(found((COUNTED + calls).format(name=name), "onehot-bincount")) == places, name


GRAPH_CODE = {
    "a session's placeholder": "import tensorflow as tf\nx = tf.compat.v1.placeholder(tf.float32)\n",
    "symbolic gradients": "import tensorflow as tf\ng = tf.gradients(y, x)\n",
    "version 1 alone": "import tensorflow.compat.v1 as tf\n",
}


@pytest.mark.parametrize("head", GRAPH_CODE.values(), ids=GRAPH_CODE)
def test_eager_rules_are_silent_in_code_for_graphs(head):
    code = "def f(x):\n    return tf.pow(x, 2)\n\n\ndef g(x):\n    return 1 / tf.sqrt(x)\n"
    assert [one.rule.name for one in found(head + code)] == ["rsqrt"]
    both = "import tensorflow.compat.v1 as tf1\nimport tensorflow as tf\n"
    assert [one.rule.name for one in found(both + code)] == ["pow2", "rsqrt"]


def test_a_call_that_rather_reaches_something_else_is_left_alone():
    source = (
        "import numpy as np\nimport tensorflow as tf\n\n\ndef f(kind, rows):\n    if kind == 1:\n"
        "        make = np.array\n    elif kind == 2:\n        make = tf.constant\n    else:\n"
        "        make = list\n    return make([np.asarray(row) for row in rows], dtype=tf.float32)\n"
    )
    assert found(source, "np-stack") == []
    two = source.replace(
        "    elif kind == 2:\n        make = tf.constant\n    else:\n        make = list\n", ""
    )
    two = two.replace("np.array\n", "tf.convert_to_tensor\n    else:\n        make = tf.constant\n")
    assert [one.safety() for one in found(two, "np-stack")] == ["review"]


ONE_NUMBER = {
    "declared": "def f(d: int):\n    return 1 / tf.sqrt(tf.cast(d, tf.float32))\n",
    "by default": "def f(d=8):\n    return 1 / tf.sqrt(tf.cast(d, tf.float32))\n",
    "of the function around": (
        "def f(d: int):\n    def g():\n        return 1 / tf.sqrt(tf.cast(d, tf.float32))\n    return g\n"
    ),
    "an attribute": (
        "class Net:\n    def __init__(self, size: int, more: int | None = None):\n        self._size = more or size\n\n"
        "    def f(self):\n        return 1 / tf.sqrt(tf.constant(self._size, dtype=tf.float32))\n"
    ),
    "of a shape": "def f(x):\n    return 1 / tf.sqrt(tf.cast(tf.shape(x)[-1], tf.float32))\n",
}


@pytest.mark.parametrize("code", ONE_NUMBER.values(), ids=ONE_NUMBER)
def test_one_number_is_not_worth_a_rewrite(code):
    assert found(f"import tensorflow as tf\n{code}", "rsqrt") == []


def test_a_nested_function_is_not_called_by_a_namesake_elsewhere():
    nested = "    @tf.function\n    def total(v):\n        return tf.reduce_sum(v)\n"
    first = f"import tensorflow as tf\n\n\ndef one(x):\n{nested}    return total(x)\n\n\n"
    second = f"def two(x):\n{nested}    for n in range(1, 9):\n        y = total(x[:n])\n    return y\n"
    assert [one.span.start.row for one in found(first + second, "retrace-shape")] == [first.count("\n") + 1]


def test_what_the_compiler_fuses_anyway_is_not_reported_under_jit():
    source = "import tensorflow as tf\n\n\n@tf.function{}\ndef f(x):\n    return 1 / tf.sqrt(x)\n"
    assert len(found(source.format(""), "rsqrt")) == 1
    assert found(source.format("(jit_compile=True)"), "rsqrt") == []


def test_eager_rules_are_silent_where_eager_execution_is_off():
    source = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ny = tf.pow(x, 2)\n"
    assert found(source, "pow2") == []


def test_rules_are_silent_where_the_size_is_known_and_wrong():
    small = "import tensorflow as tf\nd = tf.ones([8])\ny = tf.linalg.diag(d) @ x\n"
    large = "import tensorflow as tf\nd = tf.ones([800])\ny = tf.linalg.diag(d) @ x\n"
    assert found(small, "diag-matmul") == []
    assert len(found(large, "diag-matmul")) == 1


def test_broken_code_is_looked_at_where_it_is_whole():
    source = "import tensorflow as tf\na = tf.pow(x, 2)\nb = tf.pow(y, \nc = 1 / tf.sqrt(\n"
    assert ("pow2", 1) in [(finding.rule.name, finding.span.start.row) for finding in found(source)]


def test_a_name_that_broken_code_lacks_is_found_nowhere():
    assert list(occurrences(b"a = 1\n", b"", b"", 0, 6)) == []
    assert list(occurrences(b"a = a(1)\n", b"a", b"(", 0, 9)) == [4]


def test_edits_that_overlap_are_refused():
    edit = rules.Edit
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcdef", [edit(0, 3, "x"), edit(2, 4, "y")])


def test_a_pattern_that_is_no_expression_or_no_api_is_refused():
    with pytest.raises(ValueError, match="not an expression"):
        list(compile_pattern("x = 1", ()))
    with pytest.raises(ValueError, match="does not know"):
        list(compile_pattern("tf.there_is_no_such_thing()", ()))
    with pytest.raises(ValueError, match="no signature"):
        list(compile_pattern("tf.math.lbeta($x)", ()))


def test_words_are_found_in_the_index_as_by_searching() -> None:
    source = b"".join(
        b"def name_%d(x):\n    return name_%d(x) + my_name_%d\n" % (n, n % 7, n) for n in range(700)
    )
    shared = FileContext(source)
    for after in (b"", b"("):
        for number in range(250):
            word = b"name_%d" % number
            wanted = list(occurrences(source, word, after, 0, len(source)))
            assert list(shared.occurrences(word, after, 0, len(source))) == wanted
