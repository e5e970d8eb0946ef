"""Unit tests in tf.test.TestCase style with parameterized-like sub tests."""
import os
import unittest
import numpy as np
import tensorflow as tf
from tensorflow import test as tft
from tensorflow.python.framework import test_util  # noqa: F401


class Gate(tf.keras.layers.Layer):
    """Learned gate between two branches."""

    def __init__(self, units=4, use_bias=True, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.use_bias = use_bias

    def build(self, input_shape):
        last = input_shape[-1]
        self.w = self.add_weight(name="w", shape=(last, self.units), initializer="glorot_uniform")
        if self.use_bias:
            self.b = self.add_weight(name="b", shape=(self.units,), initializer=tf.keras.initializers.Zeros())
        self.proj = tf.keras.layers.Dense(self.units)
        self.proj.build(input_shape)
        super().build(input_shape)

    def call(self, x):
        gate = tf.linalg.matmul(x, self.w)
        if self.use_bias:
            gate = tf.nn.bias_add(gate, self.b)
        return tf.sigmoid(gate) * self.proj(x)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        config = super().get_config()
        config.update(units=self.units, use_bias=self.use_bias)
        return config


@tf.keras.utils.register_keras_serializable(package="tests")
class Scale(tf.keras.layers.Layer):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, x):
        return tf.multiply(x, self.factor)

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


class GateTest(tf.test.TestCase):
    def setUp(self):
        super().setUp()
        tf.keras.utils.set_random_seed(7)
        self.layer = Gate(3)
        self.x = tf.random.stateless_normal((2, 5), seed=(1, 2))

    def tearDown(self):
        tf.keras.backend.clear_session()
        super().tearDown()

    def test_shape(self):
        y = self.layer(self.x)
        self.assertEqual(y.shape, (2, 3))
        self.assertAllEqual(tf.shape(y), self.layer.compute_output_shape((2, 5)))
        self.assertLen(self.layer.weights, 4)

    def test_no_bias(self):
        for bias, count in ((True, 4), (False, 3)):
            with self.subTest(bias=bias):
                layer = Gate(2, use_bias=bias)
                _ = layer(self.x)
                self.assertEqual(len(layer.trainable_weights), count)

    def test_gradient(self):
        with tf.GradientTape() as tape:
            tape.watch(self.x)
            out = tf.reduce_sum(self.layer(self.x))
        dx = tape.gradient(out, self.x)
        self.assertAllInRange(dx, -1e3, 1e3)
        self.assertNotAllClose(dx, tf.zeros_like(dx))
        theoretical, numerical = tf.test.compute_gradient(lambda v: tf.reduce_sum(self.layer(v)), [self.x])
        self.assertAllClose(theoretical, numerical, atol=1e-2)

    def test_config_round_trip(self):
        config = self.layer.get_config()
        again = Gate.from_config(config)
        self.assertEqual(again.units, self.layer.units)
        model = tf.keras.Sequential([tf.keras.Input((5,)), Scale(3.0), tf.keras.layers.Dense(1)])
        path = os.path.join(self.get_temp_dir(), "m.keras")
        model.save(path)
        loaded = tf.keras.models.load_model(path)
        np.testing.assert_allclose(model(self.x), loaded(self.x), rtol=1e-6)
        self.assertAllClose(model.predict(self.x, verbose=0), loaded.predict(self.x, verbose=0))
        clone = tf.keras.models.clone_model(model)
        clone.set_weights(model.get_weights())
        self.assertAllClose(clone(self.x), model(self.x))

    def test_errors(self):
        with self.assertRaises(tf.errors.InvalidArgumentError):
            tf.reshape(self.x, (3, 7))
        with self.assertRaisesRegex(ValueError, "rank|shape|ndim"):
            tf.TensorShape([1, 2]).assert_has_rank(3)
        with self.assertRaisesOpError("nan") if False else self.assertRaises(Exception):
            tf.debugging.assert_equal(tf.ones(2), tf.zeros(2), message="nan")

    def test_graph_equals_eager(self):
        compiled = tf.function(self.layer)
        self.assertAllClose(compiled(self.x), self.layer(self.x))
        concrete = tf.function(lambda v: self.layer(v) + 1.0).get_concrete_function(tf.TensorSpec([None, 5], tf.float32))
        self.assertAllClose(concrete(self.x), self.layer(self.x) + 1.0)
        self.assertTrue(tft.is_built_with_cuda() in (True, False))

    @unittest.skipIf(not tf.executing_eagerly(), "eager only")
    def test_evaluate(self):
        value = self.evaluate(tf.reduce_max(tf.abs(self.x)))
        self.assertGreater(value, 0.0)
        with self.cached_session():
            self.assertAllInRange(tf.nn.softmax(self.x), 0.0, 1.0)
        self.assertDTypeEqual(self.x, np.float32)

    @classmethod
    def make_suite(cls):
        loader = unittest.defaultTestLoader
        return loader.loadTestsFromTestCase(cls)


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=0).run(GateTest.make_suite())
    assert result.wasSuccessful(), result.failures + result.errors
