"""A small BERT, or an ALBERT-like model whose blocks share their weights, on synthetic text; sizes by arguments.

    python examples/bert/bert.py --layers 4 --hidden 128 --stage pretrain
    python examples/bert/bert.py --shared --stage finetune
    energy-lsp measure examples/bert/bert.py -- --layers 2 --hidden 64
"""

import argparse

import keras
import numpy as np
from keras import layers, ops


class SelfAttention(layers.Layer):
    """Queries, keys and values of all heads, and what they make of each other."""

    def __init__(self, hidden, heads, **kwargs):
        super().__init__(**kwargs)
        self.heads, self.size = heads, hidden // heads
        self.query = layers.Dense(hidden, name="query")
        self.key = layers.Dense(hidden, name="key")
        self.value = layers.Dense(hidden, name="value")

    def split(self, values):
        shape = ops.shape(values)
        return ops.transpose(ops.reshape(values, (shape[0], shape[1], self.heads, self.size)), (0, 2, 1, 3))

    def call(self, inputs):
        query, key, value = (self.split(part(inputs)) for part in (self.query, self.key, self.value))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / self.size**0.5
        mixed = ops.transpose(ops.matmul(ops.softmax(scores), value), (0, 2, 1, 3))
        return ops.reshape(mixed, ops.shape(inputs))


class Attention(layers.Layer):
    """Self-attention, its projection, and the residual connection around them."""

    def __init__(self, hidden, heads, **kwargs):
        super().__init__(**kwargs)
        self.self_attention = SelfAttention(hidden, heads, name="self")
        self.output_dense = layers.Dense(hidden, name="output")
        self.norm = layers.LayerNormalization(name="norm")

    def call(self, inputs):
        return self.norm(inputs + self.output_dense(self.self_attention(inputs)))


class Transformer(layers.Layer):
    """One block: attention, then two dense layers."""

    def __init__(self, hidden, heads, **kwargs):
        super().__init__(**kwargs)
        self.attention = Attention(hidden, heads, name="attention")
        self.intermediate = layers.Dense(4 * hidden, activation="gelu", name="intermediate")
        self.output_dense = layers.Dense(hidden, name="output")
        self.norm = layers.LayerNormalization(name="norm")

    def call(self, inputs):
        attended = self.attention(inputs)
        return self.norm(attended + self.output_dense(self.intermediate(attended)))


class Encoder(layers.Layer):
    """All blocks; one block again and again where they are shared."""

    def __init__(self, count, hidden, heads, shared, **kwargs):
        super().__init__(**kwargs)
        self.count = count
        self.blocks = [Transformer(hidden, heads, name=f"layer_{i}") for i in range(1 if shared else count)]

    def call(self, inputs):
        for number in range(self.count):
            inputs = self.blocks[number % len(self.blocks)](inputs)
        return inputs


class Embeddings(layers.Layer):
    """Words and places."""

    def __init__(self, vocabulary, length, hidden, **kwargs):
        super().__init__(**kwargs)
        self.words = layers.Embedding(vocabulary, hidden, name="words")
        self.places = layers.Embedding(length, hidden, name="places")
        self.norm = layers.LayerNormalization(name="norm")
        self.length = length

    def call(self, inputs):
        return self.norm(self.words(inputs) + self.places(ops.arange(self.length)))


def build(options, outputs):
    inputs = keras.Input((options.length,), dtype="int32")
    hidden = Embeddings(options.vocabulary, options.length, options.hidden, name="embeddings")(inputs)
    hidden = Encoder(options.layers, options.hidden, options.heads, options.shared, name="encoder")(hidden)
    if options.stage != "pretrain":
        hidden = layers.Dense(options.hidden, activation="tanh", name="pooler")(hidden[:, 0])
    return keras.Model(inputs, layers.Dense(outputs, name="head")(hidden), name="bert")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--vocabulary", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--shared", action="store_true", help="share weights between blocks, as ALBERT does")
    parser.add_argument("--stage", choices=["pretrain", "finetune", "predict"], default="finetune")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    words = rng.integers(0, options.vocabulary, (options.batch * options.steps, options.length)).astype("int32")
    outputs = options.vocabulary if options.stage == "pretrain" else 2
    labels = words if options.stage == "pretrain" else rng.integers(0, 2, len(words))
    model = build(options, outputs)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    if options.stage == "predict":
        model.predict(words, batch_size=options.batch, verbose=0)
    else:
        model.fit(words, labels, batch_size=options.batch, verbose=0)
    print(f"{model.count_params()} weights")


if __name__ == "__main__":
    main()
