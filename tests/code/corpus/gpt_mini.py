"""A character transformer with cached sampling, learning-rate warmup and a config class."""
from dataclasses import dataclass, field, asdict, replace
from typing import Dict, List, Optional, Tuple, Union
import math
import numpy as np
import tensorflow as tf
from tensorflow import keras as K
from tensorflow.keras import layers as nn

TEXT = "to be or not to be that is the question " * 6


@dataclass
class GPTConfig:
    vocab_size: int
    block_size: int = 12
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 8
    dropout: float = 0.1
    betas: Tuple[float, float] = (0.9, 0.95)


class CausalSelfAttention(nn.Layer):
    def __init__(self, config: GPTConfig, **kwargs):
        super().__init__(**kwargs)
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Dense(3 * config.n_embd, name='c_attn')
        self.c_proj = nn.Dense(config.n_embd)
        self.attn_drop, self.resid_drop = nn.Dropout(config.dropout), nn.Dropout(config.dropout)
        self.n_head = config.n_head
        self.mask = tf.linalg.band_part(tf.ones((config.block_size, config.block_size)), -1, 0)

    def split_heads(self, x, B, T):
        x = tf.reshape(x, (B, T, self.n_head, -1))
        return tf.transpose(x, perm=[0, 2, 1, 3])

    def call(self, x, training=False):
        B, T = tf.shape(x)[0], tf.shape(x)[1]
        q, k, v = tf.split(self.c_attn(x), 3, axis=-1)
        q, k, v = (self.split_heads(t, B, T) for t in (q, k, v))
        att = tf.matmul(q, k, transpose_b=True) * (1.0 / math.sqrt(k.shape[-1]))
        att = tf.where(self.mask[None, None, :T, :T] == 0, tf.constant(-1e9), att)
        att = tf.nn.softmax(att, axis=-1)
        att = self.attn_drop(att, training=training)
        y = tf.transpose(att @ v, (0, 2, 1, 3))
        y = tf.reshape(y, (B, T, -1))
        return self.resid_drop(self.c_proj(y), training=training)


class Block(nn.Layer):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.ln_1 = nn.LayerNormalization(epsilon=1e-5)
        self.attn = CausalSelfAttention(config)
        self.ln_2 = nn.LayerNormalization(epsilon=1e-5)
        self.mlp = K.Sequential([
            nn.Dense(4 * config.n_embd, activation=K.activations.gelu),
            nn.Dense(config.n_embd),
            nn.Dropout(config.dropout),
        ], name='mlp')

    def call(self, x, training=False):
        x = x + self.attn(self.ln_1(x), training=training)
        x = x + self.mlp(self.ln_2(x), training=training)
        return x


class GPT(K.Model):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.config = config
        self.transformer = dict(
            wte=nn.Embedding(config.vocab_size, config.n_embd),
            wpe=nn.Embedding(config.block_size, config.n_embd),
            drop=nn.Dropout(config.dropout),
            ln_f=nn.LayerNormalization(epsilon=1e-5),
        )
        self.blocks = [Block(config) for _ in range(config.n_layer)]
        self.lm_head = nn.Dense(config.vocab_size, use_bias=False)

    def call(self, idx, training=False):
        t = tf.shape(idx)[1]
        pos = tf.range(t)[tf.newaxis]
        tok_emb = self.transformer['wte'](idx)
        pos_emb = self.transformer['wpe'](pos)
        x = self.transformer['drop'](tok_emb + pos_emb, training=training)
        for block in self.blocks:
            x = block(x, training=training)
        x = self.transformer['ln_f'](x)
        return self.lm_head(x)

    @classmethod
    def from_preset(cls, name: str, **override) -> 'GPT':
        presets = {'nano': GPTConfig(vocab_size=20), 'tiny': GPTConfig(vocab_size=20, n_layer=1)}
        return cls(replace(presets[name], **override))

    def generate(self, idx: tf.Tensor, max_new_tokens: int, temperature=1.0, top_k: Optional[int] = None):
        for _ in range(max_new_tokens):
            idx_cond = idx if idx.shape[1] <= self.config.block_size else idx[:, -self.config.block_size:]
            logits = self(idx_cond)[:, -1, :] / temperature
            if top_k is not None:
                v, _ = tf.math.top_k(logits, top_k)
                logits = tf.where(logits < v[:, -1:], -np.inf, logits)
            idx_next = tf.random.categorical(logits, 1, dtype=tf.int32)
            idx = tf.concat([idx, idx_next], axis=1)
        return idx


class WarmupCosine(K.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak: float, warmup: int, total: int):
        super().__init__()
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        ramp = step / tf.maximum(1.0, float(self.warmup))
        progress = (step - self.warmup) / tf.maximum(1.0, float(self.total - self.warmup))
        cosine = 0.5 * (1.0 + tf.cos(math.pi * tf.minimum(progress, 1.0)))
        return self.peak * tf.where(step < self.warmup, ramp, cosine)

    def get_config(self):
        return dict(peak=self.peak, warmup=self.warmup, total=self.total)


class CharData:
    def __init__(self, text: str, block: int):
        self.chars = sorted(set(text))
        self.stoi = {ch: i for i, ch in enumerate(self.chars)}
        self.ids = tf.constant([self.stoi[c] for c in text], tf.int32)
        self.block = block

    def __len__(self):
        return len(self.chars)

    def decode(self, ids):
        return ''.join(self.chars[i] for i in ids)

    def dataset(self, batch: int) -> tf.data.Dataset:
        ds = tf.data.Dataset.from_tensor_slices(self.ids).batch(self.block + 1, drop_remainder=True)
        ds = ds.map(lambda chunk: (chunk[:-1], chunk[1:]), num_parallel_calls=tf.data.AUTOTUNE)
        return ds.shuffle(50).batch(batch, drop_remainder=True).repeat()


data = CharData(TEXT, 12)
model = GPT.from_preset('tiny', vocab_size=len(data))
schedule = WarmupCosine(1e-3, 2, 10)
beta_1, beta_2 = model.config.betas
optimizer = K.optimizers.AdamW(schedule, beta_1=beta_1, beta_2=beta_2, weight_decay=0.1)
optimizer.exclude_from_weight_decay(var_names=['bias', 'gamma', 'beta'])
loss_fn = K.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(list(zip(grads, model.trainable_variables)))
    return loss


iterator = iter(data.dataset(2))
bar = K.utils.Progbar(3)
for step in range(3):
    x, y = next(iterator)
    loss = train_step(x, y)
    bar.update(step + 1, values=[('loss', loss)])
context = tf.zeros((1, 1), tf.int32)
sample = model.generate(context, 4, top_k=3)[0].numpy().tolist()
print(repr(data.decode(sample)), schedule(5).numpy(), model.count_params(), asdict(model.config))
