"""Tests that say what a variable is: isinstance, tf.is_tensor, assert."""

from __future__ import annotations


def test_isinstance_says_what_the_branch_holds(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        def f(layer, other):
            if isinstance(layer, tf.keras.layers.Dense) and layer.get_config():
                layer.get_weights()
            else:
                layer.get_weights()
            layer.count_params()
            if not isinstance(other, tf.keras.Model):
                raise TypeError(other)
            other.fit()
        """
    ) == [
        (3, "keras.layers.Dense.get_config"),
        (4, "keras.layers.Dense.get_weights"),
        (10, "keras.Model.fit"),
    ]


def test_assert_ternary_comprehension_and_is_tensor(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        def f(x, values):
            assert isinstance(x, tf.Tensor)
            x.numpy()
            plain = [v.numpy() for v in values if isinstance(v, tf.Variable)]
            return [v.numpy() if tf.is_tensor(v) else v.numpy() for v in values]
        """
    ) == [
        (4, "tensorflow.Tensor.numpy"),
        (5, "tensorflow.Variable.numpy"),
        (6, "tensorflow.Tensor.numpy"),
        (6, "tensorflow.is_tensor"),
    ]


def test_a_class_that_is_more_than_was_known_and_one_that_rules_it_out(apis_of):
    assert apis_of(
        """
        import numpy as np
        import tensorflow as tf
        def f(layer: tf.keras.layers.Layer, array: tf.Tensor, flag):
            if isinstance(layer, tf.keras.layers.Dense):
                layer.get_weights()
            layer.get_weights()
            if isinstance(array, np.ndarray):
                array.numpy()
            model = tf.keras.Sequential() if flag else tf.ones(3)
            if isinstance(model, tf.Tensor):
                return model.numpy()
            model.fit()
        """
    ) == [
        (5, "keras.layers.Dense.get_weights"),
        (6, "keras.Layer.get_weights"),
        (9, "keras.Sequential"),
        (9, "tensorflow.ones"),
        (11, "tensorflow.Tensor.numpy"),
        (12, "keras.Sequential.fit"),
    ]


def test_or_says_something_only_where_it_fails(apis_of):
    assert apis_of(
        """
        import tensorflow as tf
        def f(a, b):
            if not isinstance(a, tf.Tensor) or not isinstance(b, tf.Variable):
                a.numpy()
                return
            a.numpy(); b.assign(a)
        def g(a):
            if isinstance(a, tf.Tensor) or a is None:
                a.numpy()
        """
    ) == [(6, "tensorflow.Tensor.numpy"), (6, "tensorflow.Variable.assign")]
