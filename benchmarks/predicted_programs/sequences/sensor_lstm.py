"""Two LSTM layers over windows of a series, in a main function."""
import numpy as np
from tensorflow import keras

WINDOW = 36
CHANNELS = 6


def windows(count):
    rng = np.random.default_rng(4)
    return rng.random((count, WINDOW, CHANNELS), dtype=np.float32), rng.random((count, 1), dtype=np.float32)


def main():
    x_train, y_train = windows(1200)
    x_test, y_test = windows(240)
    model = keras.models.Sequential()
    model.add(keras.layers.Input(shape=(WINDOW, CHANNELS)))
    model.add(keras.layers.LSTM(40, return_sequences=True))
    model.add(keras.layers.LSTM(20))
    model.add(keras.layers.Dense(1))
    model.compile(loss="mae", optimizer="rmsprop")
    model.fit(x_train, y_train, epochs=3, batch_size=40, validation_data=(x_test, y_test), verbose=0)
    model.evaluate(x_test, y_test, verbose=0)


if __name__ == "__main__":
    main()
