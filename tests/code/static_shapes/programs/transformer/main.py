import numpy as np
import tensorflow as tf
from config import CFG
from blocks import build
rng = np.random.default_rng(0)
x = rng.integers(0, CFG.vocab, size=(64, CFG.maxlen))
y = rng.integers(0, 2, size=64)
x = tf.keras.preprocessing.sequence.pad_sequences(x, maxlen=CFG.maxlen)
model = build(CFG)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=CFG.batch, epochs=2, validation_data=(x[:16], y[:16]), verbose=0)
p = model.predict(x, batch_size=32, verbose=0)
print(tf.nn.softmax(p).shape)
ragged = tf.concat([p, p], axis=0)
print(tf.stack([ragged[:3], ragged[3:6]], axis=1).shape)
