"""A small GAN, written like the tutorial."""
import time

import tensorflow as tf
from tensorflow.keras import layers

BATCH = 4
NOISE = 8


def make_generator_model():
    model = tf.keras.Sequential()
    model.add(layers.Dense(4 * 4 * 4, use_bias=False, input_shape=(NOISE,)))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Reshape((4, 4, 4)))
    assert model.output_shape == (None, 4, 4, 4)
    model.add(layers.Conv2DTranspose(1, (3, 3), strides=(2, 2), padding="same", activation="tanh"))
    return model


def make_discriminator_model():
    model = tf.keras.Sequential(
        [layers.Conv2D(4, 3, strides=2, padding="same"), layers.LeakyReLU(), layers.Dropout(0.3), layers.Flatten()]
    )
    model.add(layers.Dense(1))
    return model


generator = make_generator_model()
discriminator = make_discriminator_model()
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), fake_output)


generator_optimizer = tf.keras.optimizers.Adam(1e-4)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-4)


@tf.function
def train_step(images):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated, training=True)
        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gen_gradients = gen_tape.gradient(gen_loss, generator.trainable_variables)
    disc_gradients = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gen_gradients, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(disc_gradients, discriminator.trainable_variables))
    return gen_loss, disc_loss


def train(dataset, epochs):
    for epoch in range(epochs):
        start = time.time()
        for image_batch in dataset:
            g, d = train_step(image_batch)
        print(f"epoch {epoch} took {time.time() - start:.1f}s: {g.numpy():.3f} {float(d):.3f}")
        generate_and_save(generator, epoch + 1, tf.random.normal([2, NOISE]))


def generate_and_save(model, epoch, test_input):
    predictions = model(test_input, training=False)
    for i in range(predictions.shape[0]):
        pixels = predictions[i, :, :, 0] * 127.5 + 127.5
        print(epoch, pixels.numpy().mean())


images = tf.random.uniform((8, 8, 8, 1))
discriminator(images)
train_dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(8).batch(BATCH)
train(train_dataset, 1)
print(generator.count_params(), discriminator.summary())
