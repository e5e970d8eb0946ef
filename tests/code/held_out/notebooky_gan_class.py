# GAN collected in one class, people-on-github style (eriklindernoren like)
from __future__ import print_function, division

from tensorflow.keras.layers import Input, Dense, Reshape, Flatten, Dropout, multiply, Embedding
from tensorflow.keras.layers import BatchNormalization, Activation, ZeroPadding2D, LeakyReLU
from tensorflow.keras.layers import UpSampling2D, Conv2D
from tensorflow.keras.models import Sequential, Model
from tensorflow.keras.optimizers import Adam
import tensorflow.keras.backend as K
import tensorflow as tf

import sys
import numpy as np


class CGAN():
    def __init__(self):
        # Input shape
        self.img_rows = 8
        self.img_cols = 8
        self.channels = 1
        self.img_shape = (self.img_rows, self.img_cols, self.channels)
        self.num_classes = 3
        self.latent_dim = 10

        optimizer = Adam(0.0002, 0.5)

        # Build and compile the discriminator
        self.discriminator = self.build_discriminator()
        self.discriminator.compile(loss=['binary_crossentropy'], optimizer=optimizer, metrics=['accuracy'])

        # Build the generator
        self.generator = self.build_generator()

        noise = Input(shape=(self.latent_dim,))
        label = Input(shape=(1,))
        img = self.generator([noise, label])

        # For the combined model we will only train the generator
        self.discriminator.trainable = False
        valid = self.discriminator([img, label])
        self.combined = Model([noise, label], valid)
        self.combined.compile(loss=['binary_crossentropy'], optimizer=Adam(0.0002, 0.5))

    def build_generator(self):
        model = Sequential()
        model.add(Dense(16, input_dim=self.latent_dim))
        model.add(LeakyReLU(negative_slope=0.2))
        model.add(BatchNormalization(momentum=0.8))
        model.add(Dense(4 * 4 * 2))
        model.add(Reshape((4, 4, 2)))
        model.add(UpSampling2D())
        model.add(Conv2D(4, kernel_size=3, padding="same"))
        model.add(Activation("relu"))
        model.add(Conv2D(self.channels, kernel_size=3, padding="same", activation='tanh'))
        model.summary()

        noise = Input(shape=(self.latent_dim,))
        label = Input(shape=(1,), dtype='int32')
        label_embedding = Flatten()(Embedding(self.num_classes, self.latent_dim)(label))
        model_input = multiply([noise, label_embedding])
        img = model(model_input)
        return Model([noise, label], img)

    def build_discriminator(self):
        model = Sequential()
        model.add(Dense(16, input_dim=np.prod(self.img_shape)))
        model.add(LeakyReLU(negative_slope=0.2))
        model.add(Dropout(0.4))
        model.add(Dense(1, activation='sigmoid'))
        model.summary()

        img = Input(shape=self.img_shape)
        label = Input(shape=(1,), dtype='int32')
        label_embedding = Flatten()(Embedding(self.num_classes, int(np.prod(self.img_shape)))(label))
        flat_img = Flatten()(img)
        model_input = multiply([flat_img, label_embedding])
        validity = model(model_input)
        return Model([img, label], validity)

    def train(self, epochs, batch_size=128, sample_interval=50):
        X_train, y_train = np.random.rand(32, 8, 8), np.random.randint(0, 3, 32)
        X_train = (X_train.astype(np.float32) - 0.5) / 0.5
        X_train = np.expand_dims(X_train, axis=3)
        y_train = y_train.reshape(-1, 1)
        valid = np.ones((batch_size, 1))
        fake = np.zeros((batch_size, 1))

        for epoch in range(epochs):
            idx = np.random.randint(0, X_train.shape[0], batch_size)
            imgs, labels = X_train[idx], y_train[idx]
            noise = np.random.normal(0, 1, (batch_size, 10))
            gen_imgs = self.generator.predict([noise, labels], verbose=0)

            self.discriminator.trainable = True
            d_loss_real = self.discriminator.train_on_batch([imgs, labels], valid)
            d_loss_fake = self.discriminator.train_on_batch([gen_imgs, labels], fake)
            d_loss = 0.5 * np.add(d_loss_real, d_loss_fake)
            self.discriminator.trainable = False

            sampled_labels = np.random.randint(0, self.num_classes, batch_size).reshape(-1, 1)
            g_loss = self.combined.train_on_batch([noise, sampled_labels], valid)
            print("%d [D loss: %f, acc.: %.2f%%] [G loss: %f]" % (epoch, d_loss[0], 100*d_loss[1], g_loss))
            if epoch % sample_interval == 0:
                self.sample_images(epoch)

    def sample_images(self, epoch):
        r, c = 1, 3
        noise = np.random.normal(0, 1, (r * c, self.latent_dim))
        sampled_labels = np.arange(0, 3).reshape(-1, 1)
        gen_imgs = self.generator.predict([noise, sampled_labels], verbose=0)
        gen_imgs = 0.5 * gen_imgs + 0.5
        print("saving", epoch, gen_imgs.shape)

    def save_model(self):
        def save(model, model_name):
            options = {"file_arch": model_name + '.json', "file_weight": model_name + '.weights.h5'}
            json_string = model.to_json()
            open(options['file_arch'], 'w').write(json_string)
            model.save_weights(options['file_weight'])

        save(self.generator, "cgan_generator")
        save(self.discriminator, "cgan_discriminator")


def gradient_penalty_loss(y_true, y_pred, averaged_samples, tape):
    gradients = tape.gradient(y_pred, averaged_samples)
    gradients_sqr = K.square(gradients)
    gradients_sqr_sum = K.sum(gradients_sqr, axis=list(range(1, len(gradients_sqr.shape))))
    gradient_l2_norm = K.sqrt(gradients_sqr_sum)
    return K.mean(K.square(1 - gradient_l2_norm))


class RandomWeightedAverage(tf.keras.layers.Layer):
    """Provides a (random) weighted average between real and generated image samples"""
    def call(self, inputs):
        alpha = K.random_uniform((tf.shape(inputs[0])[0], 1, 1, 1))
        return (alpha * inputs[0]) + ((1 - alpha) * inputs[1])


if __name__ == '__main__':
    cgan = CGAN()
    cgan.train(epochs=2, batch_size=4, sample_interval=2)
    cgan.save_model()
    real, fake = tf.ones((2, 8, 8, 1)), tf.zeros((2, 8, 8, 1))
    mix = RandomWeightedAverage()([real, fake])
    with tf.GradientTape() as tape:
        tape.watch(mix)
        out = cgan.discriminator([mix, tf.zeros((2, 1))])
    print(gradient_penalty_loss(None, out, mix, tape).numpy())
    restored = tf.keras.models.model_from_json(open("cgan_generator.json").read())
    restored.load_weights("cgan_generator.weights.h5")
    print([l.name for l in restored.layers], restored.predict([np.zeros((1, 10)), np.zeros((1, 1))], verbose=0).shape)
