import copy, json, logging, math, os, sys
from collections import defaultdict
from pathlib import Path
import numpy as np
import keras
from keras import Model, Sequential, callbacks, layers, losses, metrics, optimizers, regularizers, ops, utils

log = logging.getLogger(__name__)
DEFAULTS = {"hidden": [8, 4], "dropout": 0.1, "l2": 1e-4, "act": "relu"}


class LRFinder(callbacks.Callback):
    def __init__(self, lo=1e-5, hi=1.0, steps=4):
        super().__init__()
        self.rates = np.geomspace(lo, hi, steps)
        self.seen = []

    def on_train_begin(self, logs=None):
        self.weights = self.model.get_weights()
        self.step = 0

    def on_train_batch_begin(self, batch, logs=None):
        rate = self.rates[min(self.step, len(self.rates) - 1)]
        self.model.optimizer.learning_rate.assign(rate)

    def on_train_batch_end(self, batch, logs=None):
        self.seen.append((float(self.model.optimizer.learning_rate), logs["loss"]))
        self.step += 1
        if not math.isfinite(logs["loss"]):
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        self.model.set_weights(self.weights)

    @property
    def best(self):
        return min(self.seen, key=lambda p: p[1])[0]


def mlp(n_in, n_out, cfg=None):
    cfg = {**DEFAULTS, **(cfg or {})}
    net = Sequential()
    net.add(layers.Input((n_in,)))
    for i, h in enumerate(cfg["hidden"]):
        net.add(layers.Dense(h, kernel_regularizer=regularizers.L2(cfg["l2"]), name=f"h{i}"))
        net.add(layers.Activation(cfg["act"]))
        if cfg["dropout"]:
            net.add(layers.Dropout(cfg["dropout"]))
    net.add(layers.Dense(n_out, activation="softmax"))
    return net


def ensemble(models, n_in):
    x = layers.Input((n_in,))
    outs = [m(x) for m in models]
    y = layers.Average()(outs) if len(outs) > 1 else outs[0]
    return Model(x, y, name="ensemble")


class Standardiser:
    def fit(self, x):
        self.mu, self.sd = x.mean(0), x.std(0) + 1e-8
        return self

    def transform(self, x):
        return (x - self.mu) / self.sd

    def fit_transform(self, x):
        return self.fit(x).transform(x)


rng = np.random.default_rng(0)
X = Standardiser().fit_transform(rng.normal(size=(32, 6))).astype("float32")
Y = utils.to_categorical(rng.integers(0, 3, 32), 3)
scores = defaultdict(list)
members = []
for trial in range(2):
    net = mlp(6, 3, {"hidden": [8] * (trial + 1)})
    net.compile(optimizers.SGD(0.1), losses.CategoricalCrossentropy(), metrics=[metrics.CategoricalAccuracy(name="acc")])
    finder = LRFinder()
    net.fit(X, Y, batch_size=8, epochs=1, verbose=0, callbacks=[finder])
    net.optimizer.learning_rate = finder.best
    hist = net.fit(X, Y, validation_split=0.25, epochs=1, verbose=0)
    for key, values in hist.history.items():
        scores[key] += values
    members.append(net)
both = ensemble(members, 6)
both.summary(print_fn=lambda *a, **k: None)
both.compile(loss="categorical_crossentropy", metrics=["accuracy"])
print(both.evaluate(X, Y, verbose=0), both.predict_on_batch(X[:2]).shape, {k: np.mean(v) for k, v in scores.items()})
probe = Model(both.inputs, [members[0].get_layer("h0").output]) if False else Model(members[0].inputs, members[0].get_layer("h0").output)
acts = ops.convert_to_numpy(probe(X))
print(acts.shape, ops.convert_to_numpy(ops.top_k(acts, 2)[0]).shape)
cfg = members[0].get_config()
clone = Sequential.from_config(copy.deepcopy(cfg))
clone.set_weights(members[0].get_weights())
assert np.allclose(clone.predict(X, verbose=0), members[0].predict(X, verbose=0), atol=1e-5)
best = min(members, key=lambda m: m.evaluate(X, Y, verbose=0)[0])
best.save("best.keras")
again = keras.saving.load_model("best.keras")
print(again.count_params(), json.loads(again.to_json())["class_name"], [tuple(w.shape) for w in again.trainable_weights][:2])
for layer in best.layers:
    if isinstance(layer, layers.Dense) and layer.kernel_regularizer:
        print(layer.name, float(layer.kernel_regularizer(layer.kernel)), layer.get_config()["units"])
os.remove("best.keras")
