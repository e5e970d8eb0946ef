import abc

import tensorflow as tf
from tensorflow import keras


class LogMixin:
    def log(self, *values):
        print(type(self).__name__, *values)


class BaseNet(keras.Model, abc.ABC):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.out = keras.layers.Dense(1)

    @abc.abstractmethod
    def features(self, x): ...

    def call(self, x, training=None):
        return self.out(self.features(x))

    def fit_quietly(self, *args, **kwargs):
        return self.fit(*args, verbose=0, **kwargs)


class ConvNet(LogMixin, BaseNet):
    def __init__(self, units):
        super().__init__(units)
        self.conv = keras.layers.Conv1D(units, 2)
        self.flatten = keras.layers.Flatten()

    def features(self, x):
        self.log("features")
        return self.flatten(self.conv(x))

    def fit(self, *args, **kwargs):
        self.log("fit")
        return super().fit(*args, **kwargs)


class BiggerNet(ConvNet):
    def __init__(self):
        ConvNet.__init__(self, 4)
        self.drop = keras.layers.SpatialDropout1D(0.1)

    def features(self, x):
        return super().features(self.drop(x))

    def evaluate(self, *args, **kwargs):
        return keras.Model.evaluate(self, *args, **kwargs)


class ScaledDense(keras.layers.Dense):
    def call(self, inputs):
        return 2.0 * super().call(inputs)

    @classmethod
    def tiny(cls):
        return cls(1)


net = BiggerNet()
net.compile(optimizer=keras.optimizers.SGD(), loss="mse")
x, y = tf.ones((4, 3, 2)), tf.zeros((4, 1))
history = net.fit_quietly(x, y, epochs=1)
print(history.history.keys(), net.evaluate(x, y, verbose=0), net.predict(x, verbose=0).shape)
scaled = ScaledDense(2)
print(scaled(y).shape, ScaledDense.tiny()(y).numpy().sum(), scaled.get_weights()[1])
assert issubclass(BiggerNet, keras.Model)
net.log(net.count_params(), [l.name for l in net.layers])
