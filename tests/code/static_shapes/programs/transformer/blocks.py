from tensorflow import keras
from tensorflow.keras import layers
import tensorflow as tf

def transformer_block(x, dim, heads):
    attn = layers.MultiHeadAttention(num_heads=heads, key_dim=dim // heads)(x, x)
    x = layers.LayerNormalization(epsilon=1e-6)(x + attn)
    ffn = keras.Sequential([layers.Dense(dim * 4, activation="gelu"), layers.Dense(dim)])
    return layers.LayerNormalization(epsilon=1e-6)(x + ffn(x))

class TokenAndPosition(layers.Layer):
    def __init__(self, maxlen, vocab, dim):
        super().__init__()
        self.token = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(maxlen, dim)
    def call(self, x):
        maxlen = x.shape[-1]
        positions = tf.range(start=0, limit=maxlen, delta=1)
        return self.token(x) + self.pos(positions)

def build(cfg):
    inputs = layers.Input(shape=(cfg.maxlen,))
    x = TokenAndPosition(cfg.maxlen, cfg.vocab, cfg.dim)(inputs)
    for _ in range(2):
        x = transformer_block(x, cfg.dim, cfg.heads)
    x = layers.GlobalAveragePooling1D()(x)
    outputs = layers.Dense(2, activation="softmax")(x)
    return keras.Model(inputs=inputs, outputs=outputs)
