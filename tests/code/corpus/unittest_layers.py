"""A test module as it stands beside a library: tf.test.TestCase, parameterised, assertions."""
import unittest
from unittest import mock

import numpy as np
import tensorflow as tf
from tensorflow import keras


class GatedUnit(keras.layers.Layer):
    def __init__(self, units, activation="relu", rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.proj = keras.layers.Dense(units)
        self.gate = keras.layers.Dense(units, activation="sigmoid")
        self.activation = keras.activations.get(activation)
        self.dropout = keras.layers.Dropout(rate) if rate else None

    def call(self, x, training=None):
        out = self.activation(self.proj(x)) * self.gate(x)
        if self.dropout is not None:
            out = self.dropout(out, training=training)
        return out


def make_model(units=4, outputs=2):
    inputs = keras.Input((3,))
    outputs = keras.layers.Dense(outputs)(GatedUnit(units, rate=0.1)(inputs))
    return keras.Model(inputs, outputs)


class GatedUnitTest(tf.test.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = tf.random.normal((4, 3))

    def setUp(self):
        super().setUp()
        self.layer = GatedUnit(5)
        self.temp = self.get_temp_dir()
        tf.random.set_seed(7)

    def tearDown(self):
        keras.backend.clear_session()
        super().tearDown()

    def test_shape(self):
        out = self.layer(self.data)
        self.assertEqual(out.shape, (4, 5))
        self.assertAllGreaterEqual(out, 0.0)

    def test_numpy(self):
        out = self.layer(self.data).numpy()
        again = self.evaluate(self.layer(self.data))
        self.assertAllClose(out, again)
        self.assertAllEqual(tf.shape(out), [4, 5])

    def test_gradient(self):
        with tf.GradientTape() as tape:
            tape.watch(self.data)
            value = tf.reduce_sum(self.layer(self.data))
        grad = tape.gradient(value, self.data)
        self.assertNotAllClose(grad, tf.zeros_like(grad))
        theoretical, numerical = tf.test.compute_gradient(lambda x: tf.square(x), [tf.constant([1.0, 2.0])])
        self.assertAllClose(theoretical, numerical, rtol=1e-2)

    def test_activations(self):
        for name in ("relu", "tanh", "linear"):
            with self.subTest(name):
                layer = GatedUnit(2, activation=name)
                layer.build((None, 3))
                self.assertLen(layer.trainable_weights, 0 if not layer.built else len(layer.trainable_weights))

    def test_fit_and_save(self):
        model = make_model()
        model.compile(optimizer="sgd", loss="mse")
        x = np.zeros((4, 3), "float32")
        history = model.fit(x, np.ones((4, 2)), epochs=2, verbose=0)
        self.assertLess(history.history["loss"][-1], history.history["loss"][0] + 1e-6)
        path = f"{self.temp}/w.weights.h5"
        model.save_weights(path)
        other = make_model()
        other.load_weights(path)
        self.assertAllClose(model.predict(x, verbose=0), other.predict(x, verbose=0))

    def test_error(self):
        with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
            tf.reshape(self.data, (5, 5))

    def test_mocked(self):
        with mock.patch.object(keras.layers.Dense, "call", side_effect=lambda x: x) as call:
            layer = keras.layers.Dense(3)
            layer.build((None, 3))
            layer.call(self.data)
        self.assertEqual(call.call_count, 1)

    @unittest.skipIf(len(tf.config.list_physical_devices("GPU")) == 0, "needs a GPU")
    def test_gpu(self):
        with tf.device("/GPU:0"):
            self.layer(self.data)


class DatasetTest(unittest.TestCase):
    def make(self, n=10) -> tf.data.Dataset:
        return tf.data.Dataset.range(n).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))

    def test_windows(self):
        windows = list(self.make().as_numpy_iterator())
        self.assertEqual(len(windows), 8)
        self.assertEqual(windows[0].tolist(), [0, 1, 2])

    def test_zip(self):
        pairs = tf.data.Dataset.zip((self.make(), self.make().skip(1)))
        first, second = next(iter(pairs))
        np.testing.assert_array_equal(first.numpy() + 1, second.numpy())
        both = self.make(4).concatenate(self.make(5))
        self.assertEqual(sum(1 for _ in both), both.reduce(0, lambda n, _: n + 1).numpy())


if __name__ == "__main__":
    suite = unittest.TestSuite()
    for case in (GatedUnitTest, DatasetTest):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner(verbosity=0).run(suite)
    assert result.wasSuccessful(), result.failures + result.errors
