import itertools
import json

import numpy as np
import tensorflow as tf

SPACE = {"units": [2, 4], "optimizer": ["adam", "sgd"], "activation": [tf.nn.relu, tf.nn.tanh]}
OPTIMIZERS = {"adam": tf.keras.optimizers.Adam, "sgd": tf.keras.optimizers.SGD}
X, Y = np.random.rand(8, 3), np.random.rand(8, 1)


def trials(space):
    keys = list(space)
    for values in itertools.product(*(space[k] for k in keys)):
        yield dict(zip(keys, values))


class Experiment(object):
    models = []

    def __init__(self, units, optimizer, activation):
        self.model = self.build(units, activation)
        self.optimizer = OPTIMIZERS[optimizer](learning_rate=0.01)
        self.criterion = tf.keras.losses.MeanSquaredError()
        Experiment.models.append(self.model)

    @staticmethod
    def build(units, activation):
        return tf.keras.Sequential([tf.keras.layers.Dense(units, activation=activation), tf.keras.layers.Dense(1)])

    @classmethod
    def from_trial(cls, trial):
        return cls(**trial)

    def step(self):
        with tf.GradientTape() as tape:
            value = self.criterion(Y, self.model(X))
        grads = tape.gradient(value, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return value

    def run(self, steps=1):
        return min(self.step().numpy() for _ in range(steps))

    def __repr__(self):
        return f"{type(self).__name__}({self.model.count_params()})"


results = {}
for trial in itertools.islice(trials(SPACE), 3):
    experiment = Experiment.from_trial(trial)
    results[repr(experiment)] = float(experiment.run())
best, *_ = sorted(results.items(), key=lambda kv: kv[1])
print(json.dumps(best), len(Experiment.models), Experiment.models[0](X[:1]).numpy())
averaged = [np.mean([m.get_weights()[0] for m in Experiment.models[:1]], axis=0)]
print(averaged[0].shape, tf.linalg.norm(averaged[0]).numpy())
