"""Ragged, sparse and string tensors, vocabularies, n-grams and a bag-of-words classifier."""
import re
import string
from collections import Counter
from typing import Iterable, List, Sequence

import tensorflow as tf
from tensorflow.keras.layers import TextVectorization

reviews: List[str] = [
    "A wonderful little production. <br />The filming technique is unassuming.",
    "Basically there's a family where a little boy thinks there's a zombie in his closet.",
    "Petter Mattei's love is visually stunning!",
    "This show was an amazing, fresh & innovative idea.",
    "Encouraged by the positive comments, I regret it.",
    "If you like original gut wrenching laughter you will like this movie.",
]
sentiments = [1, 0, 1, 1, 0, 1]


@tf.keras.utils.register_keras_serializable()
def custom_standardization(input_data):
    lowercase = tf.strings.lower(input_data)
    stripped_html = tf.strings.regex_replace(lowercase, '<br />', ' ')
    return tf.strings.regex_replace(stripped_html, '[%s]' % re.escape(string.punctuation), '')


max_features, sequence_length = 60, 12
vectorize_layer = TextVectorization(standardize=custom_standardization, max_tokens=max_features,
                                    output_mode='int', output_sequence_length=sequence_length)
raw_train_ds = tf.data.Dataset.from_tensor_slices((reviews, sentiments)).batch(2)
train_text = raw_train_ds.map(lambda x, y: x)
vectorize_layer.adapt(train_text)


def vectorize_text(text, label):
    text = tf.expand_dims(text, -1)
    return vectorize_layer(text), label


text_batch, label_batch = next(iter(raw_train_ds))
first_review, first_label = text_batch[0], label_batch[0]
print("Vectorized review", vectorize_text(first_review, first_label))
print("3 ---> ", vectorize_layer.get_vocabulary()[3])
print('Vocabulary size: {}'.format(len(vectorize_layer.get_vocabulary())))
train_ds = raw_train_ds.map(vectorize_text).cache().prefetch(buffer_size=tf.data.AUTOTUNE)

model = tf.keras.Sequential([
    tf.keras.layers.Embedding(max_features, 8),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.Dense(1, activation='sigmoid')])
model.compile(loss=tf.keras.losses.BinaryCrossentropy(), optimizer='adam',
              metrics=[tf.metrics.BinaryAccuracy(threshold=0.5)])
history = model.fit(train_ds, epochs=1)
export_model = tf.keras.Sequential([vectorize_layer, model])
export_model.compile(loss=tf.keras.losses.BinaryCrossentropy(from_logits=False), optimizer="adam",
                     metrics=['accuracy'])
metrics = export_model.evaluate(raw_train_ds, return_dict=True)
print(metrics, export_model.predict(tf.constant(["The movie was great!"])))

# --- ragged -----------------------------------------------------------------------------------
tokens = tf.strings.split(tf.strings.lower(reviews))
print(tokens.row_lengths(), tokens.bounding_shape(), tokens.ragged_rank)
bigrams = tf.strings.ngrams(tokens, ngram_width=2, separator='_')
print(bigrams[0][:2], bigrams.to_list()[1][:1])
chars = tf.strings.unicode_split(reviews[2], 'UTF-8')
codes = tf.strings.unicode_decode(reviews, input_encoding='UTF-8')
print(len(chars), codes.merge_dims(0, 1).shape, codes.to_tensor(default_value=0).shape)
ragged = tf.ragged.constant([[3, 1], [], [4, 1, 5]])
rows = tf.RaggedTensor.from_row_splits(values=[1, 2, 3, 4], row_splits=[0, 1, 1, 4])
print(tf.reduce_mean(tf.cast(ragged, tf.float32), axis=1), rows.nrows(), tf.concat([ragged, rows], axis=0).shape)
doubled = tf.ragged.map_flat_values(lambda v: v * 2, ragged)
stacked = tf.ragged.stack([ragged, doubled])
print(doubled.flat_values.numpy().sum(), stacked.shape, ragged.with_values(tf.range(5)).value_rowids().numpy())
ids = tf.ragged.range([2, 3])
sparse = ids.to_sparse()
print(tf.sparse.to_dense(sparse, default_value=-1).numpy().tolist())

# --- sparse -----------------------------------------------------------------------------------
st = tf.sparse.SparseTensor(indices=[[0, 1], [1, 0], [2, 2]], values=[1.0, 2.0, 3.0], dense_shape=[3, 3])
dense = tf.eye(3)
st2 = tf.SparseTensor([[0, 0]], [5.0], [3, 3])
print(tf.sparse.sparse_dense_matmul(st, dense).numpy().trace(), tf.sparse.add(st, st2).values.numpy())
print(tf.sparse.reduce_sum(st).numpy(), tf.sparse.reorder(st).get_shape(), tf.sparse.from_dense(dense).indices.shape)


# --- vocabulary by hand -----------------------------------------------------------------------
class Vocabulary:
    def __init__(self, texts: Iterable[str], size: int = 30):
        counts = Counter(word for text in texts for word in re.findall(r'\w+', text.lower()))
        self.words = [word for word, _ in counts.most_common(size)]
        init = tf.lookup.KeyValueTensorInitializer(self.words, tf.range(len(self.words), dtype=tf.int64))
        self.table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=2)
        self.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=0)

    def __len__(self):
        return int(self.table.size())

    def encode(self, words: Sequence[str]) -> tf.Tensor:
        return self.table.lookup(tf.constant(words))

    def count(self, words):
        for word in words:
            self.counts.insert([word], self.counts.lookup([word]) + 1)
        keys, values = self.counts.export()
        return {k.decode(): v for k, v in zip(keys.numpy(), values.numpy())}


vocabulary = Vocabulary(reviews)
print(len(vocabulary), vocabulary.encode(['a', 'zebra']).numpy(), vocabulary.count(['a', 'a', 'b']))
hot = tf.one_hot(vocabulary.encode(['a', 'little']), depth=len(vocabulary))
print(tf.reduce_sum(hot, 0).shape, tf.strings.to_hash_bucket_fast(['x'], 5).numpy(), tf.strings.length('abc').numpy())
unique, index, count = tf.unique_with_counts(tf.constant([1, 1, 2]))
print(unique.numpy(), tf.math.segment_sum(tf.constant([1, 2, 3]), [0, 0, 1]).numpy(), tf.gather(count, index).numpy())
