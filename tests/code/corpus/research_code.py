"""As published with papers: argparse, a config object, losses by name, EMA, gradient accumulation."""
import argparse
import collections
import functools
import os
import time
from types import SimpleNamespace

import tensorflow as tf
import tensorflow.keras as tfk
import tensorflow.keras.layers as tfkl

tfd = tf.data
FLAGS = SimpleNamespace(lr=1e-3, steps=2, accum=2, ema=0.9, loss="mse")


class PreNorm(tfkl.Layer):
    def __init__(self, fn, **kw):
        super().__init__(**kw)
        self.norm = tfkl.LayerNormalization(epsilon=1e-5)
        self.fn = fn

    def call(self, x, *args, **kwargs):
        return self.fn(self.norm(x), *args, **kwargs)


class FeedForward(tfkl.Layer):
    def __init__(self, dim, mult=2):
        super().__init__()
        self.net = tfk.Sequential([tfkl.Dense(dim * mult), tfkl.Lambda(lambda t: tf.nn.gelu(t)), tfkl.Dense(dim)])

    def call(self, x, training=True):
        return self.net(x, training=training)


class Stack(tfk.Model):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers_ = []
        for _ in range(depth):
            self.layers_.append([PreNorm(FeedForward(dim)), tfkl.Dropout(0.0)])
        self.head = tfk.Sequential([tfkl.LayerNormalization(), tfkl.Dense(1)])
        self.pos = tf.Variable(initial_value=tf.random.normal([1, dim]), name="pos")

    def call(self, x, training=False):
        x += self.pos
        for ff, drop in self.layers_:
            x = drop(ff(x), training=training) + x
        return self.head(x)


LOSSES = {
    "mse": tfk.losses.MeanSquaredError(),
    "mae": tfk.losses.MeanAbsoluteError(),
}


def get_loss(name):
    try:
        return LOSSES[name]
    except KeyError:
        raise ValueError(name)


def make_optimizer(flags):
    schedule = tfk.optimizers.schedules.PolynomialDecay(flags.lr, 10)
    return tfk.optimizers.Adam(schedule)


def accumulate(total, new):
    return [t + n for t, n in zip(total, new)] if total else list(new)


class EMA:
    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.shadow = [tf.identity(w) for w in model.trainable_variables]

    def update(self):
        for i, w in enumerate(self.model.trainable_variables):
            self.shadow[i] = self.decay * self.shadow[i] + (1 - self.decay) * tf.convert_to_tensor(w)

    def swap(self):
        for w, s in zip(self.model.trainable_variables, self.shadow):
            w.assign(s)


def train(flags):
    ds = tfd.Dataset.from_tensor_slices(tf.random.normal([8, 4])).batch(2).repeat()
    it = iter(ds)
    model = Stack(4, 2)
    model(tf.zeros([1, 4]))
    loss_fn, opt = get_loss(flags.loss), make_optimizer(flags)
    ema = EMA(model, flags.ema)
    logs = collections.defaultdict(list)
    for step in range(flags.steps):
        grads = None
        for _ in range(flags.accum):
            batch = next(it)
            with tf.GradientTape() as tape:
                pred = model(batch, training=True)
                loss = loss_fn(tf.reduce_sum(batch, -1, keepdims=True), pred)
            grads = accumulate(grads, tape.gradient(loss, model.trainable_variables))
        grads = [tf.clip_by_norm(g / flags.accum, 1.0) for g in grads]
        opt.apply_gradients(zip(grads, model.trainable_variables))
        ema.update()
        logs["loss"].append(loss.numpy())
    ema.swap()
    return model, logs


@functools.lru_cache(maxsize=None)
def sinusoid(n):
    position = tf.range(n, dtype=tf.float32)[:, None]
    return tf.concat([tf.sin(position), tf.cos(position)], -1)


def main(_):
    begin = time.time()
    model, logs = train(FLAGS)
    print(logs["loss"], sinusoid(3).numpy().shape, time.time() - begin > 0)
    out = model.predict(tf.zeros([2, 4]), verbose=0)
    print(out.mean(), os.path.basename(__file__)[:1])
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.parse_known_args([])
    main(None)
