import contextlib
import json
import os
import sys
import time

import tensorflow as tf
import tensorflow.keras.layers
from tensorflow.keras import callbacks as cb, datasets, metrics

get_mnist = datasets.mnist.load_data


class Timer(contextlib.ContextDecorator):
    def __enter__(self):
        self.start = time.perf_counter()
        return self

    def __exit__(self, *exc):
        self.seconds = time.perf_counter() - self.start


class Runner:
    DEFAULT_OPTIMIZER = tf.keras.optimizers.Adam
    loss = tf.keras.losses.MeanSquaredError()

    def __init__(self, config=None):
        self.config = config or {"layers": [3, 1]}
        self._model = None
        self.summary_writer = tf.summary.create_file_writer("logs")
        self.metric = metrics.Mean()

    @property
    def model(self):
        if self._model is None:
            self._model = self.create()
        return self._model

    def create(self):
        model = tf.keras.Sequential()
        for i, units in enumerate(self.config["layers"]):
            model.add(tensorflow.keras.layers.Dense(units, name=f"dense_{i}"))
        return model

    @Timer()
    def train(self, dataset):
        self.model.compile(optimizer=self.DEFAULT_OPTIMIZER(0.01), loss=self.loss)
        self.history = self.model.fit(dataset, verbose=0, callbacks=[cb.History()])
        return self

    def report(self):
        with self.summary_writer.as_default():
            tf.summary.write("loss", self.history.history["loss"][-1], step=0)
        self.metric.update_state(self.history.history["loss"])
        self.summary_writer.flush()
        return json.dumps({"loss": float(self.metric.result().numpy())})

    def export(self, path):
        self.model.save(path)
        return os.path.getsize(path)


def main(argv):
    ds = tf.data.Dataset.from_tensors((tf.ones((4, 2)), tf.zeros((4, 1))))
    runner = Runner()
    with Timer() as timer:
        text = runner.train(ds).report()
    print(text, runner.export("net.keras"), timer.seconds > 0, len(argv))
    loaded = tf.keras.models.load_model("net.keras")
    loaded.summary(print_fn=lambda text: None)
    runner.model.get_layer("dense_0").set_weights(runner.model.get_layer("dense_0").get_weights())


if __name__ == "__main__":
    main(sys.argv[1:])
