"""A variational autoencoder, trained and then used to draw a grid of images."""

import keras
import numpy as np
import tensorflow as tf


class Sampling(keras.layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))


class VAE(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(data)
            loss = tf.reduce_mean(tf.square(self.decoder(z) - data))
            loss += tf.reduce_mean(-0.5 * (1 + log_var - tf.square(mean) - tf.exp(log_var)))
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        return {"loss": loss}


inputs = keras.Input((28, 28, 1))
hidden = keras.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(inputs)
hidden = keras.layers.Dense(16, activation="relu")(keras.layers.Flatten()(hidden))
mean, log_var = keras.layers.Dense(2)(hidden), keras.layers.Dense(2)(hidden)
encoder = keras.Model(inputs, [mean, log_var, Sampling()([mean, log_var])])
latent = keras.Input((2,))
hidden = keras.layers.Reshape((7, 7, 8))(keras.layers.Dense(7 * 7 * 8, activation="relu")(latent))
hidden = keras.layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu")(hidden)
decoder = keras.Model(latent, keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same")(hidden))
vae = VAE(encoder, decoder)
vae.compile(optimizer=keras.optimizers.Adam())
vae.fit(
    np.random.default_rng(1).random((512, 28, 28, 1)).astype("float32"), epochs=1, batch_size=64, verbose=0
)
figure = np.zeros((28 * 4, 28 * 4))
for row in range(4):
    for column in range(4):
        image = vae.decoder.predict(np.array([[row - 2.0, column - 2.0]]), verbose=0)
        figure[row * 28 : (row + 1) * 28, column * 28 : (column + 1) * 28] = image[0, :, :, 0]
print(figure.shape)
