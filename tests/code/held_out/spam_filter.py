#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Spam filter from a course repository."""
from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Iterable, Optional, Tuple

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential
from tensorflow.keras.layers import (
    Dense,
    Dropout,
    Embedding,
    GlobalAveragePooling1D,
)

logger = logging.getLogger(__name__)
Vocabulary = dict[str, int]


class Corpus:
    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = list(lines)
        self.vocabulary: Vocabulary = {}

    def fit(self) -> "Corpus":
        for line in self.lines:
            for word in line.split():
                self.vocabulary.setdefault(word, len(self.vocabulary) + 1)
        return self

    def transform(self, length: int = 4) -> np.ndarray:
        rows = [[self.vocabulary[w] for w in line.split()][:length] for line in self.lines]
        return tf.keras.preprocessing.sequence.pad_sequences(rows, maxlen=length, padding="post")


def create_classifier(vocab_size: int, dim: int = 4) -> tf.keras.Model:
    net = Sequential(
        [Embedding(vocab_size, dim), GlobalAveragePooling1D(), Dropout(0.1), Dense(1, activation="sigmoid")]
    )
    net.compile(loss="binary_crossentropy", optimizer=tf.keras.optimizers.Adam(1e-2), metrics=["accuracy"])
    return net


def split(x: np.ndarray, y: np.ndarray, ratio: float = 0.5) -> Tuple[tf.data.Dataset, tf.data.Dataset]:
    cut = int(len(x) * ratio)
    make = lambda a, b: tf.data.Dataset.from_tensor_slices((a, b)).batch(2)
    return make(x[:cut], y[:cut]), make(x[cut:], y[cut:])


def main(argv: Optional[list[str]] = None) -> int:
    corpus = Corpus(["win money now", "hello dear friend", "free money", "see you now"]).fit()
    x, y = corpus.transform(), np.array([1, 0, 1, 0])
    train, test = split(x, y)
    classifier = create_classifier(len(corpus.vocabulary) + 1)
    history = classifier.fit(train, validation_data=test, epochs=1, verbose=0)
    logger.info("loss %.3f", history.history["loss"][0])
    scores = classifier.predict(x, verbose=0).ravel()
    for text, score in zip(corpus.lines, scores):
        print(f"{text:<20} {score:.2f}")
    threshold = tf.constant(0.5)
    hits = tf.math.count_nonzero(tf.greater(scores, threshold))
    print(hits.numpy(), Path(sys.argv[0]).name)
    classifier.save(Path("spam.keras"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
