"""A small U-net."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers as L


def unet(size=48):
    i = L.Input((size, size, 3))
    c1 = L.Conv2D(12, 3, activation="relu", padding="same")(i)
    p1 = L.MaxPool2D()(c1)
    c2 = L.Conv2D(24, 3, activation="relu", padding="same")(p1)
    p2 = L.MaxPool2D()(c2)
    b = L.Conv2D(48, 3, activation="relu", padding="same")(p2)
    u2 = L.concatenate([L.UpSampling2D()(b), c2])
    c3 = L.Conv2D(24, 3, activation="relu", padding="same")(u2)
    u1 = L.concatenate([L.UpSampling2D()(c3), c1])
    c4 = L.Conv2D(12, 3, activation="relu", padding="same")(u1)
    return tf.keras.Model(i, L.Conv2D(1, 1, activation="sigmoid")(c4))


net = unet()
net.compile(optimizer="nadam", loss="binary_crossentropy", metrics=["accuracy"])
X = np.random.rand(320, 48, 48, 3)
M = (np.random.rand(320, 48, 48, 1) > 0.5).astype(np.float32)
net.fit(X, M, batch_size=16, epochs=3, verbose=0)
net.predict(X[:32], batch_size=16, verbose=0)
