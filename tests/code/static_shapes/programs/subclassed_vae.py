import tensorflow as tf
import numpy as np

class Encoder(tf.keras.layers.Layer):
    def __init__(self, latent_dim=8, intermediate_dim=16, name="encoder", **kwargs):
        super().__init__(name=name, **kwargs)
        self.dense_proj = tf.keras.layers.Dense(intermediate_dim, activation="relu")
        self.dense_mean = tf.keras.layers.Dense(latent_dim)
        self.dense_log_var = tf.keras.layers.Dense(latent_dim)

    def call(self, inputs):
        x = self.dense_proj(inputs)
        z_mean = self.dense_mean(x)
        z_log_var = self.dense_log_var(x)
        batch = tf.shape(z_mean)[0]
        dim = tf.shape(z_mean)[1]
        epsilon = tf.random.normal(shape=(batch, dim))
        return z_mean, z_log_var, z_mean + tf.exp(0.5 * z_log_var) * epsilon

class Linear(tf.keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True)
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True)
    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b

class VAE(tf.keras.Model):
    def __init__(self, original_dim):
        super().__init__()
        self.encoder = Encoder()
        self.lin = Linear(16)
        self.out = tf.keras.layers.Dense(original_dim, activation="sigmoid")
    def call(self, inputs):
        z_mean, z_log_var, z = self.encoder(inputs)
        return self.out(tf.nn.relu(self.lin(z)))

x_train = np.random.rand(96, 64).astype("float32")
vae = VAE(64)
optimizer = tf.keras.optimizers.Adam(1e-3)
mse = tf.keras.losses.MeanSquaredError()
dataset = tf.data.Dataset.from_tensor_slices(x_train).shuffle(buffer_size=96).batch(32)

@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        reconstructed = vae(batch, training=True)
        loss = mse(batch, reconstructed)
        loss += tf.reduce_mean(tf.square(reconstructed))
    grads = tape.gradient(loss, vae.trainable_weights)
    optimizer.apply_gradients(zip(grads, vae.trainable_weights))
    return loss

for epoch in range(2):
    for step, batch in enumerate(dataset):
        loss = train_step(batch)
    print(epoch, float(loss))

vae2 = VAE(64)
vae2.compile(optimizer="adam", loss="mse")
vae2.fit(x_train, x_train, epochs=1, batch_size=16, verbose=0)
out = vae2(x_train[:4])
print(tf.reduce_max(out, axis=-1))
