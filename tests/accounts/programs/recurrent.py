"""A character model: an LSTM, and text drawn from it."""

import keras
import numpy as np

text = "the quick brown fox jumps over the lazy dog and runs back home again " * 30
letters = sorted(set(text))
index = {letter: number for number, letter in enumerate(letters)}
length = 20
starts = range(0, len(text) - length, 3)
x = np.array([[index[letter] for letter in text[start : start + length]] for start in starts])
y = np.array([index[text[start + length]] for start in starts])
model = keras.Sequential(
    [
        keras.layers.Input((length,)),
        keras.layers.Embedding(len(letters), 16),
        keras.layers.LSTM(48),
        keras.layers.Dense(len(letters), activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, batch_size=64, epochs=2, verbose=0)
seed = x[0].tolist()
for _ in range(12):
    following = model.predict(np.array([seed]), verbose=0)
    seed = seed[1:] + [int(following.argmax())]
print("".join(letters[number] for number in seed))
