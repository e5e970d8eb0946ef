"""Linear regression with a training loop of its own: tf.GradientTape, an optimizer, and a loss written by hand."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import tensorflow as tf

FEATURES = 64


def make_data(rows: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    inputs = tf.random.stateless_normal((rows, FEATURES), seed=(1, 2))
    truth = tf.random.stateless_normal((FEATURES, 1), seed=(3, 4))
    noise = tf.random.stateless_normal((rows, 1), seed=(5, 6)) * 0.01
    return inputs, tf.matmul(inputs, truth) + noise, truth


class Regression(keras.Model):
    """One dense layer, called by the loop below."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        return self.dense(inputs)


def train_step(model, optimizer, inputs, targets):
    with tf.GradientTape() as tape:
        predictions = model(inputs, training=True)
        loss = tf.reduce_mean(tf.square(predictions - targets))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def distance(left, right):
    return tf.sqrt(tf.reduce_sum(tf.square(left - right)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--rows", type=int, default=4096)
    options = parser.parse_args()

    inputs, targets, truth = make_data(options.rows)
    model = Regression()
    optimizer = keras.optimizers.Adam(learning_rate=0.05)
    steps = tf.Variable(0)
    history = tf.zeros([0])
    for step in range(options.steps):
        loss = train_step(model, optimizer, inputs, targets)
        steps.assign(steps + 1)
        if step % 100 == 0:
            history = tf.concat([history, loss[None]], axis=0)

    print("steps", int(steps))
    print("loss fell:", bool(tf.reduce_all(history[1:] < history[:-1])))
    print("close to the truth:", bool(distance(model.dense.kernel, truth) < 0.1))
    energy = tf.pow(targets, 2)
    print("mean square of the targets over 1:", bool(tf.reduce_mean(energy) > 1.0))


if __name__ == "__main__":
    main()
