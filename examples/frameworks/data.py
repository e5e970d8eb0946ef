"""The same synthetic data for both frameworks: NumPy alone, with a seed."""

import argparse

import numpy as np


def options(samples: int, epochs: int) -> argparse.Namespace:
    """What all programs of the study take."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=samples)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch", type=int, default=64)
    return parser.parse_args()


def ratings(samples: int, users: int, items: int):
    """Users, items, and whether the one liked the other."""
    rng = np.random.default_rng(1)
    taste, kind = rng.normal(size=(users, 4)), rng.normal(size=(items, 4))
    user, item = rng.integers(users, size=samples), rng.integers(items, size=samples)
    liked = (taste[user] * kind[item]).sum(axis=1) > 0
    return user.astype("int32"), item.astype("int32"), liked.astype("float32")


def sentences(samples: int, length: int, words: int):
    """Token sequences whose class is the parity of a marked word's place."""
    rng = np.random.default_rng(2)
    text = rng.integers(2, words, size=(samples, length))
    place = rng.integers(length, size=samples)
    text[np.arange(samples), place] = 1
    return text.astype("int32"), (place < length // 2).astype("float32")


def pictures(samples: int, side: int, classes: int):
    """Noise with a bright square, whose quadrant is the class; channels last."""
    rng = np.random.default_rng(3)
    image = rng.normal(scale=0.3, size=(samples, side, side, 3)).astype("float32")
    label = rng.integers(classes, size=samples)
    half = side // 2
    for number, quadrant in enumerate(label):
        row, column = divmod(int(quadrant), 2)
        image[number, row * half : row * half + half // 2, column * half : column * half + half // 2] += 1.0
    return image, label.astype("int64")
