"""Keras' fit with a train_step of the model's own."""
import keras
import numpy as np
import tensorflow as tf


class Regressor(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


inputs = keras.Input(shape=(32,))
x = keras.layers.Dense(160, activation="relu")(inputs)
x = keras.layers.Dense(80, activation="relu")(x)
outputs = keras.layers.Dense(1)(x)
model = Regressor(inputs, outputs)
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
x = np.random.random((2560, 32))
y = np.random.random((2560, 1))
model.fit(x, y, epochs=4, verbose=0)
