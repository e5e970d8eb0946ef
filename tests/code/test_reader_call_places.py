"""Calls anywhere in an expression, with their exact places."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "line",
    [
        "print(tf.ones(3))",
        "def f(): return tf.ones(3)",
        "y = 1 + tf.ones(3) * 2",
        "if tf.ones(3): pass",
        "while tf.ones(3): pass",
        "for i in tf.ones(3): pass",
        "with tf.ones(3): pass",
        "g = lambda: tf.ones(3)",
        "[tf.ones(3) for i in x]",
        "{i: tf.ones(3) for i in x}",
        "sum(tf.ones(3) for i in x)",
        "f'{tf.ones(3)!r:>{w}} b'",
        "x[tf.ones(3):]",
        "x[i] = tf.ones(3)",
        "x += tf.ones(3)",
        "assert tf.ones(3), 'no'",
        "raise E(tf.ones(3))",
        "def f(a=tf.ones(3)): pass",
        "class C(base(tf.ones(3))): pass",
        "f(*tf.ones(3))",
        "f(**{'a': tf.ones(3)})",
        "a = b = tf.ones(3)",
        "a if tf.ones(3) else b",
        "not tf.ones(3)",
        "(yield_ := tf.ones(3))",
        "del x[tf.ones(3)]",
        "try:\n    pass\nexcept E:\n    tf.ones(3)",
        "try:\n    pass\nfinally:\n    tf.ones(3)",
        "match x:\n    case {'a': y} if tf.ones(3): pass",
        "async def f():\n    async with tf.ones(3): pass",
        "global_ = {**a, 'k': [tf.ones(3)]}",
        "import os; tf.ones(3)",
        "return tf.ones(3)",
        "@deco(tf.ones(3))\ndef f(): pass",
    ],
)
def test_a_call_is_seen_wherever_it_stands(calls_of, line):
    source = f"import tensorflow as tf\n{line}\n"
    calls = calls_of(source)
    assert [call.api for call in calls] == ["tensorflow.ones"]
    span, name = calls[0].span, calls[0].name
    assert source.encode()[span.start_byte : span.end_byte] == b"tf.ones(3)"
    assert source.encode()[name.start_byte : name.end_byte] == b"ones"


def test_chains_and_calls_of_calls(calls_of):
    source = """
import tensorflow as tf
ds = (
    tf.data.Dataset.from_tensor_slices(x)  # comment
    .map(lambda v: tf.cast(v, tf.float32))
    # and another
    .batch(32)
)
tf.keras.layers.Dense(1)(x)
"""
    assert [call.api for call in calls_of(source)] == [
        "tensorflow.data.Dataset.batch",
        "tensorflow.data.Dataset.map",
        "tensorflow.data.Dataset.from_tensor_slices",
        "tensorflow.cast",
        "keras.layers.Dense.__call__",
        "keras.layers.Dense",
    ]


def test_arguments_as_written(calls_of):
    (call,) = calls_of("import keras\nkeras.layers.Dense(8 * 2, *a, use_bias = False, **{'b': 1})\n")
    assert [(argument.keyword, argument.text) for argument in call.arguments] == [
        (None, "8 * 2"),
        ("*", "a"),
        ("use_bias", "False"),
        ("**", "{'b': 1}"),
    ]
    assert call.arguments[0].span.start == (1, 19)


def test_decorators_partials_and_wrappers(calls_of):
    calls = calls_of(
        """
        import tensorflow as tf
        from functools import partial, wraps
        @tf.function(jit_compile=True)
        def f(x): return x
        @tf.function
        def g(x): return x
        f(1); g(1)
        p = partial(tf.add, 1)
        p(2)
        g.get_concrete_function(1)
        def logged(fn):
            @wraps(fn)
            def inner(*args, **kwargs):
                return fn(*args, **kwargs)
            return inner
        @logged
        def make(): return tf.keras.Sequential()
        make().fit()
        """
    )
    assert [(call.span.start.row, call.api, call.decorator) for call in calls] == [
        (3, "tensorflow.function", False),
        (5, "tensorflow.function", True),
        (9, "tensorflow.math.add", False),
        (10, "tensorflow.types.experimental.PolymorphicFunction.get_concrete_function", False),
        (17, "keras.Sequential", False),
        (18, "keras.Sequential.fit", False),
    ]


def test_a_starred_call_alone_in_a_display(calls_of):
    """tree-sitter takes the star of `[*a.b()]` for a part of `a`."""
    source = "import tensorflow as tf\nx = [*tf.unstack(y)]\nx[0].numpy()\nz = {*tf.ones(3).numpy()}\n"
    calls = calls_of(source)
    assert [(call.api, source[call.span.start_byte : call.span.end_byte]) for call in calls] == [
        ("tensorflow.unstack", "tf.unstack(y)"),
        ("tensorflow.Tensor.numpy", "x[0].numpy()"),
        ("tensorflow.Tensor.numpy", "tf.ones(3).numpy()"),
        ("tensorflow.ones", "tf.ones(3)"),
    ]
