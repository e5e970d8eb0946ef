"""Names: aliases, targets of every shape, flow, shadowing."""

from __future__ import annotations


def test_aliases_of_functions_and_modules(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        fn = tf.ones; datasets = tf.keras.datasets
        x = fn(3)
        datasets.mnist.load_data()
        """
    ) == [(3, "tensorflow.ones"), (4, "keras.datasets.mnist.load_data")]


def test_tuple_starred_walrus_and_annotated_targets(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        a, (b, *c) = tf.ones, (tf.zeros, tf.abs, tf.square)
        a(1); b(1); c[0](1); c[1](1)
        if (d := tf.range(3)) is not None:
            d.numpy()
        e: tf.Tensor = unknown()
        e.numpy()
        """
    ) == [
        (3, "tensorflow.ones"),
        (3, "tensorflow.zeros"),
        (3, "tensorflow.math.abs"),
        (3, "tensorflow.math.square"),
        (4, "tensorflow.range"),
        (5, "tensorflow.Tensor.numpy"),
        (7, "tensorflow.Tensor.numpy"),
    ]


def test_the_binding_that_reaches_the_call_wins(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        f = tf.ones
        f(1)
        f = tf.zeros
        f(1)
        f = print
        f(1)
        del tf
        tf.ones(1)
        """
    ) == [(3, "tensorflow.ones"), (5, "tensorflow.zeros")]


def test_branches_leave_both_and_constant_tests_decide(calls_of):
    calls = calls_of(
        """
        import tensorflow as tf
        BIG = False
        if unknown:
            f = tf.ones
        else:
            f = tf.zeros
        f(1)
        if BIG:
            g = tf.ones
        else:
            g = tf.zeros
        g(1)
        """
    )
    assert [(call.api, call.confidence) for call in calls] == [
        ("tensorflow.ones", 0.5),
        ("tensorflow.zeros", 1.0),
    ]


def test_shadowing_by_parameters_locals_and_comprehensions(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        def f(tf):
            tf.ones(1)
        def g():
            tf.ones(1)
            tf = other()
        [tf.ones(1) for tf in things]
        lambda tf: tf.ones(1)
        class C:
            tf = 3
            def m(self):
                return tf.ones(1)
        """
    ) == [(12, "tensorflow.ones")]


def test_closures_and_globals(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        model = None
        def init():
            global model
            model = tf.keras.Sequential()
        def train():
            model.fit()
        def outer():
            f = tf.ones
            def inner():
                nonlocal f
                f(1)
                f = tf.zeros
                f(1)
            inner()
        """
    ) == [
        (5, "keras.Sequential"),
        (7, "keras.Sequential.fit"),
        (12, "tensorflow.ones"),
        (14, "tensorflow.zeros"),
    ]


def test_user_functions_with_names_of_apis_are_not_reported(apis_of):
    assert (
        apis_of(
            """
        import tensorflow as tf
        def ones(n): return [1] * n
        class Dense:
            def __call__(self, x): return x
            def fit(self): return self
        ones(3); Dense()(3).bit_length(); Dense().fit()
        d = {}; d.get("x"); [].append(1); "a".join([]); set().add(tf)
        """
        )
        == []
    )


def test_the_same_statement_or_function_written_twice(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        if unknown:
            def f(): return tf.ones(1)
        else:
            def f(): return tf.ones(1)
        f()
        x = tf.ones
        x(1)
        x = tf.zeros
        x(1)
        """
    ) == [(3, "tensorflow.ones"), (5, "tensorflow.ones"), (8, "tensorflow.ones"), (10, "tensorflow.zeros")]


def test_super_with_the_name_of_a_class_that_another_one_takes_later(apis_of):
    assert apis_of(
        """
        import keras
        class Net(keras.Sequential):
            def add(self, layer):
                super(Net, self).add(layer)
        class Net(keras.layers.Layer):
            def build(self, shape):
                super(Net, self).build(shape)
        """
    ) == [(4, "keras.Sequential.add"), (7, "keras.Layer.build")]
