import contextlib
import logging
import random
import time

import numpy as np
import tensorflow as tf

logger = logging.getLogger("detector")


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)


@contextlib.contextmanager
def timer(name):
    start = time.perf_counter()
    yield
    logger.info("%s took %.2f s", name, time.perf_counter() - start)


class Averages:
    def __init__(self, *names):
        self._metrics = {name: tf.keras.metrics.Mean(name=name) for name in names}

    def update(self, **values):
        for name, value in values.items():
            self._metrics[name].update_state(value)

    def __getitem__(self, name):
        return self._metrics[name]

    def result(self):
        return {name: metric.result() for name, metric in self._metrics.items()}

    def reset(self):
        for metric in self._metrics.values():
            metric.reset_state()
