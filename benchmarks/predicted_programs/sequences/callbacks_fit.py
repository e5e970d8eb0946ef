"""Callbacks, a schedule, dropout and L2 in a network for spectra."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers, regularizers

X = np.random.randn(1800, 128, 1).astype(np.float32)
Y = np.random.randint(0, 8, size=1800)
model = keras.Sequential([
    keras.Input(shape=(128, 1)),
    layers.Conv1D(24, 7, padding="same", activation="relu", kernel_regularizer=regularizers.l2(1e-4)),
    layers.MaxPooling1D(2),
    layers.Conv1D(48, 5, padding="same", activation="relu"),
    layers.MaxPooling1D(2),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.4),
    layers.Dense(8, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=keras.optimizers.schedules.ExponentialDecay(1e-3, 100, 0.9)), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(X, Y, batch_size=60, epochs=4, validation_split=0.1, verbose=0,
          callbacks=[keras.callbacks.EarlyStopping(patience=10), keras.callbacks.TerminateOnNaN()])
