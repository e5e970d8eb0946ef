"""Prototypical networks: episodes, distances, a learner that is told by composition."""
import argparse
import os
import random
from functools import partial
from typing import Callable, Iterable, Optional, Tuple

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import BatchNormalization, Conv2D, Flatten, MaxPool2D, ReLU
from tensorflow.keras.models import Sequential


def conv_block(out_channels: int, **kwargs):
    return Sequential([Conv2D(out_channels, 3, padding="same", **kwargs), BatchNormalization(), ReLU(), MaxPool2D(2)])


class Prototypical(tf.keras.Model):
    def __init__(self, n_support, n_query, w=8, h=8, c=1):
        super(Prototypical, self).__init__()
        self.w, self.h, self.c = w, h, c
        self.n_support, self.n_query = n_support, n_query
        self.encoder = tf.keras.Sequential([conv_block(4), conv_block(4), Flatten()])

    def call(self, support, query):
        n_class = support.shape[0]
        y = np.tile(np.arange(n_class)[:, np.newaxis], (1, self.n_query))
        y_onehot = tf.cast(tf.one_hot(y, n_class), tf.float32)
        cat = tf.concat([tf.reshape(support, [-1, self.w, self.h, self.c]),
                         tf.reshape(query, [-1, self.w, self.h, self.c])], axis=0)
        z = self.encoder(cat)
        z_prototypes = tf.reshape(z[:n_class * self.n_support], [n_class, self.n_support, z.shape[-1]])
        z_prototypes = tf.math.reduce_mean(z_prototypes, axis=1)
        z_query = z[n_class * self.n_support:]
        dists = calc_euclidian_dists(z_query, z_prototypes)
        log_p_y = tf.nn.log_softmax(-dists, axis=-1)
        log_p_y = tf.reshape(log_p_y, [n_class, self.n_query, -1])
        loss = -tf.reduce_mean(tf.reshape(tf.reduce_sum(tf.multiply(y_onehot, log_p_y), axis=-1), [-1]))
        eq = tf.cast(tf.equal(tf.cast(tf.argmax(log_p_y, axis=-1), tf.int32), tf.cast(y, tf.int32)), tf.float32)
        return loss, tf.reduce_mean(eq)

    def save(self, model_path):
        self.encoder.save(model_path)

    def load(self, model_path):
        encoder_path = os.path.join(model_path)
        self.encoder(tf.zeros([1, self.w, self.h, self.c]))
        self.encoder.load_weights(encoder_path)


def calc_euclidian_dists(x, y):
    n = x.shape[0]
    m = y.shape[0]
    x = tf.tile(tf.expand_dims(x, 1), [1, m, 1])
    y = tf.tile(tf.expand_dims(y, 0), [n, 1, 1])
    return tf.reduce_mean(tf.math.pow(x - y, 2), 2)


class EpisodeLoader(object):
    def __init__(self, data, n_classes, n_way, n_support, n_query):
        self.data, self.n_classes, self.n_way = data, n_classes, n_way
        self.n_support, self.n_query = n_support, n_query

    def get_next_episode(self) -> Tuple[np.ndarray, np.ndarray]:
        shape = (self.n_way, self.n_support) + self.data.shape[2:]
        support, query = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        for i, i_class in enumerate(np.random.permutation(self.n_classes)[:self.n_way]):
            selected = np.random.permutation(self.data.shape[1])[:self.n_support + self.n_query]
            support[i] = self.data[i_class, selected[:self.n_support]]
            query[i] = self.data[i_class, selected[self.n_support:]]
        return support, query


class TrainEngine:
    def __init__(self):
        self.hooks = {name: lambda state: None for name in ["on_start", "on_start_episode", "on_end_episode", "on_end"]}

    def train(self, loss_func, loader, epochs, n_episodes, **kwargs):
        state = dict(loader=loader, sample=None, epoch=1, epochs=epochs, **kwargs)
        self.hooks["on_start"](state)
        for _ in range(epochs):
            for _ in range(n_episodes):
                support, query = loader.get_next_episode()
                state["sample"] = (support, query)
                self.hooks["on_start_episode"](state)
                self.hooks["on_end_episode"](state)
                loss_func(support, query)
            state["epoch"] += 1
        self.hooks["on_end"](state)
        return state


def main(config):
    random.seed(1)
    data = np.random.rand(6, 8, 8, 8, 1)
    model = Prototypical(config.support, config.query)
    optimizer = tf.keras.optimizers.Adam(config.lr)
    train_loss = tf.metrics.Mean(name="train_loss")
    train_acc = tf.metrics.Mean(name="train_accuracy")

    @tf.function
    def loss(support, query):
        loss, acc = model(support, query)
        return loss, acc

    @tf.function
    def train_step(loss_func, support, query):
        with tf.GradientTape() as tape:
            loss, acc = model(support, query)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        train_loss(loss)
        train_acc(acc)

    engine = TrainEngine()

    def on_start(state):
        print("Training started.")
        train_loss.reset_state()

    def on_end_episode(state):
        support, query = state["sample"]
        loss_value, _ = loss(support, query)
        print(f"loss {loss_value.numpy():.3f} mean {train_loss.result():.3f} acc {train_acc.result().numpy():.2f}")

    engine.hooks["on_start"] = on_start
    engine.hooks["on_end_episode"] = on_end_episode
    loader = EpisodeLoader(data, 6, config.way, config.support, config.query)
    state = engine.train(loss_func=partial(train_step, loss), loader=loader, epochs=1, n_episodes=2)
    model.save("proto.keras")
    again = tf.keras.models.load_model("proto.keras")
    print(state["epoch"], again(tf.zeros([1, 8, 8, 1])).shape, again.count_params())


parser = argparse.ArgumentParser()
for name, kind, default in [("way", int, 3), ("support", int, 2), ("query", int, 2), ("lr", float, 1e-3)]:
    parser.add_argument(f"--{name}", type=kind, default=default)
main(parser.parse_args([]))
