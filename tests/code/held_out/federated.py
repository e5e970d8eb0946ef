"""Averaging the weights of several clients, in the style of a research script."""
import copy
import itertools as it
import math
import typing as t

import numpy as np
import tensorflow as tf
import tensorflow.keras as keras
import tensorflow.math as tfm
import tensorflow.nn as F

Weights = t.List[np.ndarray]
NUM_CLIENTS: t.Final = 2


def model_fn() -> keras.Sequential:
    return keras.models.Sequential([keras.layers.Input(shape=(3,)), keras.layers.Dense(2), keras.layers.Softmax()])


class Client:
    counter = it.count()
    optimizer_class = keras.optimizers.SGD

    def __init__(self, data: tf.data.Dataset, lr: float = 0.1):
        self.id = next(self.counter)
        self.data = data
        self.net = model_fn()
        self.opt = self.optimizer_class(learning_rate=lr)

    def set_parameters(self, parameters: Weights) -> None:
        self.net.set_weights(parameters)

    def train(self, epochs: int = 1) -> t.Tuple[Weights, float]:
        losses: t.List[tf.Tensor] = []
        for _ in range(epochs):
            for features, label in self.data:
                losses.append(self._step(features, label))
        return self.net.get_weights(), tfm.reduce_mean(losses).numpy()

    def _step(self, features: tf.Tensor, label: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            out = self.net(features, training=True)
            loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(label, out))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss


class Server:
    def __init__(self, clients: t.Sequence[Client]):
        self.clients = clients
        self.model = keras.models.clone_model(clients[0].net)

    def aggregate(self, results: t.List[Weights]) -> Weights:
        return [np.mean(ws, axis=0) for ws in zip(*results)]

    def round(self) -> float:
        start = self.model.get_weights()
        updates, losses = [], []
        for client in self.clients:
            client.set_parameters(copy.deepcopy(start))
            weights, loss = client.train()
            updates.append(weights)
            losses.append(loss)
        self.model.set_weights(self.aggregate(updates))
        return float(np.mean(losses))

    def evaluate(self, ds: tf.data.Dataset):
        correct = [tf.reduce_mean(tf.cast(tf.argmax(self.model(x), -1) == y, tf.float32)) for x, y in ds]
        return tf.add_n(correct).numpy() / len(correct)


def make_client_data(seed: int) -> tf.data.Dataset:
    gen = tf.random.Generator.from_seed(seed)
    xs = gen.normal((6, 3))
    ys = tf.cast(tf.reduce_sum(xs, 1) > 0, tf.int64)
    return tf.data.Dataset.from_tensor_slices((xs, ys)).batch(3)


clients = [Client(make_client_data(i)) for i in range(NUM_CLIENTS)]
server = Server(clients)
for r in range(2):
    print(r, math.floor(server.round()), server.evaluate(clients[0].data))
print(F.softmax(tf.constant([1.0, 2.0])).numpy(), F.l2_loss(tf.ones(3)).numpy(), clients[-1].net.predict(np.ones((1, 3)), verbose=0))
