from .common import AUTOTUNE, tf


def _encode(tokenizer):
    def inner(text, label):
        return tokenizer(text), tf.one_hot(label, 2)
    return inner


def to_dataset(tokenizer, texts, labels, *, batch_size):
    ds = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(texts), tf.data.Dataset.from_tensor_slices(labels)))
    return ds.cache().shuffle(len(texts)).batch(batch_size).map(_encode(tokenizer), AUTOTUNE)
