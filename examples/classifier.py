"""A small image classifier on synthetic digits: builds, trains, evaluates, predicts one picture at a time."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

PICTURES = 2048
SIDE = 16
CLASSES = 4


def make_pictures(seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Bright bars in one of four places, under noise."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, CLASSES, PICTURES)
    pictures = random.normal(0.0, 0.4, (PICTURES, SIDE, SIDE, 1)).astype("float32")
    for picture, label in zip(pictures, labels):
        picture[label * 4 : label * 4 + 3, :, 0] += 1.0
    return pictures, labels


def build_model() -> keras.Model:
    """Two convolutions and a softmax."""
    model = keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(16, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(CLASSES, activation="softmax"),
        ]
    )
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main() -> None:
    keras.utils.set_random_seed(1)
    pictures, labels = make_pictures()
    model = build_model()
    model.fit(pictures, labels, epochs=2, batch_size=64, verbose=0)
    loss, accuracy = model.evaluate(pictures, labels, batch_size=256, verbose=0)
    print(f"accuracy {accuracy:.2f}")

    hits = 0
    for start in range(0, 16):
        scores = model.predict(pictures[start : start + 1], verbose=0)
        hits += int(tf.argmax(tf.nn.softmax(scores), axis=-1)[0]) == labels[start]
    print(f"{hits} of 16 single pictures right")

    weights = tf.concat([tf.reshape(weight, [-1]) for weight in model.get_weights()], axis=0)
    penalty = tf.reduce_sum(tf.square(weights)) / 2
    print("penalty is positive:", bool(penalty > 0))


if __name__ == "__main__":
    main()
