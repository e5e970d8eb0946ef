"""A variational autoencoder of dense layers, with add_loss in a sampling layer."""
import keras
import numpy as np
from keras import layers, ops


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        mean, log_var = inputs
        noise = keras.random.normal(shape=ops.shape(mean), seed=self.seed_generator)
        self.add_loss(-0.5 * ops.mean(1 + log_var - ops.square(mean) - ops.exp(log_var)))
        return mean + ops.exp(0.5 * log_var) * noise


pixels = keras.Input((784,))
h = layers.Dense(256, activation="relu")(pixels)
mean = layers.Dense(16)(h)
log_var = layers.Dense(16)(h)
z = Sampling()([mean, log_var])
h = layers.Dense(256, activation="relu")(z)
image = layers.Dense(784, activation="sigmoid")(h)
vae = keras.Model(pixels, image)
vae.compile(optimizer="adam", loss="mse")
x = np.random.rand(3000, 784).astype("float32")
vae.fit(x, x, epochs=3, batch_size=100, verbose=0)
