import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def conv_block(x, filters, use_bn=False):
    x = layers.Conv2D(filters, 3, padding="same")(x)
    if use_bn:
        x = layers.BatchNormalization()(x)
    x = layers.LeakyReLU()(x)
    return x


def get_discriminator_model():
    img_input = layers.Input(shape=(4, 4, 1))
    x = conv_block(img_input, 2)
    x = layers.Flatten()(x)
    return keras.models.Model(img_input, layers.Dense(1)(x), name="discriminator")


def get_generator_model():
    noise = layers.Input(shape=(3,))
    x = layers.Dense(16)(noise)
    x = layers.Reshape((4, 4, 1))(x)
    return keras.models.Model(noise, x, name="generator")


class WGAN(keras.Model):
    def __init__(self, discriminator, generator, latent_dim, gp_weight=10.0):
        super().__init__()
        self.discriminator = discriminator
        self.generator = generator
        self.latent_dim = latent_dim
        self.gp_weight = gp_weight

    def compile(self, d_optimizer, g_optimizer, d_loss_fn, g_loss_fn):
        super().compile()
        self.d_optimizer = d_optimizer
        self.g_optimizer = g_optimizer
        self.d_loss_fn = d_loss_fn
        self.g_loss_fn = g_loss_fn

    def gradient_penalty(self, batch_size, real_images, fake_images):
        alpha = tf.random.uniform([batch_size, 1, 1, 1], 0.0, 1.0)
        interpolated = real_images + alpha * (fake_images - real_images)
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = self.discriminator(interpolated, training=True)
        grads = gp_tape.gradient(pred, [interpolated])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1, 2, 3]))
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_step(self, real_images):
        if isinstance(real_images, tuple):
            real_images = real_images[0]
        batch_size = tf.shape(real_images)[0]
        noise = tf.random.normal(shape=(batch_size, self.latent_dim))
        with tf.GradientTape() as tape:
            fake_images = self.generator(noise, training=True)
            d_cost = self.d_loss_fn(self.discriminator(real_images), self.discriminator(fake_images))
            d_loss = d_cost + self.gradient_penalty(batch_size, real_images, fake_images) * self.gp_weight
        d_gradient = tape.gradient(d_loss, self.discriminator.trainable_variables)
        self.d_optimizer.apply_gradients(zip(d_gradient, self.discriminator.trainable_variables))
        with tf.GradientTape() as tape:
            g_loss = self.g_loss_fn(self.discriminator(self.generator(noise, training=True), training=True))
        gen_gradient = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(gen_gradient, self.generator.trainable_variables))
        return {"d_loss": d_loss, "g_loss": g_loss}


class Monitor(keras.callbacks.Callback):
    def __init__(self, num_img=2):
        self.num_img = num_img

    def on_epoch_end(self, epoch, logs=None):
        latent = tf.random.normal(shape=(self.num_img, 3))
        generated = self.model.generator(latent)
        generated = (generated * 127.5) + 127.5
        for i in range(self.num_img):
            img = generated[i].numpy()
            keras.utils.normalize(img)


wgan = WGAN(get_discriminator_model(), get_generator_model(), latent_dim=3)
wgan.compile(
    d_optimizer=keras.optimizers.Adam(2e-4, beta_1=0.5),
    g_optimizer=keras.optimizers.Adam(2e-4, beta_1=0.5),
    d_loss_fn=lambda real, fake: tf.reduce_mean(fake) - tf.reduce_mean(real),
    g_loss_fn=lambda fake: -tf.reduce_mean(fake),
)
wgan.fit(tf.random.normal((4, 4, 4, 1)), batch_size=2, epochs=1, callbacks=[Monitor()], verbose=0)
