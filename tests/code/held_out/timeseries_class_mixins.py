"""Forecasters as plug-ins: mixins, properties, a strategy object per loss, generators of windows, context managers."""
import abc
import contextlib
import enum
import json
import math
import pathlib
import typing as tp
import warnings

import numpy as np
import tensorflow as tf

warnings.filterwarnings("ignore")
kr = tf.keras
kl = kr.layers


class Loss(enum.Enum):
    MSE = "mse"
    HUBER = "huber"
    QUANTILE = "quantile"

    def make(self) -> kr.losses.Loss:
        if self is Loss.MSE:
            return kr.losses.MeanSquaredError()
        if self is Loss.HUBER:
            return kr.losses.Huber(delta=0.5)
        return Quantile(0.9)


class Quantile(kr.losses.Loss):
    def __init__(self, q: float):
        super().__init__(name=f"quantile_{q}")
        self.q = q

    def call(self, y_true, y_pred):
        error = y_true - y_pred
        return tf.reduce_mean(tf.maximum(self.q * error, (self.q - 1) * error), axis=-1)


class Persist:
    folder = pathlib.Path("models")

    def save(self) -> pathlib.Path:
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{type(self).__name__}.keras"
        self.net.save(path)
        (self.folder / "meta.json").write_text(json.dumps({"params": self.net.count_params()}))
        return path

    @classmethod
    def restore(cls, path: pathlib.Path) -> kr.Model:
        return kr.models.load_model(path, compile=False)


class Forecaster(Persist, abc.ABC):
    def __init__(self, horizon: int, loss: Loss = Loss.MSE):
        self.horizon = horizon
        self._loss = loss
        self._net: tp.Optional[kr.Model] = None

    @property
    def net(self) -> kr.Model:
        if self._net is None:
            self._net = self.build()
            self._net.compile(optimizer=kr.optimizers.Nadam(1e-3), loss=self._loss.make())
        return self._net

    @abc.abstractmethod
    def build(self) -> kr.Model:
        ...

    def fit(self, data: tf.data.Dataset, **options):
        return self.net.fit(data, verbose=0, **options)

    def __call__(self, window):
        return self.net(window, training=False)

    @contextlib.contextmanager
    def frozen(self):
        flags = [(layer, layer.trainable) for layer in self.net.layers]
        for layer, _ in flags:
            layer.trainable = False
        try:
            yield self.net
        finally:
            for layer, flag in flags:
                layer.trainable = flag


class Recurrent(Forecaster):
    cell = kl.GRU

    def build(self):
        inputs = kr.Input((None, 1))
        x = self.cell(6, return_sequences=True)(inputs)
        x = kl.LayerNormalization()(x)
        x = self.cell(4)(x)
        return kr.Model(inputs, kl.Dense(self.horizon)(x))


class LSTMForecaster(Recurrent):
    cell = kl.LSTM


class Wave(Forecaster):
    """Dilated causal convolutions with gates."""

    def __init__(self, horizon, depth=2, **kw):
        super().__init__(horizon, **kw)
        self.depth = depth

    def block(self, x, dilation):
        gate = kl.Conv1D(4, 2, dilation_rate=dilation, padding="causal", activation="sigmoid")(x)
        filt = kl.Conv1D(4, 2, dilation_rate=dilation, padding="causal", activation="tanh")(x)
        z = kl.multiply([gate, filt])
        return kl.Conv1D(4, 1)(z), z

    def build(self):
        x = inputs = kr.Input((None, 1))
        x = kl.Conv1D(4, 1)(x)
        skips = []
        for i in range(self.depth):
            y, skip = self.block(x, 2 ** i)
            x = kl.add([x, y])
            skips += [skip]
        out = kl.Activation("relu")(kl.add(skips) if len(skips) > 1 else skips[0])
        out = kl.GlobalAveragePooling1D()(out)
        return kr.Model(inputs, kl.Dense(self.horizon)(out))


def series(n: int = 64) -> tf.Tensor:
    time = tf.range(n, dtype=tf.float32)
    season = tf.where(time % 16 < 8, tf.cos(time * math.pi / 8), 1 / tf.exp(0.3 * (time % 8)))
    trend = 0.01 * time
    return tf.expand_dims(season + trend + 0.1 * tf.random.normal(time.shape), -1)


def windows(values: tf.Tensor, size: int, horizon: int) -> tf.data.Dataset:
    ds = tf.data.Dataset.from_tensor_slices(values)
    ds = ds.window(size + horizon, shift=2, drop_remainder=True)
    ds = ds.flat_map(lambda w: w.batch(size + horizon))
    ds = ds.shuffle(20).map(lambda w: (w[:-horizon], w[-horizon:, 0]))
    return ds.batch(8).prefetch(1)


def rolling(model: Forecaster, values: tf.Tensor, size: int) -> tp.Iterator[np.ndarray]:
    for start in range(0, values.shape[0] - size - model.horizon, 16):
        window = values[tf.newaxis, start:start + size]
        yield model(window).numpy()[0]


FORECASTERS = [Recurrent(2), LSTMForecaster(2, loss=Loss.HUBER), Wave(2, depth=2, loss=Loss.QUANTILE)]
values = series()
data = windows(values, 12, 2)
scores: tp.Dict[str, float] = {}
for model in FORECASTERS:
    history = model.fit(data, epochs=1)
    with model.frozen() as net:
        scores[type(model).__name__] = float(net.evaluate(data, verbose=0))
    forecasts = np.stack(list(rolling(model, values, 12)))
    mae = kr.metrics.MeanAbsoluteError()
    mae.update_state(values[12:12 + 2, 0][tf.newaxis], forecasts[:1])
    print(type(model).__name__, forecasts.shape, mae.result().numpy() >= 0, len(history.epoch))
    if isinstance(model, Wave):
        back = Wave.restore(model.save())
        print(back.predict(values[tf.newaxis, :12], verbose=0).shape)
print(sorted(scores))
