from functools import partial

from .common import K, L, tf


def _wrap(body, vocab, width):
    ids = K.Input((None,), dtype="int64")
    x = L.Embedding(vocab, width, mask_zero=False, name="tokens")(ids)
    return K.Model(ids, L.Dense(2, activation="softmax")(body(x)))


def bag(x):
    return K.ops.mean(x, axis=1)


def recurrent(x, cell=L.GRU, units=4):
    return L.Bidirectional(cell(units))(x)


def convolution(x, widths=(2, 3)):
    pooled = [L.GlobalMaxPooling1D()(L.Conv1D(4, w, padding="same")(x)) for w in widths]
    return L.concatenate(pooled)


class TransformerBlock(L.Layer):
    def __init__(self, heads, width, **kwargs):
        super().__init__(**kwargs)
        self.att = L.MultiHeadAttention(heads, width)
        self.ffn = K.Sequential([L.Dense(width * 2, activation="relu"), L.Dense(width)])
        self.norms = [L.LayerNormalization(epsilon=1e-6) for _ in range(2)]

    def call(self, x):
        first, second = self.norms
        x = first(x + self.att(x, x))
        return second(x + self.ffn(x))


def transformer(x, width):
    return L.GlobalAveragePooling1D()(TransformerBlock(2, width)(x))


BODIES = {
    "bag": bag,
    "gru": recurrent,
    "lstm": partial(recurrent, cell=L.LSTM, units=3),
    "conv": convolution,
}


def make_encoder(name, vocab, width=6):
    if name == "transformer":
        body = lambda x: transformer(x, width)
    else:
        body = BODIES[name]
    return _wrap(body, vocab, width)
