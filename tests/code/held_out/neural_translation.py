# -*- coding: utf-8 -*-
"""Transformer for toy translation, after the official tutorial, with text vectorisation and a custom schedule."""
import time

import numpy as np
import tensorflow as tf

MAX_TOKENS = 12
BUFFER_SIZE = 64
BATCH_SIZE = 4

pairs = [("uno dos tres", "one two three"), ("cuatro cinco", "four five"), ("seis siete ocho", "six seven eight"),
         ("nueve diez", "nine ten"), ("once doce", "eleven twelve"), ("trece catorce", "thirteen fourteen"),
         ("quince uno", "fifteen one"), ("dos tres", "two three")]
raw_ds = tf.data.Dataset.from_tensor_slices(([p[0] for p in pairs], [p[1] for p in pairs]))


def standardize(text):
    text = tf.strings.lower(text)
    text = tf.strings.regex_replace(text, "[^ a-z]", "")
    text = tf.strings.strip(text)
    return tf.strings.join(["[START]", text, "[END]"], separator=" ")


context_vec = tf.keras.layers.TextVectorization(standardize=standardize, max_tokens=50, output_sequence_length=MAX_TOKENS)
context_vec.adapt(raw_ds.map(lambda ctx, tgt: ctx))
target_vec = tf.keras.layers.TextVectorization(standardize=standardize, max_tokens=50, output_sequence_length=MAX_TOKENS + 1)
target_vec.adapt(raw_ds.map(lambda ctx, tgt: tgt))
print(context_vec.get_vocabulary()[:5], target_vec.vocabulary_size())


def prepare_batch(src, tgt):
    src = context_vec(src)
    tgt = target_vec(tgt)
    return (src, tgt[:, :-1]), tgt[:, 1:]


def make_batches(ds):
    return (
        ds
        .shuffle(BUFFER_SIZE)
        .batch(BATCH_SIZE)
        .map(prepare_batch, tf.data.AUTOTUNE)
        .prefetch(buffer_size=tf.data.AUTOTUNE))


train_batches = make_batches(raw_ds)


def positional_encoding(length, depth):
    depth = depth / 2
    positions = np.arange(length)[:, np.newaxis]
    depths = np.arange(depth)[np.newaxis, :] / depth
    angle_rates = 1 / (10000 ** depths)
    angle_rads = positions * angle_rates
    pos_encoding = np.concatenate([np.sin(angle_rads), np.cos(angle_rads)], axis=-1)
    return tf.cast(pos_encoding, dtype=tf.float32)


class PositionalEmbedding(tf.keras.layers.Layer):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.d_model = d_model
        self.embedding = tf.keras.layers.Embedding(vocab_size, d_model, mask_zero=True)
        self.pos_encoding = positional_encoding(length=64, depth=d_model)

    def compute_mask(self, *args, **kwargs):
        return self.embedding.compute_mask(*args, **kwargs)

    def call(self, x):
        length = tf.shape(x)[1]
        x = self.embedding(x)
        x *= tf.math.sqrt(tf.cast(self.d_model, tf.float32))
        return x + self.pos_encoding[tf.newaxis, :length, :]


class BaseAttention(tf.keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__()
        self.mha = tf.keras.layers.MultiHeadAttention(**kwargs)
        self.layernorm = tf.keras.layers.LayerNormalization()
        self.add = tf.keras.layers.Add()


class CrossAttention(BaseAttention):
    def call(self, x, context):
        attn_output, attn_scores = self.mha(query=x, key=context, value=context, return_attention_scores=True)
        self.last_attn_scores = attn_scores
        x = self.add([x, attn_output])
        return self.layernorm(x)


class GlobalSelfAttention(BaseAttention):
    def call(self, x):
        attn_output = self.mha(query=x, value=x, key=x)
        return self.layernorm(self.add([x, attn_output]))


class CausalSelfAttention(BaseAttention):
    def call(self, x):
        attn_output = self.mha(query=x, value=x, key=x, use_causal_mask=True)
        return self.layernorm(self.add([x, attn_output]))


class FeedForward(tf.keras.layers.Layer):
    def __init__(self, d_model, dff, dropout_rate=0.1):
        super().__init__()
        self.seq = tf.keras.Sequential([
            tf.keras.layers.Dense(dff, activation="relu"),
            tf.keras.layers.Dense(d_model),
            tf.keras.layers.Dropout(dropout_rate)])
        self.add = tf.keras.layers.Add()
        self.layer_norm = tf.keras.layers.LayerNormalization()

    def call(self, x):
        return self.layer_norm(self.add([x, self.seq(x)]))


class Transformer(tf.keras.Model):
    def __init__(self, *, num_layers, d_model, num_heads, dff, sizes):
        super().__init__()
        in_size, out_size = sizes
        self.enc_emb, self.dec_emb = (PositionalEmbedding(n, d_model) for n in (in_size, out_size))
        self.enc = [(GlobalSelfAttention(num_heads=num_heads, key_dim=d_model), FeedForward(d_model, dff)) for _ in range(num_layers)]
        self.dec = [(CausalSelfAttention(num_heads=num_heads, key_dim=d_model),
                     CrossAttention(num_heads=num_heads, key_dim=d_model), FeedForward(d_model, dff)) for _ in range(num_layers)]
        self.final_layer = tf.keras.layers.Dense(out_size)

    def call(self, inputs):
        context, x = inputs
        context = self.enc_emb(context)
        for attend, ffn in self.enc:
            context = ffn(attend(context))
        x = self.dec_emb(x)
        for causal, cross, ffn in self.dec:
            x = ffn(cross(causal(x), context=context))
        return self.final_layer(x)


class CustomSchedule(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup_steps=4000):
        super().__init__()
        self.d_model = tf.cast(d_model, tf.float32)
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, dtype=tf.float32)
        arg1 = tf.math.rsqrt(step)
        arg2 = step * (self.warmup_steps ** -1.5)
        return tf.math.rsqrt(self.d_model) * tf.math.minimum(arg1, arg2)


learning_rate = CustomSchedule(16)
print(learning_rate(tf.range(1, 5, dtype=tf.float32)).numpy())
optimizer = tf.keras.optimizers.Adam(learning_rate, beta_1=0.9, beta_2=0.98, epsilon=1e-9)


def masked_loss(label, pred):
    mask = label != 0
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    loss = loss_object(label, pred)
    mask = tf.cast(mask, dtype=loss.dtype)
    loss *= mask
    return tf.reduce_sum(loss) / tf.reduce_sum(mask)


def masked_accuracy(label, pred):
    pred = tf.argmax(pred, axis=2)
    label = tf.cast(label, pred.dtype)
    match = label == pred
    mask = label != 0
    match = match & mask
    match = tf.cast(match, dtype=tf.float32)
    mask = tf.cast(mask, dtype=tf.float32)
    return tf.reduce_sum(match) / tf.reduce_sum(mask)


transformer = Transformer(num_layers=1, d_model=16, num_heads=2, dff=32,
                          sizes=(context_vec.vocabulary_size(), target_vec.vocabulary_size()))
for (ctx, tgt), labels in train_batches.take(1):
    print(transformer((ctx, tgt)).shape, labels.numpy().shape)
transformer.summary()
transformer.compile(loss=masked_loss, optimizer=optimizer, metrics=[masked_accuracy])
start = time.time()
history = transformer.fit(train_batches, epochs=1, verbose=0)
print(history.history.keys(), time.time() - start)


class Translator(tf.Module):
    def __init__(self, transformer, vocab):
        self.transformer = transformer
        self.lookup = tf.keras.layers.StringLookup(vocabulary=vocab, mask_token="", oov_token="[UNK]", invert=True)

    def __call__(self, sentence, max_length=3):
        assert isinstance(sentence, tf.Tensor)
        if len(sentence.shape) == 0:
            sentence = sentence[tf.newaxis]
        encoder_input = context_vec(sentence)
        ids = target_vec([""])[0]
        output_array = tf.TensorArray(dtype=tf.int64, size=0, dynamic_size=True)
        output_array = output_array.write(0, ids[:1])
        for i in tf.range(max_length):
            output = tf.transpose(output_array.stack())
            predictions = self.transformer([encoder_input, output], training=False)
            predictions = predictions[:, -1:, :]
            predicted_id = tf.argmax(predictions, axis=-1)
            output_array = output_array.write(i + 1, predicted_id[0])
        output = tf.transpose(output_array.stack())
        return tf.strings.reduce_join(self.lookup(output)[0], separator=" ")


translator = Translator(transformer, target_vec.get_vocabulary()[2:])
text = translator(tf.constant("uno dos"))
print(f"{'Prediction':15s}: {text.numpy().decode('utf-8')}")
