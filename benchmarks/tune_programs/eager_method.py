"""eager method: a small program of ordinary make for benchmarks/tune_table.py."""

import tensorflow as tf
from tensorflow import keras


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        self.loss_fn = keras.losses.MeanSquaredError()
        self.loss_tracker = keras.metrics.Mean()

    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            prediction = self.model(x, training=True)
            loss = self.loss_fn(y, prediction)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        self.loss_tracker.update_state(loss)
        return loss

    def fit(self, dataset, epochs):
        for epoch in range(epochs):
            self.loss_tracker.reset_state()
            for x, y in dataset:
                self.train_step(x, y)
            print(f"epoch {epoch + 1}: loss {self.loss_tracker.result().numpy():.4f}")


keras.utils.set_random_seed(0)
x = tf.random.normal((3000, 20))
y = tf.reduce_sum(x, axis=1, keepdims=True)
model = keras.Sequential(
    [
        keras.Input((20,)),
        keras.layers.Dense(64, "relu"),
        keras.layers.Dense(32, "relu"),
        keras.layers.Dense(1),
    ]
)
Trainer(model).fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(32), 4)
