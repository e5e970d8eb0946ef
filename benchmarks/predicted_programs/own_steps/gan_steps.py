"""Two models trained against each other in one compiled step."""
import tensorflow as tf
from tensorflow.keras import layers

def make_generator():
    return tf.keras.Sequential([
        layers.Input((32,)), layers.Dense(7 * 7 * 24), layers.ReLU(), layers.Reshape((7, 7, 24)),
        layers.Conv2DTranspose(16, 5, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 5, strides=2, padding="same", activation="tanh"),
    ])

def make_discriminator():
    return tf.keras.Sequential([
        layers.Input((28, 28, 1)), layers.Conv2D(16, 5, strides=2, padding="same"), layers.LeakyReLU(0.2),
        layers.Conv2D(32, 5, strides=2, padding="same"), layers.LeakyReLU(0.2), layers.Flatten(), layers.Dense(1),
    ])

generator, discriminator = make_generator(), make_discriminator()
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)

@tf.function
def train_step(images):
    noise = tf.random.normal([32, 32])
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(fake, training=True)
        g_loss = bce(tf.ones_like(fake_output), fake_output)
        d_loss = bce(tf.ones_like(real_output), real_output) + bce(tf.zeros_like(fake_output), fake_output)
    g_opt.apply_gradients(zip(g_tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables))
    d_opt.apply_gradients(zip(d_tape.gradient(d_loss, discriminator.trainable_variables), discriminator.trainable_variables))
    return g_loss, d_loss

data = tf.data.Dataset.from_tensor_slices(tf.random.normal((960, 28, 28, 1))).batch(32)
for epoch in range(2):
    for images in data:
        train_step(images)
