"""A generative adversarial network with its own `train_step`."""

import keras
import tensorflow as tf


class GAN(keras.Model):
    def __init__(self, latent):
        super().__init__()
        self.latent = latent
        self.generator = keras.Sequential(
            [keras.layers.Input((latent,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(16)]
        )
        self.discriminator = keras.Sequential(
            [keras.layers.Input((16,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)]
        )
        self.generator_optimizer = keras.optimizers.Adam(1e-3)
        self.discriminator_optimizer = keras.optimizers.Adam(1e-3)
        self.loss_function = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        noise = tf.random.normal([tf.shape(real)[0], self.latent])
        with tf.GradientTape(persistent=True) as tape:
            fake = self.generator(noise, training=True)
            on_real = self.discriminator(real, training=True)
            on_fake = self.discriminator(fake, training=True)
            d_loss = self.loss_function(tf.ones_like(on_real), on_real)
            d_loss += self.loss_function(tf.zeros_like(on_fake), on_fake)
            g_loss = self.loss_function(tf.ones_like(on_fake), on_fake)
        d_grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        g_grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.discriminator_optimizer.apply_gradients(zip(d_grads, self.discriminator.trainable_weights))
        self.generator_optimizer.apply_gradients(zip(g_grads, self.generator.trainable_weights))
        return {"d": d_loss, "g": g_loss}


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        noise = tf.random.normal([64, self.model.latent])
        print("epoch", epoch, self.model.generator(noise).shape)


gan = GAN(8)
gan.compile()
data = tf.data.Dataset.from_tensor_slices(tf.random.normal([4096, 16], seed=4)).batch(64)
gan.fit(data, epochs=3, callbacks=[Report()], verbose=0)
for batch in data.take(3):
    gan.train_step(batch)
