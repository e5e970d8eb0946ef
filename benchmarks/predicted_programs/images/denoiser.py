"""A convolutional autoencoder, targets are the inputs."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Conv2DTranspose, Input, MaxPooling2D
from tensorflow.keras.models import Model

clean = np.random.rand(800, 32, 32, 1).astype("float32")
noisy = np.clip(clean + 0.2 * np.random.randn(*clean.shape), 0, 1).astype("float32")

image = Input((32, 32, 1))
x = Conv2D(20, (3, 3), activation="relu", padding="same")(image)
x = MaxPooling2D((2, 2), padding="same")(x)
x = Conv2D(20, (3, 3), activation="relu", padding="same")(x)
x = MaxPooling2D((2, 2), padding="same")(x)
x = Conv2DTranspose(20, (3, 3), strides=2, activation="relu", padding="same")(x)
x = Conv2DTranspose(20, (3, 3), strides=2, activation="relu", padding="same")(x)
x = Conv2D(1, (3, 3), activation="sigmoid", padding="same")(x)
autoencoder = Model(image, x)
autoencoder.compile(optimizer="adam", loss="binary_crossentropy")
autoencoder.fit(noisy, clean, epochs=3, batch_size=40, shuffle=True, verbose=0)
restored = autoencoder.predict(noisy, batch_size=80, verbose=0)
