"""A functional model with two inputs and two outputs."""
import keras
import numpy as np

title = keras.Input(shape=(30,), dtype="int32", name="title")
numbers = keras.Input(shape=(12,), name="numbers")
words = keras.layers.Embedding(3000, 32)(title)
words = keras.layers.Conv1D(48, 3, activation="relu")(words)
words = keras.layers.GlobalMaxPooling1D()(words)
table = keras.layers.Dense(64, activation="relu")(numbers)
both = keras.layers.concatenate([words, table])
both = keras.layers.Dense(64, activation="relu")(both)
urgent = keras.layers.Dense(1, name="urgent", activation="sigmoid")(both)
group = keras.layers.Dense(4, name="group", activation="softmax")(both)
model = keras.Model([title, numbers], [urgent, group])
model.compile(
    optimizer="adam",
    loss={"urgent": "binary_crossentropy", "group": "sparse_categorical_crossentropy"},
)
samples = 2400
titles = np.random.randint(0, 3000, (samples, 30))
tables = np.random.rand(samples, 12).astype("float32")
model.fit(
    {"title": titles, "numbers": tables},
    {"urgent": np.random.randint(0, 2, (samples, 1)), "group": np.random.randint(0, 4, (samples,))},
    epochs=4, batch_size=32, verbose=0,
)
